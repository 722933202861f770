//! A client: starts a server and calls a tool. `client TOOL ARGUMENTS COMMAND…`, for example
//! `client git_status '{"repo_path": "."}' uvx mcp-server-git`.

use std::time::Duration;

use bowline::{Client, Command};
use serde_json::Value;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("usage: client TOOL ARGUMENTS COMMAND…");
    let (tool, arguments, program) = (word()?, word()?, word()?);
    let arguments: Value = serde_json::from_str(&arguments)?;
    let client = Client::builder("example", "1.0.0")
        .on_ask(|question| async move {
            eprintln!("it asks: {}", question.message());
            question.decline()
        })
        .connect(Command::new(program).args(words))
        .await?;
    let outcome = client
        .call(tool, arguments)
        .progress(|step| eprintln!("{} {}", step.progress, step.message.unwrap_or_default()))
        .timeout(Duration::from_secs(30))
        .await?;
    eprintln!("{}", outcome.text());
    client.close().await;
    Ok(())
}
