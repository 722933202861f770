//! The end of a connection: closed, dropped, or broken by the other side.

use crate::peer::{begin_call, both, builder};

// spec: STDIO-12, LIFE-20
#[tokio::test(start_paused = true)]
async fn closing_ends_the_channel_and_every_clone() {
    for (client, mut peer) in both(builder()).await {
        let clone = client.clone();
        assert!(!client.is_closed());
        client.close().await;
        assert!(clone.is_closed());
        peer.hears_the_end().await;
        clone.close().await;
    }
}

#[tokio::test(start_paused = true)]
async fn dropping_the_last_clone_ends_the_channel() {
    for (client, mut peer) in both(builder()).await {
        let clone = client.clone();
        drop(client);
        peer.gets_nothing().await;
        drop(clone);
        peer.hears_the_end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_in_flight_keeps_the_connection() {
    for (client, mut peer) in both(builder()).await {
        let call = client.call("work", ());
        drop(client);
        let serve = async {
            let request = peer.request("tools/call").await;
            peer.answer_text(&request, "done").await;
            peer.hears_the_end().await;
        };
        let (outcome, ()) = tokio::join!(call.into_future(), serve);
        assert_eq!(outcome.unwrap().text(), "done");
    }
}

#[tokio::test(start_paused = true)]
async fn calls_in_flight_fail_when_the_client_is_closed() {
    for (client, mut peer) in both(builder()).await {
        let (call, _) = begin_call(&client, &mut peer).await;
        client.close().await;
        let error = call.await.unwrap_err();
        assert!(error.is_closed() && !error.may_retry());
        let expected = "calling `work`: the connection closed before the answer came";
        assert_eq!(error.to_string(), expected);
    }
}

// spec: LIFE-23
#[tokio::test(start_paused = true)]
async fn calls_in_flight_fail_when_the_server_closes_the_channel() {
    for (client, mut peer) in both(builder()).await {
        let (call, _) = begin_call(&client, &mut peer).await;
        drop(peer);
        let error = call.await.unwrap_err();
        assert!(error.is_closed() && !error.may_retry());
        assert!(client.is_closed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_on_a_closed_client_fails_at_once_and_is_known_to_be_unsent() {
    for (client, peer) in both(builder()).await {
        client.close().await;
        let error = client.call("work", ()).await.unwrap_err();
        assert!(error.is_closed() && error.may_retry());
        let expected = "calling `work`: it was not sent, because the connection is closed";
        assert_eq!(error.to_string(), expected);
        assert!(client.tools().all().await.unwrap_err().is_closed());
        drop(peer);
    }
}
