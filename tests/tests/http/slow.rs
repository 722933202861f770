//! A client that reads nothing: cut after a while, and nobody else notices.

use std::time::{Duration, Instant};

use bowline::types::revision::Revision;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpSocket, TcpStream};

use crate::stage::{Stage, call, text_of, within};
use crate::wire::Request;

const STALL: Duration = Duration::from_millis(400);

/// Sends a request and reads nothing, with as little room as the system allows.
async fn stalled(stage: &Stage, request: &Request) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    let mut stream = socket.connect(stage.address).await.unwrap();
    stream.write_all(&request.bytes()).await.unwrap();
    stream
}

/// Bytes that this process holds.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/statm").unwrap();
    status.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

// spec: HTTP-37
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_stalled_reader_of_twenty_is_cut_and_the_others_go_on() {
    let stage = Stage::limited(|it| it.stall = STALL).await;
    let before = resident();
    // Many times what all buffers together hold.
    let flood = call("flood", json!({ "count": 4000, "bytes": 16384 }));
    let stalled = stalled(&stage, &flood).await;
    stage.play.running(1).await;
    let begun = Instant::now();
    let others: Vec<_> = (0..19)
        .map(|_| {
            let address = stage.address;
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
    stage.play.running(0).await;
    let cut = begun.elapsed();
    assert!(STALL <= cut && cut < STALL + Duration::from_secs(4), "cut after {cut:?}");
    let grown = resident().saturating_sub(before);
    assert!(grown < 32 << 20, "what waits is bounded, but {grown} bytes more are held");
    drop(stalled);
}

// spec: RESUME-5, HTTP-27
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_survives_a_stream_that_stalled() {
    let stage = Stage::limited(|it| it.stall = STALL).await;
    let session = stage.session(Revision::V2025_11_25).await;
    let flood = session.call("flood", json!({ "count": 400, "bytes": 16384 }));
    let stalled = stalled(&stage, &flood).await;
    stage.play.running(1).await;
    // The call runs on although nobody reads, and comes to its end.
    stage.play.step(1);
    stage.play.running(0).await;
    let echo = session.call("echo", json!({ "text": "here" }));
    assert_eq!(text_of(&stage.ask(&echo).await.json()), "here");
    drop(stalled);
}
