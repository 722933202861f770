//! The tool that a command calls: its arguments, and what a wrong name could have meant.

use bowline::Client;
use bowline::types::json::Object;

use crate::arguments::Words;
use crate::exit::{Exit, Failure};
use crate::print::text;
use crate::schema::Parameters;
use crate::suggest;

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
    match words.need_schema() {
        true => checked_arguments(client, tool, words).await,
        false => words.read(&Parameters::default()),
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
        Some(tool) => words.read(&Parameters::of(&tool.input_schema)),
        None => Err(unknown(tool, &tools.iter().map(|it| it.name.as_str()).collect::<Vec<_>>())),
    }
}

/// Explains a refused call, if the reason is that the server does not list the tool.
pub(crate) async fn explain(client: &Client, tool: &str, failure: Failure) -> Failure {
    match client.tools().all().await {
        Ok(tools) if tools.iter().any(|it| it.name == tool) => failure,
        Ok(tools) => unknown(tool, &tools.iter().map(|it| it.name.as_str()).collect::<Vec<_>>()),
        Err(_) => failure,
    }
}

fn unknown(tool: &str, names: &[&str]) -> Failure {
    let hint = suggest::hint(tool, names).unwrap_or_else(|| "it has no tools".into());
    Failure::new(Exit::Refused, text!("the server has no tool `{tool}`")).hint(hint)
}
