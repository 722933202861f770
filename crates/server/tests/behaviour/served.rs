//! Whole conversations over a transport, as lines of JSON.

use std::time::Duration;

use bowline_server::{Ask, Server, Tool};
use bowline_transport::duplex::duplex;
use serde_json::json;

use crate::wire::{Wire, modern, request};

fn server() -> Server {
    let sure = |ask: Ask| async move { ask.confirm("Sure?").await.map(|sure| sure.to_string()) };
    Server::new("served", "1.2.3")
        .title("Served")
        .tool(Tool::new("sure", sure))
        .ttl(Duration::from_secs(60))
}

// spec: TOOL-1, LIFE-3
#[tokio::test]
async fn a_handshake_tells_what_the_server_is_and_can_do() {
    let mut wire = Wire::to(&server());
    let answer = wire.initialize(json!({})).await;
    let result = &answer["result"];
    assert_eq!(result["protocolVersion"], "2025-06-18");
    assert_eq!(result["capabilities"], json!({ "tools": { "listChanged": true } }));
    assert_eq!(result["serverInfo"]["title"], "Served");
}

// spec: CACHE-1, CACHE-3, CACHE-4, CACHE-22
#[tokio::test]
async fn lists_say_how_long_they_are_good_for() {
    for (server, scope) in [(server(), "public"), (server().private(), "private")] {
        let mut wire = Wire::to(&server);
        for method in ["tools/list", "server/discover"] {
            let answer = wire.ask(modern(1, method, json!({}))).await;
            assert_eq!(answer["result"]["ttlMs"], 60_000, "{answer}");
            assert_eq!(answer["result"]["cacheScope"], scope);
        }
    }
}

// spec: TOOL-6
#[tokio::test]
async fn a_session_is_notified_that_tools_changed() {
    let server = server();
    let mut wire = Wire::to(&server);
    wire.initialize(json!({})).await;
    wire.ask(request(2, "tools/list", &json!({}))).await;
    server.registry().insert(Tool::new("late", || async {})).unwrap();
    assert_eq!(wire.hear().await["method"], "notifications/tools/list_changed");
}

// spec: ELIC-15
#[tokio::test]
async fn a_session_is_asked_by_a_request_of_the_server() {
    let mut wire = Wire::to(&server());
    wire.initialize(json!({ "elicitation": {} })).await;
    let question = wire.ask(request(2, "tools/call", &json!({ "name": "sure" }))).await;
    assert_eq!(question["method"], "elicitation/create");
    let result = json!({ "action": "accept", "content": { "confirm": true } });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": result });
    assert_eq!(wire.ask(answer).await["result"]["content"][0]["text"], "true");
}

// spec: RT-1, MRTR-2, CACHE-2
#[tokio::test]
async fn a_modern_call_is_answered_with_its_question_and_then_made_again() {
    let mut wire = Wire::to(&server());
    let asked = wire.ask(modern(1, "tools/call", json!({ "name": "sure" }))).await;
    assert_eq!(asked["result"]["resultType"], "input_required");
    assert_eq!(asked["result"].get("ttlMs"), None);
    let params = json!({
        "name": "sure",
        "inputResponses": { "q1": { "action": "accept", "content": { "confirm": true } } },
        "requestState": asked["result"]["requestState"],
    });
    let done = wire.ask(modern(2, "tools/call", params)).await;
    assert_eq!(done["result"]["resultType"], "complete");
    assert_eq!(done["result"]["content"][0]["text"], "true");
}

#[tokio::test]
async fn a_server_that_cannot_be_built_does_not_serve() {
    let broken = Server::new("broken", "1").tool(Tool::new("a b", || async {}));
    let (ours, _theirs) = duplex();
    let error = broken.serve(ours).await.unwrap_err();
    assert!(error.is_build());
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("`a b`"), "{cause}");
}

#[tokio::test]
async fn a_server_stops_on_request() {
    let (_ours, theirs) = duplex();
    server().serve_until(theirs, async {}).await.unwrap();
}
