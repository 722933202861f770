//! Listing and calling tools.

use bowline_proto::client::CallRequest;
use bowline_types::json::{Json, Object};
use bowline_types::tool::{CallTool, CallToolParams, ListTools, Tool};
use serde::Serialize;

use crate::call::{self, Call};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::list::List;
use crate::result::ToolOutcome;

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
    /// If the call has no result: see the predicates of [`Error`]. A tool that ran and failed has
    /// one; see [`ToolOutcome`].
    pub fn call(
        &self,
        tool: impl Into<String>,
        arguments: impl Serialize,
    ) -> Call<'static, ToolOutcome> {
        let tool = tool.into();
        let request = request(&tool, &arguments).map(|mut request| {
            request.log_level = self.log_level;
            request
        });
        Call::new(self.link.clone(), tool, request, ToolOutcome::read)
    }

    /// The tools that the server offers.
    pub fn tools(&self) -> List<Tool> {
        List::new::<ListTools>(self.link.clone())
    }
}

fn request(tool: &str, arguments: &impl Serialize) -> Result<CallRequest> {
    let arguments = Json::from_value(arguments).map_err(|error| {
        Error::input(tool, format_args!("the arguments cannot be written as JSON: {error}"))
    })?;
    // Sent even if there are none, because many servers refuse a call without the member.
    let arguments = match arguments.as_str() {
        "null" => Object::default(),
        _ => Object::new(arguments).map_err(|json| {
            let shown: String = json.as_str().chars().take(40).collect();
            let example = r#"json!({"name": …})"#;
            let reason = "the arguments of a tool are an object";
            Error::input(tool, format_args!("{reason}, for example `{example}`, not `{shown}`"))
        })?,
    };
    Ok(call::request::<CallTool>(&CallToolParams::new(tool).with_arguments(arguments)))
}
