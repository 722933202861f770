//! HTTP+SSE of 2024-11-05, and servers without sessions.

use std::sync::Arc;

use bowline::Ask;
use bowline_http::server::{Body, Endpoint, Sessions};
use bowline_server::http::Http;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use serde_json::json;
use tokio::sync::Notify;

use crate::sessions::answer_to;
use crate::test_server::{
    Session, TestServer, call, initialize, limits, request, sample_server, text_of, within,
};
use crate::wire::{Request, Wire};

/// A client of 2024-11-05.
struct Old {
    stream: Wire,
    target: String,
}

impl Old {
    async fn open(server: &TestServer) -> Self {
        let mut stream = server.stream(&Request::get()).await;
        let first = within(stream.event()).await.unwrap();
        assert_eq!(first.name.as_deref(), Some("endpoint"));
        Self { stream, target: first.data.unwrap() }
    }

    async fn post(&self, server: &TestServer, body: impl Into<String>) -> u16 {
        let request = Request::post(body).set("Accept", "*/*").target(&self.target);
        server.ask(&request).await.status()
    }

    async fn next(&mut self) -> serde_json::Value {
        let event = within(self.stream.message()).await.unwrap();
        assert_eq!(event.name.as_deref(), Some("message"));
        event.json()
    }

    async fn shake_hands(&mut self, server: &TestServer) {
        assert_eq!(self.post(server, initialize(Revision::V2024_11_05)).await, 202);
        assert_eq!(self.next().await["result"]["protocolVersion"], "2024-11-05");
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(self.post(server, initialized).await, 202);
    }
}

fn echo(id: u32) -> String {
    request(id, "tools/call", json!({ "name": "echo", "arguments": { "text": id.to_string() } }))
}

// spec: SSE1-1, SSE1-2, SSE1-3, SSE1-4, BC-1
#[tokio::test]
async fn the_server_serves_a_client_of_2024_on_one_stream() {
    let server = TestServer::with(Http::sse2024).await;
    let mut old = Old::open(&server).await;
    old.shake_hands(&server).await;
    for id in 1..=5 {
        assert_eq!(old.post(&server, echo(id)).await, 202);
        let answer = old.next().await;
        assert_eq!((&answer["id"], text_of(&answer)), (&json!(id), id.to_string().as_str()));
    }
    server.notify.tools_changed();
    assert_eq!(old.next().await["method"], "notifications/tools/list_changed");
    // The endpoint serves other clients at the same time.
    let session = server.session(Revision::V2025_11_25).await;
    assert_eq!(server.ask(&session.post(echo(1))).await.status(), 200);
}

// spec: SSE1-4
#[tokio::test]
async fn a_client_of_2024_gets_log_messages_and_answers_questions() {
    let server = TestServer::with(Http::sse2024).await;
    let mut old = Old::open(&server).await;
    assert_eq!(old.post(&server, initialize(Revision::V2025_06_18)).await, 202);
    old.next().await;
    let tell = json!({ "name": "tell", "arguments": { "count": 1 } });
    assert_eq!(old.post(&server, request(1, "tools/call", tell)).await, 202);
    server.handlers.step(2);
    assert_eq!(old.next().await["method"], "notifications/message");
    assert_eq!(text_of(&old.next().await), "told 1");
    let ask = json!({ "name": "ask", "arguments": {} });
    assert_eq!(old.post(&server, request(2, "tools/call", ask)).await, 202);
    let question = old.next().await;
    let content = json!({ "action": "accept", "content": answer_to(&question) });
    let answer = json!({ "jsonrpc": "2.0", "id": question["id"], "result": content });
    assert_eq!(old.post(&server, answer.to_string()).await, 202);
    assert_eq!(text_of(&old.next().await), "sure");
}

#[tokio::test]
async fn the_call_limit_counts_calls_of_a_client_of_2024() {
    let limits = limits(|it| (it.calls, it.calls_per_caller) = (1, 1));
    let server = TestServer::with(|http| http.sse2024().limits(limits)).await;
    let mut old = Old::open(&server).await;
    old.shake_hands(&server).await;
    let hold = request(1, "tools/call", json!({ "name": "hold", "arguments": {} }));
    for _ in 0..3 {
        assert_eq!(old.post(&server, hold.clone()).await, 202);
        server.handlers.running(1).await;
        assert_eq!(old.post(&server, echo(2)).await, 429);
        assert_eq!(server.ask(&call("echo", json!({ "text": "a" }))).await.status(), 429);
        server.handlers.step(1);
        assert_eq!(text_of(&old.next().await), "held");
        // An answered call and a cancelled call both make room for another.
        assert_eq!(old.post(&server, echo(3)).await, 202);
        assert_eq!(text_of(&old.next().await), "3");
        assert_eq!(old.post(&server, hold.clone()).await, 202);
        server.handlers.running(1).await;
        let params = json!({ "requestId": 1 });
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        assert_eq!(old.post(&server, cancel.to_string()).await, 202);
        server.handlers.running(0).await;
    }
    // A call that ends with its stream makes room too.
    assert_eq!(old.post(&server, hold).await, 202);
    server.handlers.running(1).await;
    drop(old);
    let echo = call("echo", json!({ "text": "a" }));
    within(async { while server.ask(&echo).await.status() != 200 {} }).await;
}

#[tokio::test]
async fn a_stream_of_2024_that_is_refused_leaves_no_task_behind() {
    let http = sample_server().0.http().sse2024().limits(limits(|it| it.sessions_per_caller = 1));
    let endpoint = http.build().unwrap();
    let open = Unread::open(endpoint.clone()).await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for _ in 0..10 {
        let get = http::Request::get("/mcp").header("Host", "localhost");
        let get = get.header("Accept", "text/event-stream").body(Full::new(Bytes::new()));
        assert_eq!(endpoint.answer(get.unwrap()).await.status(), 429);
    }
    assert_eq!(tasks(), before);
    drop(open);
}

/// An endpoint of 2024-11-05 without a socket: its stream is read only when the test reads it.
struct Unread {
    endpoint: Endpoint,
    stream: Body,
    target: String,
}

impl Unread {
    async fn open(endpoint: Endpoint) -> Self {
        let get = http::Request::get("/mcp").header("Host", "localhost");
        let get = get.header("Accept", "text/event-stream").body(Full::new(Bytes::new()));
        let stream = endpoint.answer(get.unwrap()).await.into_body();
        let mut unread = Self { endpoint, stream, target: String::new() };
        unread.target = unread.next().await.split_once("data: ").unwrap().1.trim().to_owned();
        unread
    }

    async fn post(&self, body: impl Into<String>) -> u16 {
        let post = http::Request::post(&self.target)
            .header("Host", "localhost")
            .header("Content-Type", "application/json")
            .header("Accept", "application/json, text/event-stream")
            .body(Full::new(Bytes::from(body.into())));
        self.endpoint.answer(post.unwrap()).await.status().as_u16()
    }

    /// Returns the text of the next event.
    async fn next(&mut self) -> String {
        let frame = within(self.stream.frame()).await.unwrap().unwrap();
        String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()
    }
}

// spec: SSE1-4
#[tokio::test]
async fn the_server_drops_no_answer_while_the_stream_of_2024_is_not_read() {
    let asked = Arc::new(Notify::new());
    let told = asked.clone();
    let server = sample_server().0.on_roots_changed(move |ask: Ask| {
        told.notify_one();
        async move {
            let _ = ask.roots().await;
        }
    });
    let http = server.http().sse2024().limits(limits(|it| it.queue = 200));
    let mut old = Unread::open(http.build().unwrap()).await;
    let capabilities = json!({ "roots": { "listChanged": true } });
    let client = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2024-11-05", "capabilities": capabilities, "clientInfo": client });
    assert_eq!(old.post(request(0, "initialize", params)).await, 202);
    assert!(old.next().await.contains("protocolVersion"));
    let notice = |method: &str| json!({ "jsonrpc": "2.0", "method": method }).to_string();
    assert_eq!(old.post(notice("notifications/initialized")).await, 202);
    // These answers fit into the queue, and a question does not.
    let ping = |id: usize| request(id, "ping", json!({}));
    for id in 1..=5 {
        assert_eq!(old.post(ping(id)).await, 202);
    }
    assert_eq!(old.post(notice("notifications/roots/list_changed")).await, 202);
    within(asked.notified()).await;
    // The server accepts no more requests until the client reads, but still accepts notifications.
    assert_eq!(old.post(ping(6)).await, 503);
    assert_eq!(old.post(notice("notifications/x")).await, 202);
    for id in 1..=5 {
        let answer = old.next().await;
        assert!(answer.contains(&format!("\"id\":{id},")), "{answer}");
    }
    assert!(old.next().await.contains("roots/list"));
    assert_eq!(old.post(ping(7)).await, 202);
    assert!(old.next().await.contains("\"id\":7"));
}

// spec: SSE1-2
#[tokio::test]
async fn closing_the_stream_of_2024_ends_its_session() {
    let server = TestServer::with(Http::sse2024).await;
    let mut old = Old::open(&server).await;
    old.shake_hands(&server).await;
    assert_eq!(
        old.post(&server, request(1, "tools/call", json!({ "name": "hold", "arguments": {} })))
            .await,
        202
    );
    server.handlers.running(1).await;
    let Old { stream, target } = old;
    drop(stream);
    server.handlers.running(0).await;
    let gone = Request::post(echo(1)).target(target);
    assert_eq!(server.ask(&gone).await.status(), 404);
}

#[tokio::test]
async fn a_session_of_2024_cannot_be_used_as_a_streamable_http_session_or_vice_versa() {
    let server = TestServer::with(Http::sse2024).await;
    let mut old = Old::open(&server).await;
    old.shake_hands(&server).await;
    let id = old.target.split_once('=').unwrap().1.to_owned();
    let posing = Session { id, revision: Revision::V2025_11_25 };
    for request in [posing.post(echo(1)), posing.get(), posing.delete()] {
        assert_eq!(server.ask(&request).await.status(), 404);
    }
    let session = server.session(Revision::V2025_11_25).await;
    let posing = Request::post(echo(1)).target(format!("/mcp?session={}", session.id));
    assert_eq!(server.ask(&posing).await.status(), 404);
    // Where HTTP+SSE is off, the server ignores the query.
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let posing = session.post(echo(1)).target(format!("/mcp?session={}", session.id));
    assert_eq!(server.ask(&posing).await.status(), 200);
    assert_eq!(server.ask(&Request::get()).await.status(), 400);
}

async fn stateless() -> TestServer {
    TestServer::with(|http| http.sessions(Sessions::None)).await
}

// spec: SESS-1, SESS-11, PV-3, HTTP-40
#[tokio::test]
async fn a_server_without_sessions_serves_each_request_independently() {
    let server = stateless().await;
    for revision in [Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25] {
        let answer = server.ask(&Request::post(initialize(revision))).await;
        assert_eq!(answer.json()["result"]["protocolVersion"], revision.to_string());
        assert_eq!(answer.header("mcp-session-id"), None);
        let versioned = |body: String| match revision.has_version_header() {
            true => Request::post(body).with("MCP-Protocol-Version", revision.to_string()),
            false => Request::post(body),
        };
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        assert_eq!(server.ask(&versioned(initialized.to_owned())).await.status(), 202);
        assert_eq!(text_of(&server.ask(&versioned(echo(1))).await.json()), "1");
        let meta = json!({ "progressToken": "p" });
        let advance = json!({ "name": "advance", "arguments": {}, "_meta": meta });
        let mut wire = server.stream(&versioned(request(1, "tools/call", advance))).await;
        let events = within(wire.messages()).await;
        assert_eq!(events.len(), 2);
        assert!(events.iter().all(|event| event.id.is_none()), "there is nowhere to come back to");
    }
    for request in [Request::get(), Request::delete()] {
        let answer = server.ask(&request).await;
        assert_eq!((answer.status(), answer.header("allow")), (405, Some("POST, OPTIONS")));
    }
    let batch = Request::post(format!("[{}]", echo(1)));
    assert_eq!(server.ask(&batch).await.status(), 200, "no header means 2025-03-26");
    let batch = batch.with("MCP-Protocol-Version", "2025-06-18");
    assert_eq!(server.ask(&batch).await.status(), 400);
}

// spec: CANC-5, CANC-6
#[tokio::test]
async fn on_a_server_without_sessions_a_client_cancels_by_disconnecting() {
    let server = stateless().await;
    let versioned = |body: String| Request::post(body).with("MCP-Protocol-Version", "2025-11-25");
    let hold = request(1, "tools/call", json!({ "name": "hold", "arguments": {} }));
    let tell = request(1, "tools/call", json!({ "name": "tell", "arguments": { "count": 2 } }));
    for body in [hold, tell] {
        let wire = Wire::send(server.address, &versioned(body)).await;
        server.handlers.running(1).await;
        // The server cannot know which of all calls with this id is meant.
        let params = json!({ "requestId": 1 });
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        assert_eq!(server.ask(&versioned(cancel.to_string())).await.status(), 202);
        server.handlers.running(1).await;
        drop(wire);
        server.handlers.running(0).await;
    }
    // Also if the answer has begun as a stream.
    let pause = json!({ "name": "pause", "arguments": { "milliseconds": 1 } });
    let wire = server.stream(&versioned(request(1, "tools/call", pause))).await;
    server.handlers.running(1).await;
    drop(wire);
    server.handlers.running(0).await;
}

// spec: SESS-17
#[tokio::test]
async fn a_server_without_sessions_can_ask_only_modern_clients() {
    let server = stateless().await;
    let ask = request(1, "tools/call", json!({ "name": "ask", "arguments": {} }));
    let answer = server.ask(&Request::post(ask).with("MCP-Protocol-Version", "2025-11-25")).await;
    assert_eq!(answer.json()["result"]["isError"], true, "{answer:?}");
    let modern = server.ask(&crate::test_server::call("echo", json!({ "text": "hello" }))).await;
    assert_eq!(text_of(&modern.json()), "hello");
}
