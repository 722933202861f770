//! Starts the `echo` example in both eras and calls everything it has.

use std::path::PathBuf;

use bowline::types::Revision;
use bowline::{Client, Command};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let client = Client::builder("tour", "1.0.0")
            .revisions([revision])
            .on_ask(|question| async move {
                eprintln!("  the server asks: {}", question.message());
                question.accept(json!({ "name": "Ada" }))
            })
            .connect(Command::new(echo()?).arg("stdio"))
            .await?;
        eprintln!("echo speaks {}", client.revision());
        let echoed = client.call("echo", json!({ "message": "ahoy" })).await?;
        eprintln!("  echo: {}", echoed.text());
        let sum = client.call("add", json!({ "a": 40, "b": 2 })).await?;
        eprintln!("  add: {}", sum.parse::<serde_json::Value>()?);
        let slept = client
            .call("sleep", json!({ "seconds": 0.3 }))
            .progress(|progress| eprintln!("  sleep: {} s", progress.progress))
            .await?;
        eprintln!("  sleep: {}", slept.text());
        eprintln!("  greet: {}", client.call("greet", json!({})).await?.text());
        client.close().await;
    }
    Ok(())
}

/// The `echo` example, built beside this one.
fn echo() -> std::io::Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name("echo"))
}
