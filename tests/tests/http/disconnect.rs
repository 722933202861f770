//! A client that disconnects: this cancels its call since 2026-07-28, and does not before.

use std::time::{Duration, Instant};

use bowline::types::revision::Revision;
use bowline_server::http::Http;
use serde_json::json;

use crate::http2::Http2Client;
use crate::test_server::{Random, TestServer, call, listen, text_of, within};
use crate::wire::Wire;

/// Disconnects, with FIN or RST.
fn hang_up(wire: Wire, random: &mut Random) {
    match random.below(2) {
        0 => wire.reset(),
        _ => drop(wire),
    }
}

// spec: CANC-16, HTTP-37, CANC-20
#[tokio::test]
async fn the_server_drops_a_modern_call_when_its_client_disconnects() {
    let server = TestServer::open().await;
    let mut random = Random(11);
    for _ in 0..100 {
        let mut wire = match random.below(3) {
            0 => Wire::send(server.address, &call("hold", json!({}))).await,
            1 => Wire::send(server.address, &call("tell", json!({ "count": 2 }))).await,
            _ => {
                server.handlers.step(1);
                let mut wire = server.stream(&call("tell", json!({ "count": 2 }))).await;
                within(wire.message()).await.unwrap();
                wire
            }
        };
        server.handlers.running(1).await;
        let hung_up = Instant::now();
        hang_up(wire, &mut random);
        server.handlers.running(0).await;
        assert!(hung_up.elapsed() < Duration::from_secs(1), "{:?}", hung_up.elapsed());
        wire = Wire::send(server.address, &call("echo", json!({ "text": "next" }))).await;
        assert_eq!(text_of(&within(wire.answer()).await.json()), "next");
    }
}

// spec: CANC-16
#[tokio::test]
async fn an_incomplete_http_request_starts_no_call() {
    let server = TestServer::open().await;
    let bytes = call("hold", json!({})).bytes();
    let mut random = Random(12);
    for _ in 0..100 {
        let mut wire = Wire::open(server.address).await;
        wire.write(&bytes[..random.below(bytes.len() as u64) as usize]).await;
        hang_up(wire, &mut random);
    }
    let answer = server.ask(&call("echo", json!({ "text": "fine" }))).await;
    assert_eq!(text_of(&answer.json()), "fine");
    server.handlers.running(0).await;
}

// spec: CANC-16, HTTP-37
#[tokio::test]
async fn over_http2_a_client_cancels_one_stream_and_keeps_the_connection() {
    let server = TestServer::with(Http::http2).await;
    let mut client = Http2Client::open(server.address).await;
    server.handlers.step(1);
    let answer = within(client.stream(&call("tell", json!({ "count": 2 })))).await;
    server.handlers.running(1).await;
    drop(answer);
    server.handlers.running(0).await;
    let request = call("echo", json!({ "text": "still here" }));
    let (status, body) = within(client.ask(b"localhost", &request)).await.unwrap();
    assert!(status == 200 && body.contains("still here"), "{body}");
}

// spec: SUB-11
#[tokio::test]
async fn a_subscription_ends_when_its_client_disconnects() {
    let server = TestServer::limited(|it| it.streams = 1).await;
    let listen = listen(json!({ "toolsListChanged": true }));
    let mut wire = server.stream(&listen).await;
    within(wire.message()).await.unwrap();
    assert_eq!(server.ask(&listen).await.status(), 503, "the first takes the one place");
    drop(wire);
    within(async { while server.ask_head(&listen).await.status != 200 {} }).await;
}

// spec: HTTP-27
#[tokio::test]
async fn a_call_of_a_session_runs_on_after_its_client_disconnects() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let mut random = Random(13);
    for round in 1..=10 {
        let silent = Wire::send(server.address, &session.call("hold", json!({}))).await;
        server.handlers.running(1).await;
        hang_up(silent, &mut random);
        server.handlers.step(1);
        server.handlers.ended(2 * round - 1).await;
        server.handlers.step(1);
        let mut told = server.stream(&session.call("tell", json!({ "count": 1 }))).await;
        let first = within(told.message()).await.unwrap().id.unwrap();
        hang_up(told, &mut random);
        server.handlers.step(1);
        server.handlers.ended(2 * round).await;
        let mut again = server.stream(&session.resume(&first)).await;
        assert_eq!(text_of(&within(again.messages()).await[0].json()), "told 1");
    }
}
