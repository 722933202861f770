//! A client as a service: answers requests by forwarding them to its server.
//!
//! A server can mount it, and a proxy can serve it. The caller may speak another revision than the
//! upstream server: each request and each result is decoded and encoded again for the other side.

mod headers;
mod lasting;
mod listen;
mod log;
mod refusal;
mod visit;

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{HostsTasks, Parts, Request, Response, ResultBody, Success};
use bowline_proto::upstream::{IntoUpstream, Upstream};
use bowline_types::cache::CacheHint;
use bowline_types::capability::ServerCapabilities;
use bowline_types::completion::Complete;
use bowline_types::discover::DiscoverResult;
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks;
use bowline_types::implementation::Implementation;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::prompt::{GetPrompt, ListPrompts};
use bowline_types::resource::{ListResourceTemplates, ListResources, ReadResource};
use bowline_types::revision::Revision;
use bowline_types::rpc::Rpc;
use bowline_types::tool::{
    CallToolParams, ListTools, ListToolsResult, TaskSupport, ToolDefinition, ToolExecution,
};
use futures_core::future::BoxFuture;
use serde::de::DeserializeOwned;
use tower_service::Service;

use self::listen::ListeningSessions;
pub use self::refusal::RelayFailure;
use self::refusal::{not_offered, read};
use crate::call::ClientCall;
use crate::caller::{self, Caller, CallerSessions};
use crate::client::Client;
use crate::request;

impl Client {
    /// This client as a service that forwards requests to the server. A server can mount it, a
    /// transport can drive it.
    ///
    /// Progress is passed on, and dropping a call cancels it. The hooks of this client answer the
    /// server's questions and get its log messages, unless the client
    /// [passes them on](crate::ClientBuilder::passing_on) too.
    pub fn relay(&self) -> Relay {
        Relay { client: self.clone(), sessions: Arc::default() }
    }
}

/// A client as a service; see [`Client::relay`]. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Relay {
    client: Client,
    sessions: Arc<ListeningSessions>,
}

impl Relay {
    /// Says that this relay serves one session and no other caller. The session then gets the
    /// questions that belong to no call, and the server hears when the roots of the session change.
    pub fn for_one_session(self) -> Self {
        self.callers().serve_one();
        self
    }

    /// Calls a function whenever the upstream server asks a question of a caller, before the question
    /// is passed on or refused. Only one function can be set for a client.
    pub fn on_question(&self, hook: impl Fn() + Send + Sync + 'static) {
        self.callers().on_question(hook);
    }
}

impl IntoUpstream for Client {
    type Upstream = Relay;
    type Error = Infallible;

    fn into_upstream(self) -> Result<Relay, Infallible> {
        Ok(self.relay())
    }
}

impl Upstream for Relay {
    /// The capabilities of the upstream server, without what is not passed on: tasks, extensions other
    /// than views, which are unknown here, and log messages unless the client passes them on.
    fn capabilities(&self) -> ServerCapabilities {
        let mut capabilities = self.client.capabilities().clone();
        capabilities.logging = capabilities.logging.filter(|_| self.passes_on());
        capabilities.tasks = None;
        capabilities.experimental.clear();
        capabilities.extensions = caller::views_of(&capabilities.extensions);
        capabilities
    }

    fn instructions(&self) -> Option<String> {
        self.client.instructions().map(str::to_owned)
    }

    fn info(&self) -> Option<Implementation> {
        self.client.server_info().cloned()
    }
}

impl Service<Request> for Relay {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let relay = self.clone();
        Box::pin(async move { Ok(relay.answer(request).await) })
    }
}

impl Relay {
    async fn answer(&self, request: Request) -> Response {
        match request.parts.method {
            Method::ToolsCall => self.call_tool(request).await,
            Method::ToolsList => self.list_tools(request).await,
            Method::PromptsList => self.pass::<ListPrompts>(request).await,
            Method::PromptsGet => self.pass::<GetPrompt>(request).await,
            Method::ResourcesList => self.pass::<ListResources>(request).await,
            Method::ResourcesTemplatesList => self.pass::<ListResourceTemplates>(request).await,
            Method::ResourcesRead => self.pass::<ReadResource>(request).await,
            Method::CompletionComplete => self.pass::<Complete>(request).await,
            Method::SubscriptionsListen => self.listen(request).await,
            Method::ResourcesSubscribe => self.follow(request).await,
            Method::ResourcesUnsubscribe => self.unfollow(&request),
            Method::ServerDiscover => self.discover(request.parts.revision),
            Method::RootsListChanged => {
                self.notify_roots_changed();
                Ok(Success::empty())
            }
            method => Err(not_offered(method)),
        }
    }

    fn discover(&self, revision: Revision) -> Response {
        let mut result = DiscoverResult::new(Revision::ALL, self.capabilities());
        result.instructions = self.instructions();
        Success::complete(result, revision)
    }

    async fn call_tool(&self, request: Request) -> Response {
        let CallToolParams { name, arguments, .. } = read(&request)?;
        self.demand_task(&name, &request.parts)?;
        let headers = self.passed_headers(&name, &request).await?;
        let arguments = arguments.unwrap_or_default();
        let call = || {
            let call = self.client.call(name.clone(), &arguments);
            call.change(|request| request.headers.extend_from_slice(&headers))
        };
        match self.forward_visiting(call, &request.parts).await {
            Ok(outcome) => Success::complete(outcome.into_message(), request.parts.revision),
            Err(error) => refusal::tool_response(&error, &request),
        }
    }

    /// Passes on the list of tools, and remembers the tools for later calls. A caller that shows no
    /// views does not get the tools that only views call: a server with a handshake hears once for all
    /// callers that there are views.
    async fn list_tools(&self, request: Request) -> Response {
        let shows_views = request.parts.shows_views();
        let may_become_tasks = self.may_become_tasks(&request.parts);
        let note = |result: &mut ListToolsResult| {
            self.client.application.note(&mut result.tools);
            result.tools.retain(|tool| shows_views || tool.is_for_model());
            if may_become_tasks {
                result.tools.iter_mut().for_each(allow_tasks);
            }
        };
        self.pass_changed::<ListTools>(request, note).await
    }

    /// Whether a caller may ask for a task, and each tool of the upstream server may become one: a
    /// modern server that declares tasks decides it for each call.
    fn may_become_tasks(&self, parts: &Parts) -> bool {
        let declares = self.client.capabilities().supports_extension(tasks::IDENTIFIER);
        declares && parts.extensions.get::<HostsTasks>().is_some()
    }

    /// Refuses a call that the upstream server runs only as a task, if the caller can have one.
    fn demand_task(&self, tool: &str, parts: &Parts) -> Result<(), ErrorObject> {
        let Some(host) = parts.extensions.get::<HostsTasks>() else { return Ok(()) };
        let known = self.client.application.listed(tool);
        let is_required = known.is_some_and(|it| it.task_support() == TaskSupport::Required);
        if is_required && self.client.revision().has_core_tasks() {
            host.demand();
            return Err(ErrorObject::internal(format!("the tool `{tool}` runs only as a task")));
        }
        Ok(())
    }

    async fn pass<R>(&self, request: Request) -> Response
    where
        R: Rpc<Params: DeserializeOwned, Result: ResultBody + DeserializeOwned + Send + 'static>,
    {
        self.pass_changed::<R>(request, |_| {}).await
    }

    async fn pass_changed<R>(
        &self,
        request: Request,
        change: impl FnOnce(&mut R::Result),
    ) -> Response
    where
        R: Rpc<Params: DeserializeOwned, Result: ResultBody + DeserializeOwned + Send + 'static>,
    {
        let params: R::Params = read(&request)?;
        let subject = R::METHOD.name().to_owned();
        let read = |subject: String, result: &RawJson| {
            Ok((
                request::read::<R::Result>(&subject, result)?,
                request::read::<CacheHint>(&subject, result)?,
            ))
        };
        let call = || {
            let asked = self.client.request::<R>(&params);
            ClientCall::new(self.client.link.clone(), subject.clone(), Ok(asked), read)
        };
        let (mut result, hint) = match self.forward_visiting(call, &request.parts).await {
            Ok(answer) => answer,
            Err(error) => return refusal::response(&error, &request),
        };
        change(&mut result);
        Ok(Success::complete(result, request.parts.revision)?.with_cache(hint))
    }

    /// Makes a call with the caller's `_meta` and on its behalf.
    async fn forward<T>(
        &self,
        mut call: ClientCall<'static, T>,
        parts: &Parts,
    ) -> crate::Result<T> {
        for (key, value) in parts.meta.iter() {
            let Ok(value) = RawJson::from_text(value) else { continue };
            // Fails for keys of the protocol and invalid keys, which are not passed on.
            call = call.change(|request| _ = request.meta.set(key, &value));
        }
        if let Some(level) = parts.log_level {
            self.want_level(level).await;
        }
        let does = (self.passes_on(), self.client.application.waits_for_tasks());
        call.on_behalf(Caller::of(parts, does, self.callers())).await
    }

    /// Whether questions and log messages go to callers.
    fn passes_on(&self) -> bool {
        self.client.application.passes_on()
    }

    fn callers(&self) -> &Arc<CallerSessions> {
        self.client.application.callers()
    }

    /// Notifies the upstream server that the roots of the only session changed. A relay for several
    /// declares no roots to a server with a handshake, and a server without one asks each time.
    fn notify_roots_changed(&self) {
        let is_heard = Method::RootsListChanged.is_from_client(self.client.revision());
        if self.passes_on() && self.callers().is_for_one() && is_heard {
            self.client.link.notify(Method::RootsListChanged, Object::default());
        }
    }
}

/// Says that a call may run as a task, unless the tool says something else.
fn allow_tasks(tool: &mut ToolDefinition) {
    let mut execution = ToolExecution::default();
    execution.task_support = Some(TaskSupport::Optional);
    tool.execution.get_or_insert(execution);
}
