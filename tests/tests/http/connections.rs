//! Connections that are idle, and connections whose client is gone.

use std::time::{Duration, Instant};

use bowline_http::server::HttpLimits;
use bowline_types::revision::Revision;
use serde_json::json;
use socket2::{SockFilter, SockRef};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::http2::{Frames, Http2Client, LAST, kind};
use crate::test_server::{TestServer, call, limits, within};
use crate::wire::Wire;

const SHORT: Duration = Duration::from_millis(200);

fn echo() -> crate::wire::Request {
    call("echo", json!({ "text": "a" }))
}

// RFC 9112, 9.3: a client may keep a connection open; the timeout of a head is another limit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_may_be_idle_longer_than_the_head_timeout() {
    let server = TestServer::limited(|it| it.head = SHORT).await;
    let mut wire = Wire::open(server.address).await;
    let both = TestServer::with(|http| http.http2().limits(limits(|it| it.head = SHORT))).await;
    let mut client = Http2Client::open(both.address).await;
    let mut pause = tokio::time::interval(SHORT * 4);
    for _ in 0..3 {
        pause.tick().await;
        wire.write(&echo().bytes()).await;
        assert_eq!(within(wire.answer()).await.status(), 200);
        assert_eq!(within(client.ask(b"localhost", &echo())).await.unwrap().0, 200);
    }
    // The timeout of a head applies to every head on the connection.
    let begun = Instant::now();
    wire.write(&echo().head()[..40]).await;
    within(wire.closed()).await;
    assert!(begun.elapsed() >= SHORT && begun.elapsed() < SHORT * 10, "{:?}", begun.elapsed());
}

/// Limits with which an idle connection soon ends.
fn soon_idle(it: &mut HttpLimits) {
    (it.head, it.idle) = (SHORT, SHORT * 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_http2_connection_ends_without_an_error() {
    let server = TestServer::with(|http| http.http2().limits(limits(soon_idle))).await;
    let (mut client, ended) = Http2Client::watched(server.address).await;
    assert_eq!(within(client.ask(b"localhost", &echo())).await.unwrap().0, 200);
    within(ended).await.unwrap().expect("GOAWAY, not a reset");
}

// RFC 9113, 6.8: the first GOAWAY still allows requests that are in transit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_answers_a_request_that_crosses_the_end_of_an_idle_http2_connection() {
    let server = TestServer::with(|http| http.http2().limits(limits(soon_idle))).await;
    let mut frames = Frames::open(server.address).await;
    frames.request(1, &echo()).await;
    within(frames.read_kind(kind::GOAWAY)).await;
    frames.request(3, &echo()).await;
    // The server sends a PING, and refuses requests only after its answer.
    let mut seen = Vec::new();
    while let Some(frame) = within(frames.read()).await {
        if frame.kind == kind::PING {
            frames.write(kind::PING, LAST, 0, &frame.payload).await;
        }
        seen.push(frame);
    }
    let answered = seen.iter().find(|frame| frame.kind == kind::HEADERS && frame.stream == 3);
    // An indexed field: `:status: 200`.
    assert_eq!(answered.and_then(|head| head.payload.first()), Some(&0x88), "{seen:?}");
    let last = seen.iter().rfind(|frame| frame.kind == kind::GOAWAY).expect("the last word");
    assert_eq!(last.payload[..4], 3u32.to_be_bytes(), "it was served");
}

// RFC 9112, 9.6: if a server closes at once while the client still sends, the system
// discards response data that the client has not read yet.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_gets_a_refusal_that_is_sent_while_it_still_writes() {
    let server = TestServer::open().await;
    let request = call("echo", json!({ "text": "x".repeat(3 << 20) }));
    let bytes = request.set("Content-Type", "text/plain").bytes();
    let (half, rest) = bytes.split_at(bytes.len() / 2);
    let mut wire = Wire::open(server.address).await;
    wire.stream.write_all(half).await.unwrap();
    assert_eq!(within(wire.answer()).await.status(), 415);
    within(wire.stream.write_all(rest)).await.expect("the rest is taken");
    assert_eq!(within(wire.stream.read(&mut [0])).await.expect("no reset"), 0);
}

// RFC 9112, 9.6: a client that is not told may send its next request on a connection that the server
// closes. It cannot know whether that request was served, so it has to fail it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refusal_says_that_the_connection_ends_if_the_body_has_not_come() {
    let server = TestServer::open().await;
    let request = echo().set("Content-Type", "text/plain");
    for refused in [request.clone(), request.with("Expect", "100-continue")] {
        let mut wire = Wire::open(server.address).await;
        wire.write(&refused.head()).await;
        let head = within(wire.head()).await;
        assert_eq!((head.status, head.header("connection")), (415, Some("close")));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_is_used_further_after_a_refusal_if_the_body_has_come() {
    let server = TestServer::open().await;
    let mut wire = Wire::open(server.address).await;
    wire.write(&echo().set("Content-Type", "text/plain").bytes()).await;
    let refusal = within(wire.answer()).await;
    assert_eq!((refusal.status(), refusal.header("connection")), (415, None));
    wire.write(&echo().bytes()).await;
    assert_eq!(within(wire.answer()).await.status(), 200);
}

// Half-open connections: the client is gone, and the network does not report it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_notices_a_client_that_is_gone() {
    let server = TestServer::limited(|it| it.unreachable = Duration::from_secs(3)).await;
    // One connection that is written to, one that is not, and one between two requests.
    let session = server.session(Revision::V2025_11_25).await;
    let mut told = server.stream(&session.get()).await;
    server.notify.tools_changed();
    within(told.message()).await.unwrap();
    let waiting = Wire::send(server.address, &call("forever", json!({}))).await;
    server.handlers.running(1).await;
    for wire in [&told, &waiting] {
        // The kernel drops all packets before TCP sees them, so nothing is acknowledged any more.
        let nothing = SockFilter::new(0x06, 0, 0, 0);
        SockRef::from(&wire.stream).attach_filter(&[nothing]).unwrap();
    }
    let begun = Instant::now();
    server.notify.tools_changed();
    server.handlers.running(0).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}
