//! Handles of a caller in the hands of another: answered like handles that do not exist.

mod parked;
mod tasks;

use std::collections::BTreeMap;

use bowline::http::Sessions;
use bowline_http::server::{Body, Endpoint};
use bowline_http::store::MemoryBackend;
use bowline_types::revision::Revision;
use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

use super::{admit, by, server};
use crate::test_server::{Session, initialize, meta, modern, request, text_of, within};
use crate::wire::Request;

/// Callers that are not `ann@issuer`, or cannot show that they are.
const STRANGERS: [&str; 5] =
    ["bob@issuer mcp", "ann@other mcp", "issuer@ann mcp", "ann@issuer mcp 0", "nonsense"];

const OWNER: &str = "ann@issuer mcp";

async fn send(endpoint: &Endpoint, token: &str, request: &Request, target: &str) -> Response<Body> {
    let request = by(token, request.clone());
    let (method, headers, body) = request.parts();
    let mut asked = http::Request::builder().method(method).uri(target);
    for (name, value) in headers {
        asked = asked.header(name, value.as_slice());
    }
    endpoint.answer(asked.body(Full::new(Bytes::copy_from_slice(body))).unwrap()).await
}

/// Everything that a client can see of an answer.
#[derive(Debug, PartialEq)]
struct Seen {
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
}

async fn seen(endpoint: &Endpoint, token: &str, request: &Request, target: &str) -> Seen {
    let answer = send(endpoint, token, request, target).await;
    let headers = answer.headers().iter();
    let headers =
        headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()));
    let headers: BTreeMap<_, _> = headers.collect();
    let status = answer.status().as_u16();
    assert_ne!(headers.get("content-type").map(String::as_str), Some("text/event-stream"));
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    Seen { status, headers, body: String::from_utf8(body.to_vec()).unwrap() }
}

/// The next text of a stream that is not a comment.
async fn next(stream: &mut Body) -> String {
    loop {
        let frame = within(stream.frame()).await.expect("the stream is open").unwrap();
        let text = String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap();
        if !text.starts_with(':') {
            return text;
        }
    }
}

async fn open(endpoint: &Endpoint) -> Session {
    open_as(OWNER, endpoint).await
}

async fn open_as(token: &str, endpoint: &Endpoint) -> Session {
    let opened =
        send(endpoint, token, &Request::post(initialize(Revision::V2025_11_25)), "/mcp").await;
    let id = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let session = Session { id, revision: Revision::V2025_11_25 };
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let answer = send(endpoint, token, &session.post(initialized), "/mcp").await;
    assert_eq!(answer.status(), 202);
    session
}

/// All that a client can do with the id of a session.
fn uses(session: &Session) -> Vec<Request> {
    let subscribe = json!({ "uri": "note://a" });
    vec![
        session.post(request(1, "tools/list", json!({}))),
        session.call("echo", json!({ "text": "hello" })),
        session.call("purge", json!({})),
        session.post(request(2, "resources/subscribe", subscribe.clone())),
        session.post(request(3, "resources/unsubscribe", subscribe)),
        session.post(r#"{"jsonrpc":"2.0","id":1,"result":{"action":"decline"}}"#),
        session.post(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
        ),
        session.post("[]"),
        session.get(),
        session.resume("0.0"),
        session.resume("1.0"),
        session.resume("1.1"),
        session.resume("7.7"),
        session.delete(),
    ]
}

/// Does everything with the session of another caller, and with one that does not exist.
async fn try_all(endpoint: &Endpoint, session: &Session) {
    let unknown = Session { id: "x".repeat(session.id.len()), ..session.clone() };
    for stranger in STRANGERS {
        for (foreign, never) in uses(session).iter().zip(uses(&unknown)) {
            let foreign = seen(endpoint, stranger, foreign, "/mcp").await;
            let never = seen(endpoint, stranger, &never, "/mcp").await;
            assert_eq!(foreign, never, "{stranger} cannot tell whether it exists");
            assert!([400, 401, 404].contains(&foreign.status), "{foreign:?}");
        }
    }
}

// spec: SBP-13, SBP-15, SESS-12, SESS-16
#[tokio::test]
async fn foreign_handle_matrix() {
    let (server, handlers) = server();
    let http = server.http().public_url("http://localhost/mcp").auth(admit());
    let endpoint = http.build().unwrap();
    let session = open(&endpoint).await;
    let mut standalone = send(&endpoint, OWNER, &session.get(), "/mcp").await.into_body();
    next(&mut standalone).await;
    let tell = session.call("tell", json!({ "count": 2 }));
    handlers.step(1);
    let mut told = send(&endpoint, OWNER, &tell, "/mcp").await.into_body();
    assert!(next(&mut told).await.contains("id: 1.0"));
    try_all(&endpoint, &session).await;
    // The streams of its owner are open, and its subscriptions as they were.
    server.notify().tools_changed();
    assert!(next(&mut standalone).await.contains("notifications/tools/list_changed"));
    handlers.step(2);
    let rest = told.collect().await.unwrap().to_bytes();
    assert!(String::from_utf8(rest.to_vec()).unwrap().contains("told 2"));
    // A new token of the same owner is no stranger.
    let renewed = send(&endpoint, "ann@issuer mcp,admin 60", &session.resume("1.1"), "/mcp").await;
    assert_eq!(renewed.status(), 200);
    let deleted = send(&endpoint, "ann@issuer", &session.delete(), "/mcp").await;
    assert_eq!(deleted.status(), 204);
}

// spec: SBP-15
#[tokio::test]
async fn a_session_in_a_shared_store_belongs_to_its_owner_at_every_endpoint() {
    let store = std::sync::Arc::new(MemoryBackend::default());
    let endpoint = || {
        let (server, _) = server();
        let http = server.http().public_url("http://localhost/mcp").auth(admit());
        http.store(store.clone()).build().unwrap()
    };
    let (first, second) = (endpoint(), endpoint());
    let session = open(&first).await;
    try_all(&second, &session).await;
    let list = session.post(request(1, "tools/list", json!({})));
    assert_eq!(send(&second, OWNER, &list, "/mcp").await.status(), 200);
}

// spec: SBP-15
#[tokio::test]
async fn the_session_of_a_stream_of_2024_belongs_to_its_owner() {
    let (server, _) = server();
    let http = server.http().public_url("http://localhost/mcp").auth(admit()).sse2024();
    let endpoint = http.build().unwrap();
    let mut stream = send(&endpoint, OWNER, &Request::get(), "/mcp").await.into_body();
    let greeting = next(&mut stream).await;
    let address = greeting.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let (path, id) = address.split_once("session=").unwrap();
    let unknown = format!("{path}session={}", "x".repeat(id.len()));
    let handshake = Request::post(initialize(Revision::V2024_11_05));
    for stranger in STRANGERS {
        let foreign = seen(&endpoint, stranger, &handshake, address).await;
        assert_eq!(foreign, seen(&endpoint, stranger, &handshake, &unknown).await);
        assert!([401, 404].contains(&foreign.status), "{foreign:?}");
    }
    assert_eq!(send(&endpoint, OWNER, &handshake, address).await.status(), 202);
    assert!(next(&mut stream).await.contains("protocolVersion"));
}

/// A modern call of the tool that asks, with the answer to its question.
fn ask(state: Option<(&Value, &str)>) -> Request {
    let mut params = json!({ "name": "ask", "arguments": {} });
    if let Some((questions, state)) = state {
        let keys = questions.as_object().unwrap().keys();
        let answer = json!({ "action": "accept", "content": { "confirm": true } });
        let answers = keys.map(|key| (key.clone(), answer.clone()));
        params["inputResponses"] = answers.collect::<serde_json::Map<_, _>>().into();
        params["requestState"] = state.into();
    }
    declaring(json!({ "elicitation": {} }), "tools/call", params)
}

/// A modern request of a client that declares these capabilities.
fn declaring(capabilities: Value, method: &str, mut params: Value) -> Request {
    let mut meta = meta();
    meta["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    let body = modern(1, method, params.clone());
    params["_meta"] = meta;
    let text = request(1, method, params);
    let (_, headers, _) = body.parts();
    let plain = Request::new("POST", text).without("Host");
    headers.iter().fold(plain, |request, (name, value)| request.with(name, value))
}

// spec: SBP-13, SBP-15
#[tokio::test]
async fn the_sealed_state_of_another_caller_is_no_state() {
    let (server, _) = server();
    let http = server.http().public_url("http://localhost/mcp").auth(admit());
    let endpoint = http.sessions(Sessions::None).build().unwrap();
    let asked = seen(&endpoint, OWNER, &ask(None), "/mcp").await;
    let result: Value = serde_json::from_str(&asked.body).unwrap();
    let result = &result["result"];
    assert_eq!(result["resultType"], "input_required", "{asked:?}");
    let (questions, state) = (&result["inputRequests"], result["requestState"].as_str().unwrap());
    let garbage = "x".repeat(state.len());
    for stranger in STRANGERS {
        let foreign = seen(&endpoint, stranger, &ask(Some((questions, state))), "/mcp").await;
        let never = seen(&endpoint, stranger, &ask(Some((questions, &garbage))), "/mcp").await;
        assert_eq!(foreign, never);
        assert!(!foreign.body.contains("sure"), "{foreign:?}");
    }
    let renewed = "ann@issuer mcp,admin 60";
    let done = seen(&endpoint, renewed, &ask(Some((questions, state))), "/mcp").await;
    assert_eq!(text_of(&serde_json::from_str(&done.body).unwrap()), "sure");
}
