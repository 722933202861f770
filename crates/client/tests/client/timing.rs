//! Progress and timeouts.

use std::sync::Arc;
use std::time::Duration;

use bowline_client::Limits;
use bowline_client::types::progress::ProgressParams;
use futures_util::poll;
use serde_json::Value;
use tokio::time::{Instant, sleep};

use crate::peer::{Peer, Request, assert_call_works, both, builder, modern};

const SECOND: Duration = Duration::from_secs(1);

fn token(request: &Request) -> Value {
    request.params["_meta"]["progressToken"].clone()
}

/// Expects a cancellation from the client.
async fn is_cancelled(peer: &mut Peer, request: &Request) {
    let params = peer.notification("notifications/cancelled").await;
    assert_eq!(params["requestId"], request.id);
}

// spec: PROG-1, PROG-2, PROG-3, PROG-5
#[tokio::test(start_paused = true)]
async fn progress_is_reported_in_order_before_the_result() {
    for (client, mut peer) in both(builder()).await {
        let mut seen = Vec::new();
        let serve = async {
            let request = peer.request("tools/call").await;
            assert!(token(&request).is_i64() || token(&request).is_string());
            for step in [0.5, 1.0, 2.25] {
                peer.report(&token(&request), step).await;
            }
            peer.answer_text(&request, "done").await;
        };
        let call = client.call("work", ()).progress(|it: ProgressParams| seen.push(it.progress));
        let (outcome, ()) = tokio::join!(call.into_future(), serve);
        assert_eq!(outcome.unwrap().text(), "done");
        assert_eq!(seen, [0.5, 1.0, 2.25]);
    }
}

// spec: PROG-9, PROG-13
#[tokio::test(start_paused = true)]
async fn unrequested_and_late_progress_is_ignored() {
    for (client, mut peer) in both(builder()).await {
        let mut seen = 0;
        let serve = async {
            let silent = peer.request("tools/call").await;
            assert_eq!(silent.params["_meta"].get("progressToken"), None);
            let watched = peer.request("tools/call").await;
            peer.report(&Value::from(999), 1.0).await;
            peer.report(&Value::from("other"), 1.0).await;
            peer.answer_text(&silent, "one").await;
            peer.answer_text(&watched, "two").await;
            peer.report(&token(&watched), 1.0).await;
        };
        let silent = client.call("silent", ());
        let watched = client.call("watched", ()).progress(|_| seen += 1);
        let (one, two, ()) = tokio::join!(silent.into_future(), watched.into_future(), serve);
        assert_eq!((one.unwrap().text(), two.unwrap().text()), ("one".into(), "two".into()));
        peer.gets_nothing().await;
        assert_eq!(seen, 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_busy_caller_gets_the_newest_progress() {
    let (client, mut peer) = modern(builder()).await;
    let mut seen = Vec::new();
    let call = client.call("work", ()).progress(|it: ProgressParams| seen.push(it.progress));
    let mut call = call.into_future();
    assert!(poll!(&mut call).is_pending());
    let request = peer.request("tools/call").await;
    for step in 1..=100 {
        peer.report(&token(&request), f64::from(step)).await;
    }
    peer.answer_text(&request, "done").await;
    peer.gets_nothing().await;
    call.await.unwrap();
    assert_eq!(seen.len(), 32);
    assert_eq!(seen.last(), Some(&100.0));
}

#[tokio::test(start_paused = true)]
async fn a_panic_of_a_progress_function_fails_its_call_only() {
    let (client, mut peer) = modern(builder()).await;
    let call = client.call("work", ()).progress(|_| panic!("the bar is too long"));
    let call = tokio::spawn(call.into_future());
    let request = peer.request("tools/call").await;
    peer.report(&token(&request), 1.0).await;
    assert!(call.await.unwrap_err().is_panic());
    is_cancelled(&mut peer, &request).await;
    assert_call_works(&client, &mut peer).await;
}

// spec: TIME-1, TIME-2, TIME-3, TOOL-49
#[tokio::test(start_paused = true)]
async fn a_call_without_an_answer_times_out_and_is_cancelled() {
    for (client, mut peer) in both(builder()).await {
        let start = Instant::now();
        let (outcome, request) =
            tokio::join!(client.call("sleep", ()).into_future(), peer.request("tools/call"));
        let error = outcome.unwrap_err();
        assert_eq!(start.elapsed(), Limits::default().request_timeout);
        assert!(error.is_timeout() && !error.may_retry());
        assert_eq!(error.to_string(), "calling `sleep`: no answer came within 60s");
        is_cancelled(&mut peer, &request).await;
        peer.gets_nothing().await;
    }
}

// spec: TIME-4
#[tokio::test(start_paused = true)]
async fn a_call_may_have_its_own_timeout() {
    for (client, mut peer) in both(builder()).await {
        let start = Instant::now();
        let call = client.call("sleep", ()).timeout(3 * SECOND);
        let (outcome, _) = tokio::join!(call.into_future(), peer.request("tools/call"));
        assert!(outcome.unwrap_err().is_timeout());
        assert_eq!(start.elapsed(), 3 * SECOND);
    }
}

// spec: TIME-4
#[tokio::test(start_paused = true)]
async fn the_limits_set_the_timeout_of_all_calls() {
    let mut limits = Limits::default();
    limits.request_timeout = 7 * SECOND;
    for (client, mut peer) in both(builder().limits(limits)).await {
        let start = Instant::now();
        let call = client.call("sleep", ());
        let (outcome, _) = tokio::join!(call.into_future(), peer.request("tools/call"));
        assert!(outcome.unwrap_err().is_timeout());
        assert_eq!(start.elapsed(), 7 * SECOND);
    }
}

// spec: TIME-5, TIME-6
#[tokio::test(start_paused = true)]
async fn progress_restarts_the_clock_up_to_a_maximum() {
    for (client, mut peer) in both(builder()).await {
        let seen = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let start = Instant::now();
        let counter = Arc::clone(&seen);
        let call = client
            .call("work", ())
            .progress(move |_| {
                counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            })
            .timeout(3 * SECOND)
            .deadline(10 * SECOND);
        let serve = async {
            let request = peer.request("tools/call").await;
            for step in 1..=4 {
                sleep(2 * SECOND).await;
                peer.report(&token(&request), f64::from(step)).await;
            }
            is_cancelled(&mut peer, &request).await;
        };
        let (outcome, ()) = tokio::join!(call.into_future(), serve);
        assert!(outcome.unwrap_err().is_timeout());
        assert_eq!(start.elapsed(), 10 * SECOND);
        assert_eq!(seen.load(std::sync::atomic::Ordering::Relaxed), 4);
    }
}
