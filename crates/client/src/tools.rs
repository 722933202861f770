//! Lists and calls tools.

use std::sync::Arc;

use bowline_proto::client::CallRequest;
use bowline_types::json::{Object, RawJson};
use bowline_types::tool::{CallTool, CallToolParams, ListTools, ToolDefinition};
use serde::Serialize;

use crate::call::ClientCall;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::list::List;
use crate::tool_outcome::ToolOutcome;

impl Client {
    /// Calls a tool when awaited.
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
        let mut call = ClientCall::new(self.link.clone(), tool, request, read);
        if self.application.repeats_arguments() {
            let client = self.clone();
            call = call.with_header_repair(move |request| Box::pin(client.repair_headers(request)));
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

    /// Fetches the tool list again and makes the headers of a refused call from it; `None` if the
    /// headers are the same.
    async fn repair_headers(self, mut request: CallRequest) -> Option<CallRequest> {
        let params: CallToolParams = request.params.parse().ok()?;
        let mut tools = self.tools().fresh();
        while let Some(Ok(tool)) = tools.next().await {
            if tool.name == params.name {
                break;
            }
        }
        let arguments = params.arguments.unwrap_or_default();
        let repeated = self.application.repeated(&params.name, &arguments).ok()?;
        if repeated == request.headers {
            return None;
        }
        request.headers = repeated;
        Some(request)
    }
}

/// The arguments of a tool.
fn object(tool: &str, arguments: &impl Serialize) -> Result<Object> {
    let arguments = RawJson::from_value(arguments).map_err(|error| {
        Error::input(tool, format_args!("the arguments cannot be written as JSON: {error}"))
    })?;
    // `arguments` is sent even if empty, because many servers refuse a call without it.
    match arguments.as_str() {
        "null" => Ok(Object::default()),
        _ => Object::new(arguments).map_err(|json| {
            let shown: String = json.as_str().chars().take(40).collect();
            let example = r#"json!({"name": …})"#;
            let reason = "the arguments of a tool are an object";
            Error::input(tool, format_args!("{reason}, for example `{example}`, not `{shown}`"))
        }),
    }
}
