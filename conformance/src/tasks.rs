//! Tools with which the suite tests the tasks extension.
//!
//! Which of them run as tasks, and for which callers, is fixed by the suite.

use std::time::Duration;

use bowline::{Ask, Elicited, Error, Result, Tool, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) fn tools() -> impl IntoIterator<Item = Tool> {
    tools![
        greet,
        slow_compute,
        failing_job,
        protocol_error_job,
        confirm_delete,
        multi_input,
        test_tool_with_task,
    ]
}

/// Greet, never as a task
#[tool(read_only)]
async fn greet(name: String) -> String {
    format!("Hello, {name}!")
}

/// Compute for a while
#[tool(read_only, task)]
async fn slow_compute(
    #[arg(default)] seconds: u64,
    #[arg(default = "compute")] label: String,
) -> String {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    format!("{label}: done after {seconds} s")
}

/// Fail as a tool does
#[tool(read_only, task = "required")]
async fn failing_job() -> Result<String> {
    Err("the job failed".into())
}

/// Fail with an error of the protocol
#[tool(read_only, task = "required")]
async fn protocol_error_job() -> Result<String> {
    Err(Error::rpc(-32603, "the job broke the protocol"))
}

#[derive(Deserialize, JsonSchema)]
struct Confirmation {
    confirm: bool,
}

/// Delete a file, once the user agrees
#[tool(destructive, task = "required")]
async fn confirm_delete(ask: Ask, filename: String) -> Result<String> {
    let Confirmation { confirm } = ask.form(format!("Delete {filename}?")).await?;
    Ok(if confirm { format!("Deleted {filename}") } else { format!("Kept {filename}") })
}

#[derive(Deserialize, JsonSchema)]
struct Named {
    name: String,
}

/// Ask two things at once
#[tool(read_only, task = "required")]
async fn multi_input(ask: Ask) -> Result<String> {
    let first = ask.form::<Named>("The first name?");
    let second = ask.form::<Named>("The second name?");
    let (first, second) = tokio::try_join!(first, second)?;
    Ok(format!("{} and {}", first.name, second.name))
}

/// What is your name?
#[derive(Deserialize, JsonSchema)]
struct UserName {
    name: String,
}

/// Greet, as a task that begins once the user has answered
#[tool(read_only, task = "required")]
async fn test_tool_with_task(Elicited(user): Elicited<UserName>) -> String {
    format!("Hello, {}!", user.name)
}
