//! Calls that run as tasks of the bridge.
//!
//! A caller of 2025-11-25 asks for a task in its call, whatever the server behind makes of it. A caller
//! of 2026-07-28 that declares tasks gets one for a tool that runs only as a task. The bridge has the
//! task: its id, its state and its questions are those of any server with tasks, bound to the
//! owner of the call. The call itself goes to the server behind as one that is awaited; if that
//! server makes a task of it, the relay polls it. So every pair of revisions has the same tasks, and
//! a call that a modern server answers at once becomes a finished task.

use std::sync::Arc;

use bowline_proto::members::Members;
use bowline_proto::request::{AnsweredWithin, HostsTasks, Parts, Request, Response, Success};
use bowline_proto::upstream::Upstream;
use bowline_server::extract::FromCall;
use bowline_server::layer::Next;
use bowline_server::{Call, Error, TaskSupport, Tool};
use bowline_types::discover::DiscoverResult;
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks;
use bowline_types::json::Object;
use bowline_types::legacy::task::{TaskMetadata, TasksCapability};
use bowline_types::method::Method;
use bowline_types::tool::CallToolResult;
use futures_core::future::BoxFuture;

/// The tool that runs the calls. No list shows it, and no caller can name it: calls of its name that
/// come from a caller go to the upstream.
const HOST: &str = "hosted-call";

/// The tool that the server of a bridge needs for tasks.
pub(crate) fn host() -> Tool {
    Tool::new(HOST, run).task(TaskSupport::Optional)
}

/// Passes a request to an upstream, or runs it as a task.
pub(crate) async fn serve<U: Upstream>(
    mut upstream: U,
    mut request: Request,
    next: Next,
) -> Response {
    if !may_have_tasks(&request.parts) {
        return pass(&mut upstream, request).await;
    }
    match request.parts.method {
        Method::TasksGet | Method::TasksResult | Method::TasksCancel | Method::TasksUpdate => {
            next.run(request).await
        }
        Method::ToolsCall if request.parts.revision.has_core_tasks() => {
            match request.params.parse::<TaskMetadata>("task") {
                Ok(Some(_)) => next.run(hosted(upstream, request)).await,
                Ok(None) => pass(&mut upstream, request).await,
                Err(error) => Err(ErrorObject::misread_params(error)),
            }
        }
        Method::ToolsCall => call_modern(upstream, request, next).await,
        Method::ToolsList => {
            request.parts.extensions.insert(HostsTasks::default());
            pass(&mut upstream, request).await
        }
        Method::ServerDiscover => describe(upstream, request).await,
        _ => pass(&mut upstream, request).await,
    }
}

/// Whether the caller may get a task: in 2025-11-25 it asks for one, later it declares that it can.
fn may_have_tasks(parts: &Parts) -> bool {
    let declares = || parts.client.capabilities.supports_extension(tasks::IDENTIFIER);
    let is_declarable = Method::TasksUpdate.is_extension(parts.revision);
    let describes = parts.method == Method::ServerDiscover;
    parts.revision.has_core_tasks() || (is_declarable && (describes || declares()))
}

/// A modern caller gets a task only if the server behind runs the tool in no other way.
async fn call_modern<U: Upstream>(mut upstream: U, request: Request, next: Next) -> Response {
    let host = HostsTasks::default();
    let mut call = request.clone();
    call.parts.extensions.insert(host.clone());
    let outcome = pass(&mut upstream, call).await;
    match outcome {
        Err(_) if host.is_demanded() => next.run(hosted(upstream, request)).await,
        outcome => outcome,
    }
}

/// Adds tasks to what the upstream offers.
async fn describe<U: Upstream>(mut upstream: U, request: Request) -> Response {
    let revision = request.parts.revision;
    let described = pass(&mut upstream, request).await?;
    let result: Result<DiscoverResult, _> = described.body().parse();
    let Ok(mut result) = result else { return Ok(described) };
    result.meta = described.meta().clone();
    let capabilities = &mut result.capabilities;
    if capabilities.supports_tools() && revision.has_core_tasks() {
        let offered = TasksCapability::new().with_cancel().with_request(Method::ToolsCall);
        capabilities.tasks = Some(offered);
    } else if capabilities.supports_tools() {
        // The identifier has the form that is demanded.
        _ = capabilities.extensions.insert(tasks::IDENTIFIER, Object::default());
    }
    Ok(Success::complete(result, revision)?.with_cache(described.cache()))
}

async fn pass<U: Upstream>(upstream: &mut U, request: Request) -> Response {
    let Ok(response) = upstream.call(request).await;
    response
}

/// A call of the tool that runs calls. It carries the call of the caller.
fn hosted<U: Upstream>(upstream: U, mut request: Request) -> Request {
    let call = request.params.with("task", &());
    let pass = move |request: Request| -> BoxFuture<'static, Response> {
        let mut upstream = upstream.clone();
        Box::pin(async move { pass(&mut upstream, request).await })
    };
    let carried = CarriedCall { params: call, pass: Arc::new(pass) };
    request.parts.extensions.insert(carried);
    request.params = request.params.with("name", HOST).with("arguments", &EmptyArguments {});
    request
}

#[derive(serde::Serialize)]
struct EmptyArguments {}

/// The call of the caller, within that of the tool.
#[derive(Clone)]
struct CarriedCall {
    params: Members,
    pass: Arc<dyn Fn(Request) -> BoxFuture<'static, Response> + Send + Sync>,
}

/// What the tool takes from its own call.
struct HostedCall {
    parts: Parts,
    carried: CarriedCall,
}

impl FromCall for HostedCall {
    async fn from_call(call: &Call) -> Result<Self, Error> {
        let carried = call.extension::<CarriedCall>();
        let carried = carried.ok_or_else(|| Error::refusal(ErrorObject::internal("no call")))?;
        Ok(Self { parts: call.parts().clone(), carried: carried.clone() })
    }
}

/// Passes the call on. Its messages go to the task.
async fn run(HostedCall { mut parts, carried }: HostedCall) -> Result<CallToolResult, Error> {
    parts.extensions.insert(AnsweredWithin);
    let response = (carried.pass)(Request { parts, params: carried.params }).await;
    let success = response.map_err(Error::refusal)?;
    let mut result: CallToolResult = success.body().parse().map_err(|_| {
        Error::refusal(ErrorObject::internal("the result of the server cannot be passed on"))
    })?;
    result.meta = success.meta().clone();
    Ok(result)
}
