//! Credentials of callers, and of the gateway itself, reach no server.

use bowline::Client;
use serde_json::json;

use crate::proxy::Proxied;
use crate::support::{BOTH, BOWLINE, Gateway, Mark};

const CANARY: &str = "canary-5b1d7c";

// spec: TOK-10
#[tokio::test(flavor = "multi_thread")]
async fn a_token_of_a_caller_reaches_no_server_over_http() {
    for upstream in BOTH {
        let proxied = Proxied::start(upstream).await;
        let headers = json!({ "Authorization": "Bearer of-the-gateway" });
        let entry = json!({ "url": proxied.url, "headers": headers });
        let gateway = Gateway::of(&json!({ "mcpServers": { "far": entry } }));
        for revision in BOTH {
            let builder = Client::builder("caller", "1.0.0").revisions([revision]);
            let http =
                builder.http(&gateway.url).header("Authorization", &format!("Bearer {CANARY}"));
            let client =
                http.header("Cookie", &format!("session={CANARY}")).connect().await.unwrap();
            let said = client.call("far__run", json!({ "nonce": "hello" })).await.unwrap();
            assert_eq!(said.text(), "hello");
            client.tools().all().await.unwrap();
            client.close().await;
        }
        let requests = proxied.requests();
        assert!(requests.iter().any(|request| request.contains("\"nonce\":\"hello\"")));
        for request in requests {
            assert!(!request.contains(CANARY), "{request}");
            let lower = request.to_ascii_lowercase();
            assert!(lower.contains("authorization: bearer of-the-gateway"), "{request}");
        }
    }
}

/// The environment of the gateway holds what the user of the machine set: no server inherits it.
#[tokio::test(flavor = "multi_thread")]
async fn a_variable_of_the_gateway_reaches_no_server_process() {
    let mark = Mark::new();
    let entry = json!({ "command": BOWLINE, "args": ["demo", "--stdio"], "env": mark.variable() });
    let config = json!({ "mcpServers": { "near": entry } });
    let gateway = Gateway::with_variable(&config, ("SECRET_TOKEN", CANARY));
    let client = gateway.client(BOTH[1]).await;
    client.call("near__echo", json!({ "message": "hello" })).await.unwrap();
    let processes = mark.processes();
    assert_eq!(processes.len(), 1);
    assert!(gateway.process().environment().contains(CANARY));
    assert!(!processes[0].environment().contains(CANARY));
}

/// The operator sees them in the output of the gateway; its callers may be strangers.
#[tokio::test(flavor = "multi_thread")]
async fn a_failure_shows_callers_no_argument_no_output_and_no_address_of_the_server() {
    let script = format!("echo {CANARY} >&2; exit 1");
    let speaking = format!("echo {CANARY} >&2; exec \"$0\" demo --stdio");
    let gateway = Gateway::of(&json!({ "mcpServers": {
        "ends": { "command": "/bin/sh", "args": ["-c", script, CANARY] },
        "missing": { "command": format!("/nowhere/{CANARY}") },
        "remote": { "url": format!("http://127.0.0.1:1/{CANARY}") },
        "speaks": { "command": "/bin/sh", "args": ["-c", speaking, BOWLINE, CANARY] },
    } }));
    for revision in BOTH {
        let client = gateway.client(revision).await;
        for tool in ["ends__echo", "missing__echo", "remote__echo", "speaks__nothing"] {
            // The second call finds the server in a pause after its failure.
            for _ in 0..2 {
                let error = client.call(tool, json!({ "message": CANARY })).await.unwrap_err();
                let shown = serde_json::to_string(error.rpc().unwrap()).unwrap();
                assert!(!shown.contains(CANARY), "{revision} {tool}: {shown}");
            }
        }
    }
}
