//! Many tools: `echo-catalogue http 127.0.0.1:3000 1000`.

use std::env;

use bowline::{Args, Call, FromCall, Notify, Progress, Result, Server, State, Tool, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;

/// The arguments of each tool of the catalogue.
#[derive(Deserialize, JsonSchema)]
struct Said {
    /// What to give back
    message: String,
    // Only part of the schema.
    #[expect(dead_code)]
    /// How often it was said before
    times: Option<u32>,
}

async fn give_back(Args(said): Args<Said>) -> String {
    said.message
}

/// Give a message back
#[tool]
async fn echo(message: String) -> String {
    message
}

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: u32,
}

/// Reports every step. [`Progress`] skips reports within 10 ms of the last one, but this case
/// measures sending them; so each step has a `Progress` of its own.
struct EveryStep(Call);

impl FromCall for EveryStep {
    async fn from_call(call: &Call) -> Result<Self> {
        Ok(Self(call.clone()))
    }
}

async fn progress(every: EveryStep, Args(Steps { steps }): Args<Steps>) -> Result<String> {
    for step in 1..=steps {
        let progress = Progress::from_call(&every.0).await?;
        progress.report(step, Some(f64::from(steps)), "working");
    }
    Ok(format!("did {steps} steps"))
}

/// Tell every client that the list of tools has changed
#[tool]
async fn touch(State(notify): State<Notify>) -> &'static str {
    notify.tools_changed();
    "told"
}

#[tokio::main]
async fn main() -> Result {
    let mut arguments = env::args().skip(1);
    let (transport, address) = (arguments.next(), arguments.next());
    let count: usize = arguments.next().map_or(Ok(0), |count| count.parse())?;
    let server = Server::new("catalogue", "1.0.0");
    let notify = server.notify();
    let progress =
        Tool::new("progress", progress).describe("Report progress, step by step, at once");
    let server = server.state(notify).tools(tools![echo, touch]).tool(progress);
    // All on one page, as the other servers list them.
    let server = (0..count).map(numbered).fold(server.page_size(count + 3), Server::tool);
    match (transport.as_deref(), address) {
        (Some("stdio"), _) => server.run().await?,
        (Some("http"), Some(address)) => server.http().bind(address).await?,
        _ => Err("say how to serve: `stdio` or `http 127.0.0.1:3000 1000`")?,
    }
    Ok(())
}

fn numbered(number: usize) -> Tool {
    let description = format!("Give a message back, as tool number {number}");
    Tool::new(format!("tool_{number}"), give_back).describe(description)
}
