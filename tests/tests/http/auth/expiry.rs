//! Streams that outlast the token they were opened with, in virtual time.

use std::time::Duration;

use bowline::{Log, Tool};
use bowline_http::server::{Body, Endpoint};
use bowline_types::revision::Revision;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{admit, by, server};
use crate::test_server::{Session, call, initialize, listen};
use crate::wire::Request;

const MINUTE: Duration = Duration::from_secs(60);

/// A token that is valid for a minute.
const TOKEN: &str = "ann@issuer mcp 60";

fn endpoint() -> Endpoint {
    let slow = |log: Log| async move {
        log.info("begun");
        sleep(2 * MINUTE).await;
        "done"
    };
    let server = server().0.tool(Tool::new("slow", slow));
    server.http().public_url("http://localhost/mcp").auth(admit()).sse2024().build().unwrap()
}

async fn send(endpoint: &Endpoint, request: &Request) -> http::Response<Body> {
    let request = by(TOKEN, request.clone());
    let (method, headers, body) = request.parts();
    let mut asked = http::Request::builder().method(method).uri("/mcp");
    for (name, value) in headers {
        asked = asked.header(name, value.as_slice());
    }
    endpoint.answer(asked.body(Full::new(Bytes::copy_from_slice(body))).unwrap()).await
}

/// Reads a stream to its end. Returns its text, and how long it took.
async fn read(endpoint: &Endpoint, request: &Request) -> (String, Duration) {
    let begin = Instant::now();
    let answer = send(endpoint, request).await;
    assert_eq!(answer.headers()["content-type"], "text/event-stream", "{request:?}");
    let whole = tokio::time::timeout(10 * MINUTE, answer.into_body().collect()).await;
    let text = whole.expect("the stream ends").unwrap().to_bytes();
    (String::from_utf8(text.to_vec()).unwrap(), begin.elapsed())
}

async fn open(endpoint: &Endpoint) -> Session {
    let opened = send(endpoint, &Request::post(initialize(Revision::V2025_11_25))).await;
    let id = opened.headers()["mcp-session-id"].to_str().unwrap().to_owned();
    let session = Session { id, revision: Revision::V2025_11_25 };
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(send(endpoint, &session.post(initialized)).await.status(), 202);
    session
}

// spec: SBP-12, TOK-18
#[tokio::test(start_paused = true)]
async fn stream_ends_with_token() {
    let endpoint = endpoint();
    let (subscription, time) = read(&endpoint, &listen(json!({ "toolsListChanged": true }))).await;
    assert_eq!(time, MINUTE);
    // It ends as if the server stopped: with an answer.
    assert!(subscription.contains("\"id\":\"sub\""), "{subscription}");
    let session = open(&endpoint).await;
    assert_eq!(read(&endpoint, &session.get()).await.1, MINUTE);
    assert_eq!(read(&endpoint, &session.resume("0.0")).await.1, MINUTE);
    assert_eq!(read(&endpoint, &Request::get()).await.1, MINUTE, "the stream of 2024-11-05");
    assert_eq!(endpoint.sessions(), 1, "which ends its session");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_began_with_a_good_token_ends_with_its_answer() {
    let endpoint = endpoint();
    let session = open(&endpoint).await;
    for request in [call("slow", json!({})), session.call("slow", json!({}))] {
        let (text, time) = read(&endpoint, &request).await;
        assert_eq!(time, 2 * MINUTE);
        assert!(text.contains("\"done\""), "{text}");
    }
}
