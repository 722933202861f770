//! Which requests pass, what handlers learn of their callers, and what callers learn if they do not
//! pass.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bowline::http::Admit;
use bowline_types::revision::Revision;
use serde_json::json;

use super::{TestAdmit, by, server, start};
use crate::page::browsing;
use crate::test_server::{Session, TestServer, call, initialize, request, text_of, within};
use crate::wire::{Request, Wire};

const CHALLENGE: &str =
    "Bearer resource_metadata=\"http://localhost/.well-known/oauth-protected-resource/mcp\"";

// spec: TOK-6, TOK-7, TOK-11, TOK-17, PRM-4, SBP-12
#[tokio::test]
async fn a_request_without_a_good_token_is_401_whatever_it_asks_for() {
    let server = start().await;
    let session = Session { id: "x".repeat(22), revision: Revision::V2025_11_25 };
    let requests = [
        call("echo", json!({ "text": "hello" })),
        Request::post(initialize(Revision::V2025_11_25)),
        session.post(request(1, "tools/list", json!({}))),
        Request::post("not JSON"),
        Request::get(),
        session.get(),
        session.delete(),
        Request::new("PUT", String::new()),
    ];
    for request in requests {
        for (token, reason) in [
            (None, "a token is required"),
            (Some("nonsense"), "the token is malformed"),
            (Some("ann@issuer mcp 0"), "the token has expired"),
        ] {
            let request = token.map_or(request.clone(), |token| by(token, request.clone()));
            let answer = server.ask(&request).await;
            assert_eq!(answer.status(), 401, "{request:?}");
            assert_eq!(answer.header("www-authenticate"), Some(CHALLENGE));
            assert_eq!(answer.json()["error"]["message"], reason);
        }
    }
}

// spec: TOK-11, HTTP-40
#[tokio::test]
async fn a_browser_without_a_token_gets_a_page_that_tells_nothing_about_the_server() {
    let server = start().await;
    for (request, status) in [(browsing(), 401), (by("ann@issuer", browsing()), 405)] {
        let answer = server.ask(&request).await;
        assert_eq!(answer.status(), status);
        assert_eq!(answer.header("www-authenticate").is_some(), status == 401);
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        assert!(answer.body.contains("<h1>An MCP server</h1>"), "{}", answer.body);
        assert!(answer.body.contains("bowline connect http://"), "{}", answer.body);
        for secret in ["stage", "1.0.0", "echo", "note"] {
            assert!(!answer.body.contains(secret), "{secret}: {}", answer.body);
        }
    }
}

#[tokio::test]
async fn a_token_in_the_url_is_no_token() {
    let server = start().await;
    let request = call("echo", json!({ "text": "hello" })).target("/mcp?access_token=ann@issuer");
    assert_eq!(server.ask(&request).await.status(), 401);
}

// spec: TOK-11
#[tokio::test]
async fn a_request_that_is_refused_is_not_read() {
    let server = start().await;
    let request = call("echo", json!({ "text": "hello" })).with("Content-Length", "1000000");
    let mut wire = Wire::open(server.address).await;
    wire.write(&request.head()).await;
    assert_eq!(within(wire.head()).await.status, 401);
    assert_eq!(server.endpoint.body_bytes(), 0);
}

#[tokio::test]
async fn the_gate_comes_before_the_token() {
    let admit = Arc::new(TestAdmit::default());
    let own: Arc<dyn Admit> = admit.clone();
    let server = TestServer::of(server(), |http| http.auth(own)).await;
    let request = by("ann@issuer", call("echo", json!({ "text": "hello" })));
    for wrong in [
        request.clone().set("Host", "evil.example"),
        request.clone().with("Origin", "https://evil.example"),
    ] {
        assert_eq!(server.ask(&wrong).await.status(), 403);
    }
    assert_eq!(admit.judged.load(Ordering::Relaxed), 0);
    assert_eq!(server.ask(&request).await.status(), 200);
    assert_eq!(admit.judged.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn a_page_may_ask_without_a_token_what_it_may_send_and_reads_the_challenge() {
    let server = start().await;
    let origin = |request: Request| request.with("Origin", "http://localhost:3000");
    let preflight = origin(Request::new("OPTIONS", String::new()))
        .with("Access-Control-Request-Method", "POST")
        .with("Access-Control-Request-Headers", "authorization");
    assert_eq!(server.ask(&preflight).await.status(), 204);
    let refused = server.ask(&origin(call("echo", json!({ "text": "hello" })))).await;
    assert_eq!(refused.status(), 401);
    assert_eq!(refused.header("access-control-allow-origin"), Some("http://localhost:3000"));
}

// spec: TOK-10, TOK-13, OCC-9, SBP-12, SBP-13
#[tokio::test]
async fn handlers_get_the_claims_of_each_request_and_never_the_token() {
    let server = start().await;
    let answer = server.ask(&by("ann@issuer mcp,admin", call("whoami", json!({})))).await;
    assert_eq!(text_of(&answer.json()), "ann mcp,admin");
    assert_eq!(answer.header("dpop-nonce"), Some("next"));
    let opened =
        server.ask(&by("ann@issuer", Request::post(initialize(Revision::V2025_11_25)))).await;
    let id = opened.header("mcp-session-id").unwrap().to_owned();
    let session = Session { id, revision: Revision::V2025_11_25 };
    for (scopes, expected) in [("mcp", "ann mcp"), ("mcp,admin", "ann mcp,admin"), ("", "ann ")] {
        let call = by(&format!("ann@issuer {scopes}"), session.call("whoami", json!({})));
        assert_eq!(text_of(&server.ask(&call).await.json()), expected);
    }
    // The token opens the session, but later requests do not live on it.
    assert_eq!(server.ask(&session.call("whoami", json!({}))).await.status(), 401);
}
