//! Connections that end at the wrong moment, at real sockets.

use std::time::{Duration, Instant};

use bowline_proto::client::{CallError, CallRequest};
use bowline_proto::transmit::FailureKind;
use bowline_types::json::Object;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::timeout;

use crate::raw::{Raw, WATCHED};
use crate::support::{done, tool};

fn list() -> CallRequest {
    CallRequest::new(Method::ToolsList, Object::default())
}

#[tokio::test]
async fn a_request_that_may_be_sent_twice_is_sent_again_when_its_used_connection_is_cut() {
    let raw = Raw::new().await;
    let (link, mut socket) = raw.meet_modern().await;
    let call = link.call(list(), None);
    let server = async {
        let first = socket.request("tools/list").await;
        drop(socket);
        let mut socket = raw.accept().await;
        let again = socket.request("tools/list").await;
        assert_eq!(again.json(), first.json());
        let result = json!({ "resultType": "complete", "tools": [], "ttlMs": 0,
            "cacheScope": "public" });
        socket.answer(&again, "", &result).await;
        socket
    };
    let (outcome, server) = tokio::join!(call, timeout(Duration::from_secs(5), server));
    outcome.unwrap();

    // The tool may have run.
    let mut socket = server.unwrap();
    let call = link.call(tool("pay"), None);
    socket.request("tools/call").await;
    drop(socket);
    let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Lost);
    assert!(reason.contains("ended before the answer"), "{reason}");
    assert!(timeout(WATCHED, raw.accept()).await.is_err(), "the call was sent again");

    // A request on a new connection is not sent again: that would overrun a failing server.
    let call = link.call(list(), None);
    let mut socket = raw.accept().await;
    socket.request("tools/list").await;
    drop(socket);
    let CallError::Failed { kind, .. } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Lost);
    assert!(timeout(WATCHED, raw.accept()).await.is_err(), "the request was sent again");
}

/// The runtime is busy when the server closes the connection, so the client has not noticed it.
#[tokio::test]
async fn a_connection_is_checked_before_it_is_used_again() {
    let raw = Raw::new().await;
    let (link, socket) = raw.meet_modern().await;
    drop(socket);
    let closed = Instant::now();
    while closed.elapsed() < Duration::from_millis(50) {
        std::hint::spin_loop();
    }
    let call = link.call(tool("pay"), None);
    let server = async {
        let mut socket = raw.accept().await;
        let asked = socket.request("tools/call").await;
        socket.answer(&asked, "", &done()).await;
    };
    let (outcome, served) = tokio::join!(call, timeout(Duration::from_secs(5), server));
    outcome.unwrap();
    served.unwrap();
}

// spec: RESUME-4, RESUME-7
#[tokio::test]
async fn a_client_resumes_before_an_event_that_was_cut() {
    let raw = Raw::new().await;
    let (link, mut get) = raw.meet(Revision::V2025_11_25, raw.shake_hands()).await;
    get.write("HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n").await;
    let call = link.call(tool("slow"), None);
    let mut socket = get;
    let id = socket.request("tools/call").await.json()["id"].clone();
    socket.begin_events().await;
    socket.piece("id: a/2\ndata:\n\n").await;
    socket.piece("id: a/3\ndata: {\"js").await;
    drop(socket);
    let mut socket = raw.accept().await;
    let get = socket.next().await;
    assert!(get.head.lines().any(|line| line == "last-event-id: a/2"), "{}", get.head);
    socket.begin_events().await;
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": done() });
    socket.piece(&format!("id: a/3\ndata: {answer}\n\n")).await;
    call.await.unwrap();
}

// spec: HTTP-36
#[tokio::test]
async fn a_socket_that_closes_amid_a_stream_is_noticed() {
    let raw = Raw::new().await;
    let (link, mut socket) = raw.meet_modern().await;
    let call = link.call(tool("echo"), None);
    // The same connection is used again.
    socket.request("tools/call").await;
    socket.begin_events().await;
    socket.write("10\r\n: hello\n\ndata: {").await;
    drop(socket);
    let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Lost);
    assert!(reason.contains("the answer broke off"), "{reason}");
}
