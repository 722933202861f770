//! Subscriptions as streams, on sessions up to 2025-11-25.

use std::time::Duration;

use bowline_client::types::revision::Revision;
use bowline_client::types::subscription::SubscriptionFilter;
use bowline_client::{Change, Changes, Client};
use futures_util::{StreamExt, poll};
use serde_json::json;

use crate::peer::{Heard, Peer, Request, builder, legacy_with};
use crate::subscribe::all;

async fn session() -> (Client, Peer) {
    legacy_with(builder(), Revision::LATEST_LEGACY, &all()).await
}

async fn updated(peer: &mut Peer, uri: &str) {
    peer.notify("notifications/resources/updated", &json!({ "uri": uri })).await;
}

/// Expects a request about a resource, and answers with success.
async fn done(peer: &mut Peer, method: &str, uri: &str) -> Request {
    let request = peer.request(method).await;
    assert_eq!(request.params, json!({ "uri": uri }));
    peer.answer(&request, "{}").await;
    request
}

async fn follows(client: &Client, peer: &mut Peer, uri: &str) -> Changes {
    let open = client.subscribe().resource(uri).open();
    let (changes, _) = tokio::join!(open, done(peer, "resources/subscribe", uri));
    changes.unwrap()
}

async fn is_unsubscribed(peer: &mut Peer, uri: &str) {
    done(peer, "resources/unsubscribe", uri).await;
    peer.gets_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn lists_need_no_request_in_any_revision() {
    for revision in Revision::ALL.iter().filter(|it| !it.is_modern()) {
        let (client, mut peer) = legacy_with(builder(), *revision, &all()).await;
        let open = client.subscribe().tools().prompts().resources().open();
        let mut changes = open.await.unwrap();
        assert!(changes.missing().is_empty());
        peer.gets_nothing().await;
        peer.notify("notifications/resources/list_changed", &json!({})).await;
        peer.notify("notifications/tools/list_changed", &json!({})).await;
        peer.notify("notifications/prompts/list_changed", &json!({})).await;
        for expected in [Change::Resources, Change::Tools, Change::Prompts] {
            assert_eq!(changes.next().await.unwrap().unwrap(), expected);
        }
        drop(changes);
        peer.gets_nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_subscribed_to_and_unsubscribed() {
    let (client, mut peer) = session().await;
    let mut changes = follows(&client, &mut peer, "a:/1").await;
    updated(&mut peer, "a:/2").await;
    updated(&mut peer, "a:/1/x").await;
    updated(&mut peer, "a:/1").await;
    peer.notify("notifications/tools/list_changed", &json!({})).await;
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Resource("a:/1/x".to_owned()));
    assert_eq!(changes.next().await.unwrap().unwrap(), Change::Resource("a:/1".to_owned()));
    assert!(poll!(StreamExt::next(&mut changes)).is_pending());
    drop(changes);
    is_unsubscribed(&mut peer, "a:/1").await;
}

#[tokio::test(start_paused = true)]
async fn a_resource_is_unsubscribed_with_its_last_subscription() {
    let (client, mut peer) = session().await;
    let first = follows(&client, &mut peer, "a:/1").await;
    let mut second = follows(&client, &mut peer, "a:/1").await;
    drop(first);
    peer.gets_nothing().await;
    updated(&mut peer, "a:/1").await;
    assert_eq!(second.next().await.unwrap().unwrap(), Change::Resource("a:/1".to_owned()));
    drop(second);
    is_unsubscribed(&mut peer, "a:/1").await;
}

#[tokio::test(start_paused = true)]
async fn a_change_before_the_answer_is_not_lost() {
    let (client, mut peer) = session().await;
    let serve = async {
        let request = peer.request("resources/subscribe").await;
        updated(&mut peer, "a:/1").await;
        peer.answer(&request, "{}").await;
    };
    let (changes, ()) = tokio::join!(client.subscribe().resource("a:/1").open(), serve);
    let change = changes.unwrap().next().await.unwrap().unwrap();
    assert_eq!(change, Change::Resource("a:/1".to_owned()));
}

// spec: CAP-2, SUB-7
#[tokio::test(start_paused = true)]
async fn a_subscription_that_the_server_does_not_support_is_not_sent() {
    let declared = json!({ "tools": { "listChanged": true }, "resources": {}, "prompts": {} });
    let (client, mut peer) = legacy_with(builder(), Revision::V2025_06_18, &declared).await;
    let changes = client.subscribe().tools().prompts().resource("a:/1").open().await.unwrap();
    assert_eq!(*changes.honoured(), SubscriptionFilter::new().with_tools_list_changed());
    let missing = SubscriptionFilter::new().with_prompts_list_changed().with_resource("a:/1");
    assert_eq!(changes.missing(), missing);
    let error = client.subscribe().resource("a:/1").open().await.unwrap_err();
    assert!(error.is_not_offered());
    let expected = "calling `subscriptions/listen`: `subscriptions/listen` was not sent: \
                    the server does not offer any of the changes asked for";
    assert_eq!(error.to_string(), expected);
    peer.gets_nothing().await;
}

// spec: SUB-7
#[tokio::test(start_paused = true)]
async fn a_resource_whose_subscription_is_refused_is_left_out() {
    let (client, mut peer) = session().await;
    let serve = async {
        done(&mut peer, "resources/subscribe", "a:/1").await;
        let request = peer.request("resources/subscribe").await;
        peer.refuse(&request, -32002, "no such resource").await;
    };
    let subscribe = client.subscribe().resource("a:/1").resource("a:/2").resource("a:/1");
    let (changes, ()) = tokio::join!(subscribe.open(), serve);
    let changes = changes.unwrap();
    assert_eq!(changes.missing(), SubscriptionFilter::new().with_resource("a:/2"));
    drop(changes);
    is_unsubscribed(&mut peer, "a:/1").await;
}

// spec: RSRC-20
#[tokio::test(start_paused = true)]
async fn a_subscription_whose_parts_are_all_refused_fails() {
    let (client, mut peer) = session().await;
    let serve = async {
        let request = peer.request("resources/subscribe").await;
        peer.refuse(&request, -32002, "no such resource").await;
    };
    let (outcome, ()) = tokio::join!(client.subscribe().resource("a:/1").open(), serve);
    assert!(outcome.unwrap_err().is_not_found());
    peer.gets_nothing().await;
}

// spec: TIME-1
#[tokio::test(start_paused = true)]
async fn a_subscription_that_is_not_answered_in_time_is_cancelled() {
    let diagnostics = Heard::default();
    let builder = builder().on_diagnostic(diagnostics.hear());
    let (client, mut peer) = legacy_with(builder, Revision::V2025_03_26, &all()).await;
    let subscribe = client.subscribe().tools().resource("a:/1").timeout(Duration::from_secs(3));
    let (outcome, request) = tokio::join!(subscribe.open(), peer.request("resources/subscribe"));
    let error = outcome.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!(error.to_string(), "calling `subscriptions/listen`: no answer came within 3s");
    is_unsubscribed(&mut peer, "a:/1").await;
    peer.answer(&request, "{}").await;
    peer.gets_nothing().await;
    assert_eq!(diagnostics.all(), [""; 0], "late answers are no news");
}

#[tokio::test(start_paused = true)]
async fn dropping_an_unacknowledged_subscription_unsubscribes() {
    let (client, mut peer) = session().await;
    let mut open = Box::pin(client.subscribe().resource("a:/1").open());
    assert!(poll!(&mut open).is_pending());
    let request = peer.request("resources/subscribe").await;
    drop(open);
    is_unsubscribed(&mut peer, "a:/1").await;
    peer.answer(&request, "{}").await;
    let mut changes = follows(&client, &mut peer, "a:/1").await;
    updated(&mut peer, "a:/1").await;
    assert!(changes.next().await.unwrap().is_ok());
}
