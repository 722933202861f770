//! A client that starts a tool as a task and does something else meanwhile:
//! `task_client TOOL ARGUMENTS COMMAND…`. A plain `call` would wait for the task by itself.

use std::time::Duration;

use bowline::{Client, Command};
use serde_json::Value;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("usage: task_client TOOL ARGUMENTS COMMAND…");
    let (tool, arguments, program) = (word()?, word()?, word()?);
    let arguments: Value = serde_json::from_str(&arguments)?;
    let client = Client::builder("example", "1.0.0")
        .tasks()
        .connect(Command::new(program).args(words))
        .await?;

    let task = client.call(tool, arguments).task().await?;
    // A program that saves the id can return to the task with `client.task(id)`.
    eprintln!("started {}", task.id().unwrap_or("nothing: the server answered at once"));
    while !task.state().await?.status().is_terminal() {
        eprintln!("{}", task.state().await?.message().unwrap_or("it runs"));
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    eprintln!("{}", task.wait().await?.text());
    client.close().await;
    Ok(())
}
