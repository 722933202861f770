//! Cancelling by dropping, and the races around it.

use crate::peer::{Heard, assert_call_works, begin_call, both, builder};

// spec: CANC-1, CANC-4, CANC-14, CANC-15, CANC-17
#[tokio::test(start_paused = true)]
async fn dropping_a_call_cancels_it_once() {
    for (client, mut peer) in both(builder()).await {
        let (call, request) = begin_call(&client, &mut peer).await;
        drop(call);
        let params = peer.notification("notifications/cancelled").await;
        assert_eq!(params["requestId"], request.id);
        assert!(params["reason"].is_string());
        peer.gets_nothing().await;
    }
}

// spec: CANC-9, CANC-10
#[tokio::test(start_paused = true)]
async fn an_answer_that_crosses_the_cancellation_is_dropped_without_a_word() {
    let heard = Heard::default();
    for (client, mut peer) in both(builder().on_diagnostic(heard.hear())).await {
        let (call, request) = begin_call(&client, &mut peer).await;
        drop(call);
        peer.notification("notifications/cancelled").await;
        peer.report(&request.id.into(), 1.0).await;
        peer.answer_text(&request, "late").await;
        assert_call_works(&client, &mut peer).await;
    }
    assert_eq!(heard.all(), [""; 0]);
}

// spec: CANC-1, CANC-17
#[tokio::test(start_paused = true)]
async fn a_call_that_was_answered_is_not_cancelled() {
    for (client, mut peer) in both(builder()).await {
        let (call, request) = begin_call(&client, &mut peer).await;
        peer.answer_text(&request, "done").await;
        peer.gets_nothing().await;
        drop(call);
        peer.gets_nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_never_awaited_is_never_sent() {
    for (client, mut peer) in both(builder()).await {
        drop(client.call("work", ()).into_future());
        peer.gets_nothing().await;
    }
}
