//! Listing and calling tools.

use bowline_proto::client::CallRequest;
use bowline_types::json::{Json, Object};
use bowline_types::rpc::Rpc;
use bowline_types::tool::{CallTool, CallToolParams, ListTools, Tool};
use serde::Serialize;

use crate::call::Call;
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
    let unwritable =
        |error| Error::input(tool, format_args!("the arguments cannot be written as JSON: {error}"));
    let arguments = Json::from_value(arguments).map_err(unwritable)?;
    let params = CallToolParams::new(tool).with_arguments(object(tool, arguments)?);
    let params = Json::from_value(&params).map_err(unwritable)?;
    Ok(CallRequest::new(CallTool::METHOD, object(tool, params)?))
}

/// Arguments are an object, even if there are none: many servers refuse a call without the member.
fn object(tool: &str, arguments: Json) -> Result<Object> {
    if arguments.as_str() == "null" {
        return Ok(Object::default());
    }
    Object::new(arguments).map_err(|json| {
        let shown: String = json.as_str().chars().take(40).collect();
        let reason = format!("the arguments of a tool are an object, for example `json!({{\"name\": …}})`, not `{shown}`");
        Error::input(tool, reason)
    })
}
