//! The moment after a handshake: calls wait until it is known whether the server has a stream.

use std::sync::Arc;
use std::time::Duration;

use bowline_transport::connect::Link;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::time::Instant;

use crate::support::{Double, Knock, User, done, double, link, tool};

/// A session whose GET for the server's own stream is not answered yet.
async fn opening() -> (Link, Double, Arc<User>, Knock) {
    let (transport, mut double) = double();
    let user = Arc::new(User::default());
    let server = async {
        double.expect("initialize").await.initialize(&json!("2025-11-25"), Some("first"));
        double.expect("notifications/initialized").await.status(202);
        double.expect_get().await
    };
    let (link, get) = tokio::join!(link(transport, Revision::V2025_11_25, &user), server);
    (link.unwrap(), double, user, get)
}

// spec: HTTP-38, HTTP-40
#[tokio::test(start_paused = true)]
async fn no_call_is_sent_before_the_server_has_answered_the_get() {
    for status in [405, 200, 500, 409, 401] {
        let (link, mut double, _, get) = opening().await;
        let call = link.call(tool("echo"), None);
        tokio::time::sleep(Duration::from_secs(2)).await;
        assert!(double.is_idle(), "a call overtook the GET, which is answered {status}");
        let answered = Instant::now();
        let _stream = match status {
            200 => Some(get.events()),
            _ => {
                get.status(status);
                None
            }
        };
        double.expect("tools/call").await.result(&done());
        call.await.unwrap();
        assert_eq!(answered.elapsed(), Duration::ZERO, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_drops_the_connection_of_the_get_is_called_all_the_same() {
    let (link, mut double, _, get) = opening().await;
    let call = link.call(tool("echo"), None);
    let gone = Instant::now();
    drop(get);
    double.expect("tools/call").await.result(&done());
    call.await.unwrap();
    assert_eq!(gone.elapsed(), Duration::ZERO);
    // And the stream is asked for again.
    double.expect_get().await.status(405);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_holds_back_the_head_of_its_stream_delays_calls_for_three_seconds() {
    let (link, mut double, user, get) = opening().await;
    let begun = Instant::now();
    let call = link.call(tool("echo"), None);
    double.expect("tools/call").await.result(&done());
    assert_eq!(begun.elapsed(), Duration::from_secs(3));
    call.await.unwrap();
    let call = link.call(tool("echo"), None);
    double.expect("tools/call").await.result(&done());
    call.await.unwrap();
    assert_eq!(begun.elapsed(), Duration::from_secs(3), "only the first calls are delayed");
    // The stream is still wanted.
    let change = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    let events = get.events();
    events.message(&change);
    user.changed.notified().await;
}
