//! What the endpoints of a store tell each other about a session. In virtual time.

use std::time::Duration;

use bowline_http::store::wrapper::OperationKind;
use serde_json::json;
use tokio::time::sleep;

use super::replica::{Replica, store};
use crate::test_server::{Session, text_of};
use crate::wire::Request;

/// An answer to a question that another endpoint may have asked, with a text of so many bytes.
fn answer(session: &Session, bytes: usize) -> Request {
    let result = json!({ "text": "x".repeat(bytes) });
    let id = (9_u64 << 32) + 1;
    session.post(json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string())
}

fn cancellation(session: &Session) -> Request {
    let params = json!({ "requestId": "unknown" });
    let body = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    session.post(body.to_string())
}

/// Whether the last request published anything.
fn has_published(replica: &Replica) -> bool {
    replica.link.kinds().contains(&OperationKind::Publish)
}

// Every endpoint reads what one of them passes on.
#[tokio::test(start_paused = true)]
async fn a_session_passes_on_so_many_bytes_of_answers_per_minute_and_refuses_more() {
    let replica = Replica::on(&store());
    let session = replica.session().await;
    let long = answer(&session, 1024 * 1024);
    for sent in 0..15 {
        assert_eq!(replica.ask(&long).await.0, 202, "{sent} MiB were passed on");
        assert!(has_published(&replica));
    }
    let refused = replica.send(&long).await;
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"), "{refused:?}");
    let (status, reason) = replica.ask(&long).await;
    assert!(status == 429 && reason.contains("16 MiB"), "{reason}");
    assert!(!has_published(&replica), "a refused answer goes nowhere");
    let echo = session.call("echo", json!({ "text": "hello" }));
    let (_, answered) = replica.ask(&echo).await;
    assert_eq!(text_of(&serde_json::from_str(&answered).unwrap()), "hello");
    sleep(Duration::from_secs(10)).await;
    assert_eq!(replica.ask(&long).await.0, 202);
}

#[tokio::test(start_paused = true)]
async fn a_session_passes_on_so_many_cancellations_per_minute_and_refuses_more() {
    let replica = Replica::on(&store());
    let session = replica.session().await;
    let cancel = cancellation(&session);
    let mut taken = 0;
    while taken < 10_000 && replica.ask(&cancel).await.0 == 202 {
        taken += 1;
    }
    assert_eq!(taken, 4096);
    let echo = session.call("echo", json!({ "text": "hello" }));
    assert_eq!(replica.ask(&echo).await.0, 200, "a call is for this endpoint alone");
}
