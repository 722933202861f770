//! The tool that a command calls: its arguments, and what a wrong name could have meant.

use bowline::Client;
use bowline::client::Error;
use bowline_ops::schema::ToolParameters;
use bowline_types::error::code;
use bowline_types::json::Object;
use bowline_types::namespace::Namespace;

use crate::arguments::Words;
use crate::exit::{Exit, Failure};
use crate::print::text;

/// Reads the arguments for a tool, with the types of its schema where these are needed.
///
/// # Errors
///
/// If the server has no such tool, or an argument is wrong.
pub(crate) async fn arguments(
    client: &Client,
    tool: &str,
    words: &Words<'_>,
) -> Result<Object, Failure> {
    if !words.need_schema() {
        return words.read(&ToolParameters::default());
    }
    let tools = client.tools().all().await?;
    let names: Vec<&str> = tools.iter().map(|it| it.name.as_str()).collect();
    match tools.iter().find(|it| it.name == tool) {
        Some(tool) => words.read(&ToolParameters::of(&tool.input_schema)),
        // The gateway that is called knows why the server is missing from its list.
        None if lacks_namespace(tool, &names) => words.read(&ToolParameters::any()),
        None => Err(unknown(tool, &names)),
    }
}

/// The same, for a tool that must be in the list of the server.
///
/// # Errors
///
/// If the server has no such tool, or an argument is wrong.
pub(crate) async fn checked_arguments(
    client: &Client,
    tool: &str,
    words: &Words<'_>,
) -> Result<Object, Failure> {
    let tools = client.tools().all().await?;
    match tools.iter().find(|it| it.name == tool) {
        Some(tool) => words.read(&ToolParameters::of(&tool.input_schema)),
        None => Err(unknown(tool, &tools.iter().map(|it| it.name.as_str()).collect::<Vec<_>>())),
    }
}

/// Whether no listed tool has the namespace of this one: behind a gateway, all tools of a server are
/// missing if it fails.
fn lacks_namespace(tool: &str, names: &[&str]) -> bool {
    let Some((namespace, _)) = Namespace::split(tool) else { return false };
    !names.iter().any(|name| Namespace::split(name).is_some_and(|(its, _)| its == namespace))
}

/// Explains a refused call, if the reason may be that the server does not list the tool. An internal
/// error has another reason, such as a server that does not work behind a gateway.
pub(crate) async fn explain(client: &Client, tool: &str, error: Error) -> Failure {
    let is_internal = error.rpc().is_some_and(|error| error.code == code::INTERNAL_ERROR);
    let failure = Failure::from(error);
    if is_internal {
        return failure;
    }
    match client.tools().all().await {
        Ok(tools) if tools.iter().any(|it| it.name == tool) => failure,
        Ok(tools) => unknown(tool, &tools.iter().map(|it| it.name.as_str()).collect::<Vec<_>>()),
        Err(_) => failure,
    }
}

fn unknown(tool: &str, names: &[&str]) -> Failure {
    let failure = Failure::new(Exit::Refused, text!("the server has no tool `{tool}`"));
    failure.hint("it has no tools").suggesting(tool, names)
}
