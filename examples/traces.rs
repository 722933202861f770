//! Traces and metrics: one line for the server, one for the client, and an exporter of your choice.

use bowline::transport::duplex;
use bowline::{Client, Server, tool, tools};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
use serde_json::json;

/// Add two numbers
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A program that runs for long exports to a collector instead, with `opentelemetry-otlp`.
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    opentelemetry::global::set_tracer_provider(provider);

    let server = Server::new("calculator", "1.0.0").tools(tools![add]);
    let server = server.layer(bowline::otel::server());
    let (near, far) = duplex();
    tokio::spawn(server.serve(far));

    let client = Client::builder("my-app", "1.0.0").layer(bowline::otel::client());
    let client = client.connect(near).await?;
    client.call("add", json!({ "a": 40, "b": 2 })).await?;

    for span in exporter.get_finished_spans()? {
        eprintln!("{:?} {}", span.span_kind, span.name);
    }
    Ok(())
}
