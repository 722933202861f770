//! Notifications of extensions over HTTP: they run in both eras, with and without sessions, and
//! count like calls.

use bowline::{Extension, Server, State};
use bowline_http::server::{HttpLimits, Sessions};
use bowline_proto::limits::Limits;
use bowline_server::http::Http;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use crate::test_server::{
    Handlers, Session, TestServer, call, limits, meta, request, sample_server, text_of, within,
};
use crate::wire::Request;

const NOTE: &str = "notifications/stage/note";

/// Counts as running until it may take a step.
async fn note(State(handlers): State<Handlers>) {
    let _running = handlers.run();
    handlers.may_step().await;
    handlers.finish();
}

fn stage(change: impl FnOnce(&mut Limits)) -> (Server, Handlers) {
    let (server, handlers) = sample_server();
    let mut limits = Limits::default();
    change(&mut limits);
    let extension = Extension::new("com.example/stage").for_every_client().notification(NOTE, note);
    (server.limits(limits).extension(extension), handlers)
}

fn notification(method: &str, params: impl Into<Value>) -> String {
    let params = params.into();
    json!({ "jsonrpc": "2.0", "method": method, "params": params }).to_string()
}

/// A notification of 2026-07-28, which needs no session.
fn modern(method: &str) -> Request {
    let body = notification(method, json!({ "_meta": meta() }));
    Request::post(body).with("MCP-Protocol-Version", "2026-07-28").with("Mcp-Method", method)
}

/// A notification of an older revision to an endpoint without sessions.
fn alone(method: &str) -> Request {
    Request::post(notification(method, json!({}))).with("MCP-Protocol-Version", "2025-11-25")
}

fn echo() -> Request {
    call("echo", json!({ "text": "a" }))
}

/// Checks that a notification, which `note` sends, holds the only slot until its handler ends.
async fn holds_a_slot(server: &TestServer, note: &Request) {
    assert_eq!(server.ask(note).await.status(), 202);
    server.handlers.running(1).await;
    for request in [note, &echo()] {
        let refused = server.ask(request).await;
        assert_eq!((refused.status(), refused.header("retry-after")), (429, Some("1")));
    }
    server.handlers.step(1);
    server.handlers.running(0).await;
    within(async { while server.ask(&echo()).await.status() != 200 {} }).await;
}

fn one_call(limits: &mut HttpLimits) {
    limits.calls_per_caller = 1;
}

#[tokio::test]
async fn a_notification_of_an_extension_holds_a_slot_while_its_handler_runs() {
    let server = TestServer::of(stage(|_| {}), |http| http.limits(limits(one_call))).await;
    holds_a_slot(&server, &modern(NOTE)).await;
    for revision in [Revision::V2025_03_26, Revision::V2025_11_25] {
        let session = server.session(revision).await;
        holds_a_slot(&server, &session.post(notification(NOTE, json!({})))).await;
    }
    let session = server.session(Revision::V2025_03_26).await;
    let batch = format!("[{}]", notification(NOTE, json!({})));
    holds_a_slot(&server, &session.post(batch)).await;
}

#[tokio::test]
async fn notifications_of_extensions_run_at_endpoints_without_sessions() {
    let without = |http: Http| http.sessions(Sessions::None).limits(limits(one_call));
    let server = TestServer::of(stage(|_| {}), without).await;
    holds_a_slot(&server, &modern(NOTE)).await;
    holds_a_slot(&server, &alone(NOTE)).await;
}

#[tokio::test]
async fn notifications_of_extensions_count_against_the_rate_of_requests() {
    let few = |limits: &mut Limits| limits.requests_per_minute = 3;
    let server = TestServer::of(stage(few), |http| http).await;
    // The handshake is one of the three.
    let session = server.session(Revision::V2025_11_25).await;
    let in_session = |method: &str| session.post(notification(method, json!({})));
    let note = [in_session(NOTE), modern(NOTE)];
    for note in &note {
        assert_eq!(server.ask(note).await.status(), 202);
    }
    for note in &note {
        let refused = server.ask(note).await;
        assert_eq!((refused.status(), refused.code()), (429, 429), "{refused:?}");
        assert_eq!(refused.json().get("id"), None);
    }
    server.handlers.running(2).await;
    // Other notifications run no handler, and are not counted.
    for other in [in_session("notifications/other"), modern("notifications/other")] {
        assert_eq!(server.ask(&other).await.status(), 202);
    }
}

#[tokio::test]
async fn a_notification_that_waits_for_its_turn_is_accepted_at_once() {
    let one = |limits: &mut Limits| (limits.in_flight, limits.backlog) = (1, 1);
    let server = TestServer::of(stage(one), |http| http).await;
    let session = server.session(Revision::V2025_11_25).await;
    let note = session.post(notification(NOTE, json!({})));
    assert_eq!(server.ask(&note).await.status(), 202);
    server.handlers.running(1).await;
    assert_eq!(server.ask(&note).await.status(), 202, "it waits");
    let refused = server.ask(&note).await;
    assert_eq!(refused.status(), 503, "a third one may not even wait");
    server.handlers.step(2);
    server.handlers.ended(2).await;
    let answer = server.ask(&session.call("echo", json!({ "text": "a" }))).await;
    assert_eq!(text_of(&answer.json()), "a");
}

#[tokio::test]
async fn a_notification_ends_with_its_session() {
    let server = TestServer::of(stage(|_| {}), |http| http.limits(limits(one_call))).await;
    let session: Session = server.session(Revision::V2025_11_25).await;
    assert_eq!(server.ask(&session.post(notification(NOTE, json!({})))).await.status(), 202);
    server.handlers.running(1).await;
    assert_eq!(server.ask(&session.delete()).await.status(), 204);
    server.handlers.running(0).await;
    within(async { while server.ask(&echo()).await.status() != 200 {} }).await;
}

#[tokio::test]
async fn a_notification_without_the_revision_and_capabilities_of_its_client_is_refused() {
    let server = TestServer::of(stage(|_| {}), |http| http).await;
    let bare = Request::post(notification(NOTE, json!({})))
        .with("MCP-Protocol-Version", "2026-07-28")
        .with("Mcp-Method", NOTE);
    let refused = server.ask(&bare).await;
    assert_eq!(refused.status(), 400);
    assert!(refused.reason().contains("io.modelcontextprotocol/protocolVersion"), "{refused:?}");
    // A request is served beside it, so the connection and the endpoint go on.
    assert_eq!(server.ask(&Request::post(request(1, "ping", json!({})))).await.status(), 400);
    assert_eq!(server.ask(&echo()).await.status(), 200);
}
