//! Pings: by hand, or by keep-alive.

use std::time::Duration;

use bowline_client::types::revision::Revision;
use bowline_client::{Client, ClientBuilder};
use tokio::time::{Instant, sleep};

use crate::peer::{Heard, Peer, Request, begin_call, builder, legacy, modern};

const SECOND: Duration = Duration::from_secs(1);

/// Both eras, one after the other: two connections at once would be silent for each other's time.
const ERAS: [bool; 2] = [true, false];

async fn meet(is_modern: bool, builder: ClientBuilder) -> (Client, Peer) {
    match is_modern {
        true => modern(builder).await,
        false => legacy(builder, Revision::LATEST_LEGACY).await,
    }
}

/// The ping of this era.
async fn question(client: &Client, peer: &mut Peer) -> Request {
    let is_modern = client.revision().is_modern();
    peer.request(if is_modern { "server/discover" } else { "ping" }).await
}

// spec: DISC-2
#[tokio::test(start_paused = true)]
async fn a_silent_server_is_pinged() {
    for era in ERAS {
        let (client, mut peer) = meet(era, builder()).await;
        let serve = async {
            let request = question(&client, &mut peer).await;
            peer.answer(&request, r#"{"resultType":"complete"}"#).await;
        };
        let (outcome, ()) = tokio::join!(client.ping().into_future(), serve);
        outcome.unwrap();
        let (outcome, _) =
            tokio::join!(client.ping().timeout(SECOND).into_future(), question(&client, &mut peer));
        assert!(outcome.unwrap_err().is_timeout());
    }
}

// spec: PING-3, PING-4, PING-6
#[tokio::test(start_paused = true)]
async fn a_server_that_sends_messages_is_not_pinged() {
    for era in ERAS {
        let (client, mut peer) = meet(era, builder().keep_alive(10 * SECOND, 2 * SECOND)).await;
        let start = Instant::now();
        sleep(6 * SECOND).await;
        peer.send(r#"{"jsonrpc":"2.0","method":"notifications/unheard-of"}"#).await;
        let request = question(&client, &mut peer).await;
        assert_eq!(start.elapsed(), 16 * SECOND);
        peer.answer(&request, r#"{"resultType":"complete"}"#).await;
        let request = question(&client, &mut peer).await;
        assert_eq!(start.elapsed(), 26 * SECOND);
        peer.refuse(&request, -32603, "busy").await;
        question(&client, &mut peer).await;
        assert_eq!(start.elapsed(), 36 * SECOND, "an error is a sign of life too");
    }
}

// spec: PING-2, PING-5, PING-7, PING-9
#[tokio::test(start_paused = true)]
async fn a_server_that_stays_silent_is_given_up() {
    let diagnostics = Heard::default();
    let builder = builder().on_diagnostic(diagnostics.hear()).keep_alive(10 * SECOND, 2 * SECOND);
    for era in ERAS {
        let (client, mut peer) = meet(era, builder.clone()).await;
        let start = Instant::now();
        let (call, _) = begin_call(&client, &mut peer).await;
        question(&client, &mut peer).await;
        let error = call.await.unwrap_err();
        assert!(error.is_closed());
        let why = "calling `work`: the connection closed before the answer came: the server is \
                   silent, and gave no sign of life within 2s";
        assert_eq!(error.to_string(), why);
        assert_eq!(start.elapsed(), 12 * SECOND);
        let error = client.call("work", ()).await.unwrap_err();
        assert!(error.may_retry() && error.to_string().ends_with("within 2s"), "{error}");
        peer.hears_the_end().await;
    }
    let expected = "the server is silent, and gave no sign of life within 2s";
    assert_eq!(diagnostics.all(), [expected, expected]);
}

/// It may be busy with the call. It is pinged again and again, because it may answer any of them.
#[tokio::test(start_paused = true)]
async fn a_server_with_a_running_call_may_be_silent_for_longer() {
    let patient = builder().keep_alive(10 * SECOND, 2 * SECOND).silence_during_calls(30 * SECOND);
    for era in ERAS {
        let (client, mut peer) = meet(era, patient.clone()).await;
        let (call, running) = begin_call(&client, &mut peer).await;
        let start = Instant::now();
        question(&client, &mut peer).await;
        question(&client, &mut peer).await;
        assert_eq!(start.elapsed(), 12 * SECOND);
        sleep(10 * SECOND).await;
        peer.answer(&running, r#"{"resultType":"complete","content":[]}"#).await;
        call.await.unwrap();
        // Without a call the usual time counts again, from the answer on.
        sleep(20 * SECOND).await;
        assert!(client.is_closed());

        let (client, mut peer) = meet(era, patient.clone()).await;
        let (call, _) = begin_call(&client, &mut peer).await;
        let start = Instant::now();
        assert!(call.await.unwrap_err().is_closed());
        assert_eq!(start.elapsed(), 30 * SECOND);
    }
}

#[tokio::test(start_paused = true)]
async fn every_message_of_a_server_is_a_sign_of_life() {
    for era in ERAS {
        let (client, mut peer) = meet(era, builder().keep_alive(10 * SECOND, 3 * SECOND)).await;
        let request = question(&client, &mut peer).await;
        for _ in 0..5 {
            sleep(2 * SECOND).await;
            peer.send(r#"{"jsonrpc":"2.0","method":"notifications/unheard-of"}"#).await;
        }
        peer.answer(&request, r#"{"resultType":"complete"}"#).await;
        question(&client, &mut peer).await;
        assert!(!client.is_closed());
    }
}

// spec: PING-6
#[tokio::test(start_paused = true)]
async fn the_interval_of_pings_is_at_least_a_second() {
    for era in ERAS {
        let (client, mut peer) = meet(era, builder().keep_alive(Duration::ZERO, SECOND)).await;
        let start = Instant::now();
        question(&client, &mut peer).await;
        assert_eq!(start.elapsed(), SECOND);
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_waits_for_the_user_is_not_silent() {
    let builder = builder().keep_alive(10 * SECOND, 2 * SECOND).on_ask(|question| async move {
        sleep(100 * SECOND).await;
        question.accept(())
    });
    let (client, mut peer) = legacy(builder, Revision::V2025_11_25).await;
    let question = r#"{"message":"?","requestedSchema":{"type":"object","properties":{}}}"#;
    let method = r#""method":"elicitation/create""#;
    peer.send(&format!(r#"{{"jsonrpc":"2.0","id":"q",{method},"params":{question}}}"#)).await;
    peer.request("ping").await;
    assert_eq!(peer.message().await["id"], "q");
    assert!(!client.is_closed());
}

#[tokio::test(start_paused = true)]
async fn without_the_option_no_server_is_pinged() {
    for (client, mut peer) in
        [modern(builder()).await, legacy(builder(), Revision::V2024_11_05).await]
    {
        sleep(3600 * SECOND).await;
        peer.gets_nothing().await;
        assert!(!client.is_closed());
    }
}
