//! Calls whose callers lack scopes: 403 and a challenge, in both eras.

use bowline::layer::{Next, from_fn};
use bowline_proto::request::{Extensions, Request as Call};
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use super::{admit, by, server, start};
use crate::test_server::{Session, TestServer, call, initialize, modern, request, text_of};
use crate::wire::Request;

/// Opens a session of a caller.
async fn session(server: &TestServer, token: &str, revision: Revision) -> Session {
    let opened = server.ask(&by(token, Request::post(initialize(revision)))).await;
    assert_eq!(opened.status(), 200, "{opened:?}");
    Session { id: opened.header("mcp-session-id").unwrap().to_owned(), revision }
}

/// The call of a tool in both eras.
async fn calls(server: &TestServer, name: &str) -> [Request; 2] {
    let session = session(server, "ann@issuer", Revision::V2025_11_25).await;
    [call(name, json!({})), session.call(name, json!({}))]
}

// spec: SCOPE-9, SCOPE-10, TOK-7
#[tokio::test]
async fn a_call_without_its_scope_is_403_with_a_challenge_that_names_it() {
    let server = start().await;
    for (name, scope, done) in [("purge", "admin", "gone"), ("export", "export", "out")] {
        for call in calls(&server, name).await {
            let refused = server.ask(&by("ann@issuer mcp", call.clone())).await;
            assert_eq!((refused.status(), refused.code()), (403, 403), "{refused:?}");
            let challenge = format!("Bearer error=\"insufficient_scope\", scope=\"mcp {scope}\"");
            assert_eq!(refused.header("www-authenticate"), Some(&*challenge));
            assert_eq!(refused.json()["id"], 1);
            let granted = server.ask(&by(&format!("ann@issuer mcp,{scope}"), call)).await;
            assert_eq!((granted.status(), text_of(&granted.json())), (200, done));
            assert_eq!(granted.header("www-authenticate"), None);
        }
    }
}

/// A server whose layer replaces all extensions of every request.
async fn forgetful() -> TestServer {
    let forget = from_fn(|mut request: Call, next: Next| async move {
        request.parts.extensions = Extensions::default();
        next.run(request).await
    });
    let (server, handlers) = server();
    let server = (server.layer(forget), handlers);
    TestServer::of(server, |http| http.public_url("http://localhost/mcp").auth(admit())).await
}

#[tokio::test]
async fn a_layer_that_replaces_all_extensions_grants_no_scope_and_no_claims() {
    let server = forgetful().await;
    for call in calls(&server, "purge").await {
        let refused = server.ask(&by("ann@issuer mcp", call.clone())).await;
        assert_eq!((refused.status(), refused.code()), (403, 403), "{refused:?}");
        assert_eq!(server.ask(&by("ann@issuer admin", call)).await.status(), 200);
    }
    for call in calls(&server, "whoami").await {
        let answer = server.ask(&by("ann@issuer mcp", call)).await.json();
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        assert_eq!(text_of(&answer), "this call came without a verified credential");
    }
}

#[tokio::test]
async fn lists_follow_the_scopes_of_each_request() {
    let server = start().await;
    let names = |answer: Value| {
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let session = session(&server, "ann@issuer", Revision::V2025_11_25).await;
    let legacy = session.post(request(1, "tools/list", json!({})));
    for list in [modern(1, "tools/list", json!({})), legacy] {
        let few = names(server.ask(&by("ann@issuer mcp", list.clone())).await.json());
        let all = names(server.ask(&by("ann@issuer admin", list)).await.json());
        assert!(few.contains(&"export".to_owned()) && !few.contains(&"purge".to_owned()));
        assert!(all.contains(&"export".to_owned()) && all.contains(&"purge".to_owned()));
    }
}

#[tokio::test]
async fn a_batch_has_one_status_for_all_its_calls() {
    let server = start().await;
    let session = session(&server, "ann@issuer", Revision::V2025_03_26).await;
    let call = |id: u32, name: &str| {
        let params = json!({ "name": name, "arguments": { "text": "hello" } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    for batch in [json!([call(1, "echo"), call(2, "purge")]), json!([call(2, "purge")])] {
        let answer = server.ask(&by("ann@issuer", session.post(batch.to_string()))).await;
        assert_eq!((answer.status(), answer.header("www-authenticate")), (200, None));
        let answers = answer.json();
        let refused = answers.as_array().unwrap().iter().find(|answer| answer["id"] == 2);
        assert_eq!(refused.unwrap()["error"]["code"], 403);
    }
}
