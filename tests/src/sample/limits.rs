//! Servers with layers that limit calls, in virtual time.

use std::time::Duration;

use bowline::layer::{ConcurrencyLimit, RateLimit, ResultSizeLimit, Timeout};
use bowline::{Args, Server, Tool};
use bowline_types::method::Method;
use schemars::JsonSchema;
use serde::Deserialize;

/// One tool for each layer, with the layer around it.
pub(super) fn tools(server: Server) -> Server {
    server
        .tool(Tool::new("rare", || async { "once in a while" }).layer(RateLimit::per_minute(2)))
        .tool(Tool::new("short", write).layer(ResultSizeLimit::new(100)))
        .tool(Tool::new("alone", wait).layer(ConcurrencyLimit::new(1).waiting(1)))
        .tool(Tool::new("quick", wait).layer(Timeout::new(Duration::from_secs(1))))
}

/// Layers around a whole server, whose refusals outside of tool calls are JSON-RPC errors.
pub(super) fn server(server: Server) -> Server {
    server
        .layer(ResultSizeLimit::new(200))
        .layer(RateLimit::per_minute(2).on([Method::ToolsList]))
        .tool(Tool::new("write", write))
        .tool(Tool::new("wait", wait))
}

#[derive(Deserialize, JsonSchema)]
struct Letters {
    letters: usize,
}

async fn write(Args(Letters { letters }): Args<Letters>) -> String {
    "x".repeat(letters)
}

async fn wait() -> &'static str {
    tokio::time::sleep(Duration::from_secs(2)).await;
    "two seconds later"
}
