//! Lists and calls tools.

use std::sync::Arc;

use bowline_proto::client::CallRequest;
use bowline_types::error::code;
use bowline_types::json::{Object, RawJson};
use bowline_types::legacy::task::TaskMetadata;
use bowline_types::method::Method;
use bowline_types::tool::{CallTool, CallToolParams, ListTools, TaskSupport, ToolDefinition};
use futures_core::future::BoxFuture;
use serde::Serialize;

use crate::call::ClientCall;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::list::List;
use crate::request;
use crate::tool_outcome::ToolOutcome;

impl Client {
    /// Calls a tool when awaited.
    ///
    /// A call that the server continues as a task is awaited to the end of the task. To do something
    /// else meanwhile, see [`ClientCall::task`].
    ///
    /// The arguments are anything that serializes to a JSON object: `json!({…})`, a reference to a
    /// struct, a map; or `()` for none.
    ///
    /// ```no_run
    /// # async fn example(client: bowline_client::Client) -> bowline_client::Result<()> {
    /// use serde_json::json;
    ///
    /// let forecast = client.call("forecast", json!({ "city": "Oslo" })).await?.text();
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// If the call fails; see the predicates of [`Error`]. A tool that ran and failed is not an
    /// error of the call; see [`ToolOutcome`].
    pub fn call(
        &self,
        tool: impl Into<String>,
        arguments: impl Serialize,
    ) -> ClientCall<'static, ToolOutcome> {
        let tool = tool.into();
        let arguments = object(&tool, &arguments);
        let attempt = arguments.as_ref().ok().and_then(|it| self.application.attempt(&tool, it));
        let request = arguments.and_then(|arguments| {
            let repeated = self.application.repeated(&tool, &arguments)?;
            let params = CallToolParams::new(&tool).with_arguments(arguments);
            let mut request = self.request::<CallTool>(&params);
            request.headers = repeated;
            Ok(request)
        });
        let (known, request) = match self.application.known(&tool) {
            Ok(known) => (known, request),
            Err(error) => (None, request.and(Err(error))),
        };
        let read = move |tool, result: &RawJson| ToolOutcome::read(tool, result, known.as_deref());
        let support = self.runs_tools_as_tasks().then(|| self.application.task_support(&tool));
        let mut call = ClientCall::new(self.link.clone(), tool, request, read)
            .with_tasks(self.application.clone());
        if self.application.repeats_arguments() {
            let client = self.clone();
            let repair =
                move |request| Box::pin(client.repair_headers(request)) as BoxFuture<'_, _>;
            call = call.with_repair(code::HEADER_MISMATCH, repair);
        }
        match support {
            // The server refuses to call it otherwise.
            Some(Some(TaskSupport::Required)) => call = call.change(as_task),
            // If the tool runs only as a task, the server says so without running it.
            Some(None | Some(TaskSupport::Optional)) => {
                let client = self.clone();
                let repair =
                    move |request| Box::pin(client.change_to_task(request)) as BoxFuture<'_, _>;
                call = call.with_repair(code::METHOD_NOT_FOUND, repair);
            }
            _ => {}
        }
        match attempt {
            Some(attempt) => call.with_oversight(attempt, ToolOutcome::judge),
            None => call,
        }
    }

    /// The tools that the server offers.
    pub fn tools(&self) -> List<ToolDefinition> {
        let application = Arc::clone(&self.application);
        List::new::<ListTools>(self.link.clone()).noted(move |tools| application.note(tools))
    }

    /// Whether the server runs calls of tools as tasks of 2025-11-25.
    fn runs_tools_as_tasks(&self) -> bool {
        let declared = self.capabilities().tasks.as_ref();
        self.revision().has_core_tasks()
            && declared.is_some_and(|tasks| tasks.supports_request(Method::ToolsCall))
    }

    /// Changes a call into one of a task, if the tool allows it. Lists the tools if that is not
    /// known.
    async fn change_to_task(self, mut request: CallRequest) -> Option<CallRequest> {
        let params: CallToolParams = request.params.parse().ok()?;
        if self.application.task_support(&params.name).is_none() {
            self.find_tool(&params.name).await;
        }
        match self.application.task_support(&params.name)? {
            TaskSupport::Optional | TaskSupport::Required => {
                as_task(&mut request);
                Some(request)
            }
            _ => None,
        }
    }

    /// Reads the list of tools until it has named this one.
    pub(crate) async fn find_tool(&self, name: &str) {
        let mut tools = self.tools().fresh();
        while let Some(Ok(tool)) = tools.next().await {
            if tool.name == name {
                break;
            }
        }
    }

    /// Fetches the tool list again and makes the headers of a refused call from it; `None` if the
    /// headers are the same.
    async fn repair_headers(self, mut request: CallRequest) -> Option<CallRequest> {
        let params: CallToolParams = request.params.parse().ok()?;
        self.find_tool(&params.name).await;
        let arguments = params.arguments.unwrap_or_default();
        let repeated = self.application.repeated(&params.name, &arguments).ok()?;
        if repeated == request.headers {
            return None;
        }
        request.headers = repeated;
        Some(request)
    }
}

/// Asks for a task (2025-11-25).
fn as_task(request: &mut CallRequest) {
    if let Ok(params) = request.params.parse::<CallToolParams>() {
        request.params = request::object(&params.with_task(TaskMetadata::new()));
        request.as_task = true;
    }
}

/// The arguments of a tool. They are sent even if empty, because many servers refuse a call without
/// them.
fn object(tool: &str, arguments: &impl Serialize) -> Result<Object> {
    let example = r#"json!({"name": …})"#;
    let reason = format!("the arguments of a tool are an object, for example `{example}`");
    Object::of(arguments)
        .map_err(|problem| Error::input(tool, format_args!("{reason}; these {problem}")))
}
