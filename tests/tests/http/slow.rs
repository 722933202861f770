//! A client that reads slowly gets its whole answer; the server closes a stream that is not read, or
//! hardly, after a while, and other clients do not notice.

use std::time::{Duration, Instant};

use bowline_http::server::HttpLimits;
use bowline_types::revision::Revision;
use http_body_util::BodyExt;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::http2::Http2Client;
use crate::test_server::{TestServer, call, limits, text_of, within};
use crate::wire::{Request, Wire};

const STALL: Duration = Duration::from_millis(400);

/// Sends a request and reads nothing, with the smallest receive buffer that the system allows.
async fn stalled(server: &TestServer, request: &Request) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(server.address).await.unwrap();
    stream.write_all(&request.bytes()).await.unwrap();
    stream
}

/// Bytes that this process has allocated.
pub(crate) fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

/// Whether this test is alone in its process, which it needs to measure memory. If not, it runs in
/// its own process before this returns, and must pass there.
pub(crate) async fn is_alone(test: &str) -> bool {
    const ALONE: &str = "BOWLINE_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let mut command = tokio::process::Command::new(std::env::current_exe().unwrap());
    let ran = command.args([test, "--exact"]).env(ALONE, "1").output().await.unwrap();
    let printed = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && printed.contains("1 passed"), "{test}: {printed}");
    false
}

// spec: HTTP-37
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_closes_the_one_stalled_stream_of_twenty() {
    if !is_alone("slow::the_server_closes_the_one_stalled_stream_of_twenty").await {
        return;
    }
    let server = TestServer::limited(|it| it.stall = STALL).await;
    let before = resident();
    // Many times the size of all buffers together.
    let flood = call("flood", json!({ "count": 4000, "bytes": 16384 }));
    let stalled = stalled(&server, &flood).await;
    server.handlers.running(1).await;
    let begun = Instant::now();
    let others: Vec<_> = (0..19)
        .map(|_| {
            let address = server.address;
            tokio::spawn(async move {
                let mut wire = crate::wire::Wire::open(address).await;
                for number in 0..20 {
                    let text = number.to_string();
                    wire.write(&call("echo", json!({ "text": text })).bytes()).await;
                    assert_eq!(text_of(&within(wire.answer()).await.json()), text);
                }
            })
        })
        .collect();
    for other in others {
        other.await.unwrap();
    }
    server.handlers.running(0).await;
    let cut = begun.elapsed();
    assert!(STALL <= cut && cut < STALL + Duration::from_secs(4), "cut after {cut:?}");
    let grown = resident().saturating_sub(before);
    assert!(grown < 32 << 20, "what waits is bounded, but {grown} bytes more are held");
    drop(stalled);
}

// spec: RESUME-5, HTTP-27
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_survives_a_stalled_stream() {
    let server = TestServer::limited(|it| it.stall = STALL).await;
    let session = server.session(Revision::V2025_11_25).await;
    let flood = session.call("flood", json!({ "count": 400, "bytes": 16384 }));
    let stalled = stalled(&server, &flood).await;
    server.handlers.running(1).await;
    // The call runs to its end although no client reads.
    server.handlers.step(1);
    server.handlers.running(0).await;
    let echo = session.call("echo", json!({ "text": "here" }));
    assert_eq!(text_of(&server.ask(&echo).await.json()), "here");
    drop(stalled);
}

/// More than the system buffers for a client that does not read.
const LONG: usize = 3_800_000;

/// Longer than the timeouts of idle connections, heads and stalled readers in this test.
const READING: Duration = Duration::from_secs(3);

// A slow reader is not a stalled one: see the limits of writing in docs/design/0010-http.md.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_reads_slowly_gets_the_whole_answer() {
    let short = |it: &mut HttpLimits| {
        it.head = Duration::from_millis(200);
        it.stall = Duration::from_secs(1);
    };
    let server = TestServer::limited(short).await;
    let mut stream = stalled(&server, &call("long", json!({ "bytes": LONG }))).await;
    let mut read = Vec::new();
    let mut pace = tokio::time::interval(Duration::from_millis(50));
    let begun = Instant::now();
    while begun.elapsed() < READING {
        pace.tick().await;
        let mut some = [0; 8192];
        let count = within(stream.read(&mut some)).await.unwrap();
        assert_ne!(count, 0, "cut after {:?}, with {} bytes", begun.elapsed(), read.len());
        read.extend_from_slice(&some[..count]);
    }
    assert!(read.len() < LONG / 2, "it reads slowly");
    let mut wire = Wire::read_before(stream, read);
    let answer = within(wire.answer()).await;
    assert_eq!(text_of(&answer.json()).len(), LONG);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http2_a_client_that_reads_slowly_gets_the_whole_answer() {
    let limits = limits(|it| {
        it.head = Duration::from_millis(200);
        it.stall = Duration::from_secs(1);
    });
    let server = TestServer::with(|http| http.http2().limits(limits)).await;
    let mut client = Http2Client::with_window(server.address, 64 * 1024).await;
    let answer = within(client.stream(&call("long", json!({ "bytes": LONG })))).await;
    let mut body = answer.into_body();
    let mut read = Vec::new();
    let mut pace = tokio::time::interval(Duration::from_millis(50));
    let begun = Instant::now();
    while begun.elapsed() < READING {
        pace.tick().await;
        let frame = within(body.frame()).await.expect("more of the answer").expect("no reset");
        read.extend_from_slice(&frame.into_data().unwrap());
    }
    assert!(read.len() < LONG / 2, "it reads slowly");
    read.extend_from_slice(&within(body.collect()).await.unwrap().to_bytes());
    let answer: serde_json::Value = serde_json::from_slice(&read).unwrap();
    assert_eq!(text_of(&answer).len(), LONG);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http2_the_server_resets_only_the_stream_whose_window_stays_closed() {
    let limits = limits(|it| it.stall = STALL);
    let server = TestServer::with(|http| http.http2().limits(limits)).await;
    let mut client = Http2Client::with_window(server.address, 64 * 1024).await;
    // An answer that waits in HTTP/2, a handler that still sends, and an answer of which no
    // byte may be sent.
    let long = within(client.stream(&call("long", json!({ "bytes": LONG })))).await;
    let flood = call("flood", json!({ "count": 4000, "bytes": 16384 }));
    let told = within(client.stream(&flood)).await;
    let mut shut = Http2Client::with_window(server.address, 0).await;
    let none = within(shut.stream(&call("echo", json!({ "text": "a" })))).await;
    server.handlers.running(0).await;
    for stalled in [long, told, none] {
        let error = within(stalled.into_body().collect()).await.unwrap_err();
        assert!(error.to_string().contains("error"), "{error}");
    }
    let echo = call("echo", json!({ "text": "a" }));
    assert_eq!(within(client.ask(b"localhost", &echo)).await.unwrap().0, 200);
}
