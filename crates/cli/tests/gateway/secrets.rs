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
