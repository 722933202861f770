//! The server that the checks and benchmarks of this repository call: `echo stdio`, or `echo http 127.0.0.1:3000`.

use std::time::Duration;

use bowline::{Ask, Json, Progress, Result, Server, tool, tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Give a message back
#[tool(read_only)]
async fn echo(message: String) -> String {
    message
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

/// Add two integers
#[tool(read_only)]
async fn add(a: i64, b: i64) -> Result<Json<Sum>> {
    let sum = a.checked_add(b).ok_or("the sum is too large")?;
    Ok(Json(Sum { sum }))
}

/// Sleep, and report progress every 100 ms
#[tool(read_only)]
async fn sleep(progress: Progress, #[arg(range = 0.0..=3600.0)] seconds: f64) -> String {
    let step = Duration::from_millis(100);
    let total = Duration::from_secs_f64(seconds);
    let mut slept = Duration::ZERO;
    while slept < total {
        tokio::time::sleep(step.min(total - slept)).await;
        slept = total.min(slept + step);
        progress.report(slept.as_secs_f64(), Some(seconds), "sleeping");
    }
    format!("slept {seconds} s")
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// Greet the user by name
#[tool]
async fn greet(ask: Ask) -> Result<String> {
    let Name { name } = ask.form("What is your name?").await?;
    Ok(format!("Hello, {name}!"))
}

#[tokio::main]
async fn main() -> Result {
    let server = Server::new("echo", "1.0.0").tools(tools![echo, add, sleep, greet]);
    let mut arguments = std::env::args().skip(1);
    match (arguments.next().as_deref(), arguments.next()) {
        (None | Some("stdio"), _) => server.run().await?,
        (Some("http"), Some(address)) => server.http().bind(address).await?,
        _ => Err("say how to serve: `echo stdio` or `echo http 127.0.0.1:3000`")?,
    }
    Ok(())
}
