//! Headers that repeat what a body says: a gateway, which hides tools, believes only bodies.

use bowline::Client;
use serde_json::json;

use crate::support::{BOTH, BOWLINE, Gateway};

/// A gateway that shows `echo` and hides `add`.
fn gateway() -> Gateway {
    let tools = json!({ "hide": ["add"] });
    let entry = json!({ "command": BOWLINE, "args": ["demo", "--stdio"], "tools": tools });
    Gateway::of(&json!({ "mcpServers": { "near": entry } }))
}

/// Sends a call of 2026-07-28 and returns the answer. The headers state a version, and a tool that
/// may be another than that of the body.
fn call(gateway: &Gateway, (version, header): (&str, &str), tool: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let arguments = json!({ "a": 1, "b": 2, "message": "hello" });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = format!(
        "MCP-Protocol-Version: {version}\r\nMcp-Method: tools/call\r\nMcp-Name: {header}\r\n"
    );
    gateway.post(&headers, &body)
}

// spec: HDR-15
#[test]
fn a_header_that_contradicts_its_body_is_an_error_of_http() {
    let gateway = gateway();
    let answer = call(&gateway, ("2026-07-28", "near__echo"), "near__echo");
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("hello"), "{answer}");
    for (header, tool) in [("near__echo", "near__add"), ("near__add", "near__echo")] {
        let answer = call(&gateway, ("2026-07-28", header), tool);
        assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
        assert!(answer.contains("-32020"), "{answer}");
    }
}

/// A header that states an older version, which demands no comparison, does not avoid it.
// spec: HDR-15, HDR-16
#[test]
fn a_header_with_an_older_version_than_its_body_is_an_error_of_http() {
    let gateway = gateway();
    for version in ["2025-11-25", "2025-03-26"] {
        for tool in ["near__echo", "near__add"] {
            let answer = call(&gateway, (version, "near__echo"), tool);
            assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
            assert!(answer.contains("-32020"), "{answer}");
        }
    }
}

/// Before 2026-07-28 nothing compares the headers with the body, so they must not count.
// spec: HDR-16
#[tokio::test(flavor = "multi_thread")]
async fn a_header_of_an_older_client_opens_no_hidden_tool() {
    let gateway = gateway();
    let builder = Client::builder("caller", "1.0.0").revisions([BOTH[0]]);
    let client = builder.http(&gateway.url).header("Mcp-Name", "near__echo").connect().await;
    let client = client.unwrap();
    let refused = client.call("near__add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    assert!(refused.to_string().contains("near__add"), "{refused}");
    let said = client.call("near__echo", json!({ "message": "hello" })).await.unwrap();
    assert_eq!(said.text(), "hello");
}
