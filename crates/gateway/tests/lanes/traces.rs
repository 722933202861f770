//! What of the trace context of a caller reaches the server behind.

use bowline::{Context, tool, tools};
use bowline_gateway::bridge;
use bowline_server::Server;

use crate::support::{BOTH, Fake, connect, gateway, ways};

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

/// Show the trace context of the call
#[tool]
async fn traced(context: Context) -> String {
    format!("{:?} {:?}", context.traceparent(), context.baggage())
}

async fn seen_behind(settings: &str) -> Vec<String> {
    let file = format!(r#"{{ "mcpServers": {{ "a": {{ "command": "x" }} }}{settings} }}"#);
    let mut seen = Vec::new();
    for upstream in BOTH {
        for way in ways() {
            let server = Server::new("traced", "1.0.0").tools(tools![traced]);
            let gateway = gateway(&file, [("a", Fake::speaking(upstream, server))]);
            let caller = connect(&bridge(gateway, None), way, |builder| builder).await;
            let call = caller.call("a__traced", ()).meta("traceparent", PARENT);
            seen.push(call.meta("baggage", "user=ann").await.unwrap().text().to_string());
        }
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn a_gateway_passes_the_trace_and_drops_baggage() {
    let expected = format!("Some({PARENT:?}) None");
    assert_eq!(seen_behind("").await, vec![expected; 8]);
}

#[tokio::test(start_paused = true)]
async fn a_gateway_passes_baggage_if_its_file_allows_it() {
    let expected = format!("Some({PARENT:?}) Some(\"user=ann\")");
    let seen = seen_behind(r#", "gateway": { "baggage": true }"#).await;
    assert_eq!(seen, vec![expected; 8]);
}
