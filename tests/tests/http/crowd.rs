//! Clients with very many connections that they hardly use do not keep others out.

use std::time::{Duration, Instant};

use bowline_http::server::HttpLimits;
use serde_json::json;

use crate::http2::Http2Client;
use crate::test_server::{NEIGHBOUR, TestServer, call, limits, within};
use crate::wire::{Request, Wire};

/// How long a client may keep a full server waiting in these tests.
const CROWDED: Duration = Duration::from_millis(200);

fn echo() -> Request {
    call("echo", json!({ "text": "a" }))
}

/// Opens connections that write these bytes and nothing more.
async fn unfinished(server: &TestServer, bytes: &[u8], count: usize) -> Vec<Wire> {
    let mut wires = Vec::new();
    for _ in 0..count {
        let mut wire = Wire::open(server.address).await;
        wire.write(bytes).await;
        wires.push(wire);
    }
    wires
}

/// A head, and the first byte of its body.
fn begun_body() -> Vec<u8> {
    [echo().head().as_slice(), b"{"].concat()
}

fn eight(it: &mut HttpLimits) {
    (it.connections, it.connections_per_address, it.crowded) = (8, 8, CROWDED);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_full_of_unfinished_requests_still_serves_a_good_client() {
    for bytes in [begun_body(), echo().head()[..20].to_vec(), Vec::new()] {
        let server = TestServer::limited(eight).await;
        let slow = unfinished(&server, &bytes, 12).await;
        let begun = Instant::now();
        for from in [NEIGHBOUR, server.address.ip()] {
            assert_eq!(server.ask_from(from, &echo()).await.status(), 200);
        }
        let limits = HttpLimits::default();
        assert!(begun.elapsed() < limits.head, "{:?}", begun.elapsed());
        drop(slow);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_drips_a_body_into_a_full_server_is_cut() {
    let server = TestServer::limited(eight).await;
    let mut dripping = unfinished(&server, &begun_body(), 8).await;
    let drip = tokio::spawn(async move {
        let mut pause = tokio::time::interval(CROWDED / 10);
        loop {
            pause.tick().await;
            for wire in &mut dripping {
                wire.write(b" ").await;
            }
        }
    });
    let begun = Instant::now();
    assert_eq!(server.ask_from(NEIGHBOUR, &echo()).await.status(), 200);
    assert!(begun.elapsed() < HttpLimits::default().head, "{:?}", begun.elapsed());
    drip.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_beyond_its_share_gives_up_its_own_unfinished_requests() {
    let share = |it: &mut HttpLimits| {
        eight(it);
        it.connections_per_address = 4;
    };
    let server = TestServer::limited(share).await;
    let mut neighbour = Wire::send_from(NEIGHBOUR, server.address, &call("hold", json!({}))).await;
    server.handlers.running(1).await;
    let slow = unfinished(&server, &begun_body(), 4).await;
    let served = async {
        loop {
            let mut wire = Wire::send(server.address, &echo()).await;
            if let Some(head) = wire.try_head().await {
                return head.status;
            }
        }
    };
    assert_eq!(within(served).await, 200);
    server.handlers.step(1);
    assert_eq!(within(neighbour.answer()).await.status(), 200);
    drop(slow);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_server_cuts_no_connection_whose_client_waits_for_an_answer() {
    let http2 = limits(eight);
    for (server, is_http2) in [
        (TestServer::limited(eight).await, false),
        (TestServer::with(|http| http.http2().limits(http2)).await, true),
    ] {
        let address = server.address;
        let held = tokio::spawn(async move {
            let hold = call("hold", json!({}));
            match is_http2 {
                true => Http2Client::open(address).await.ask(b"localhost", &hold).await.unwrap().0,
                false => Wire::send(address, &hold).await.answer().await.status(),
            }
        });
        server.handlers.running(1).await;
        let slow = unfinished(&server, &begun_body(), 12).await;
        for _ in 0..3 {
            assert_eq!(server.ask_from(NEIGHBOUR, &echo()).await.status(), 200);
        }
        server.handlers.step(1);
        assert_eq!(within(held).await.unwrap(), 200);
        drop(slow);
    }
}
