//! Tools that run as tasks. Where a transcript is played in virtual time, they wait in virtual time.

use std::time::Duration;

use bowline::{Ask, Elicited, Error, Progress, Result, Server, TaskSupport, ToolFn, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;

/// Tools with tasks, and one without.
pub(super) fn server(server: Server) -> Server {
    let optional = tools![wait, count, fail, refuse, greet, both, book];
    server
        .tools(optional.into_iter().map(|tool| tool.task(TaskSupport::Optional)))
        .tool(only::tool().task(TaskSupport::Required))
        .tools(tools![echo])
}

/// A name to greet
#[derive(Deserialize, JsonSchema)]
struct Person {
    name: String,
}

/// Answer after a while
#[tool]
async fn wait(seconds: u64) -> String {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    format!("{seconds} seconds later")
}

/// Count, one step every second
#[tool]
async fn count(progress: Progress, to: u32) -> String {
    let mut bar = progress.total(to);
    for step in 1..=to {
        bar.inc(format!("step {step}"));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    "counted".to_owned()
}

/// Fail as a tool does
#[tool]
async fn fail() -> Result<String> {
    Err("no disk".into())
}

/// Fail with an error of the protocol
#[tool]
async fn refuse() -> Result<String> {
    Err(Error::rpc(-32000, "refused"))
}

/// Greet the user by name
#[tool]
async fn greet(ask: Ask) -> Result<String> {
    let Person { name } = ask.form("Who are you?").await?;
    Ok(format!("Good morning, {name}"))
}

/// Ask two things at once
#[tool]
async fn both(ask: Ask) -> Result<String> {
    let (one, other) = tokio::try_join!(ask.confirm("One?"), ask.confirm("Other?"))?;
    Ok(format!("{one} and {other}"))
}

/// Greet the user whose name is asked first
#[tool]
async fn book(Elicited(Person { name }): Elicited<Person>, ask: Ask) -> Result<String> {
    let is_sure = ask.confirm("Sure?").await?;
    Ok(format!("{name} is sure: {is_sure}"))
}

/// Run only as a task
#[tool]
async fn only() -> &'static str {
    "done"
}

/// Say it again
#[tool]
async fn echo(text: String) -> String {
    text
}
