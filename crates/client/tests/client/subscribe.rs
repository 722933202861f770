//! Subscriptions as streams, on 2026-07-28.

use std::time::Duration;

use bowline_client::types::subscription::SubscriptionFilter;
use bowline_client::{Change, Changes, Limits};
use futures_util::{StreamExt, poll};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::peer::{Heard, Peer, Request, both_with, builder, modern_with};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

/// Capabilities with all notifications of changes.
pub(crate) fn all() -> Value {
    json!({
        "tools": { "listChanged": true },
        "prompts": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
    })
}

/// Sends a notification of a subscription.
async fn tell(peer: &mut Peer, subscription: &Request, method: &str, mut params: Value) {
    params["_meta"] = json!({ ID: subscription.id });
    peer.notify(method, &params).await;
}

async fn acknowledge(peer: &mut Peer, subscription: &Request, filter: &Value) {
    let method = "notifications/subscriptions/acknowledged";
    tell(peer, subscription, method, json!({ "notifications": filter })).await;
}

/// Takes a subscription and acknowledges all of it.
async fn accept(peer: &mut Peer) -> Request {
    let request = peer.request("subscriptions/listen").await;
    let filter = request.params["notifications"].clone();
    acknowledge(peer, &request, &filter).await;
    request
}

async fn tools_changed(peer: &mut Peer, subscription: &Request) {
    tell(peer, subscription, "notifications/tools/list_changed", json!({})).await;
}

/// The next change, which must be there.
async fn next(changes: &mut Changes) -> Change {
    changes.next().await.unwrap().unwrap()
}

// spec: SUB-1
#[tokio::test(start_paused = true)]
async fn the_chosen_changes_are_subscribed_to_and_reported() {
    let (client, mut peer) = modern_with(builder(), &all()).await;
    let subscribe = client.subscribe().tools().prompts().resources().resource("a:/1");
    let (changes, request) = tokio::join!(subscribe.open(), accept(&mut peer));
    let expected = json!({
        "toolsListChanged": true,
        "promptsListChanged": true,
        "resourcesListChanged": true,
        "resourceSubscriptions": ["a:/1"],
    });
    assert_eq!(request.params["notifications"], expected);
    let mut changes = changes.unwrap();
    assert!(changes.missing().is_empty());
    tell(&mut peer, &request, "notifications/prompts/list_changed", json!({})).await;
    tools_changed(&mut peer, &request).await;
    tell(&mut peer, &request, "notifications/resources/list_changed", json!({})).await;
    let below = json!({ "uri": "a:/1/x" });
    tell(&mut peer, &request, "notifications/resources/updated", below).await;
    assert_eq!(next(&mut changes).await, Change::Prompts);
    assert_eq!(next(&mut changes).await, Change::Tools);
    assert_eq!(next(&mut changes).await, Change::Resources);
    assert_eq!(next(&mut changes).await, Change::Resource("a:/1/x".to_owned()));
    assert!(poll!(StreamExt::next(&mut changes)).is_pending());
}

#[tokio::test(start_paused = true)]
async fn a_subscription_is_open_once_it_is_acknowledged() {
    let (client, mut peer) = modern_with(builder(), &all()).await;
    let mut open = Box::pin(client.subscribe().tools().open());
    assert!(poll!(&mut open).is_pending());
    let request = peer.request("subscriptions/listen").await;
    sleep(Duration::from_secs(30)).await;
    assert!(poll!(&mut open).is_pending());
    acknowledge(&mut peer, &request, &json!({ "toolsListChanged": true })).await;
    tools_changed(&mut peer, &request).await;
    let mut changes = open.await.unwrap();
    assert_eq!(next(&mut changes).await, Change::Tools);
}

// spec: SUB-7
#[tokio::test(start_paused = true)]
async fn the_missing_part_of_a_subscription_is_known() {
    let (client, mut peer) = modern_with(builder(), &all()).await;
    let subscribe = client.subscribe().tools().prompts().resource("a:/1").resource("a:/2");
    let serve = async {
        let request = peer.request("subscriptions/listen").await;
        let honoured = json!({ "promptsListChanged": true, "resourceSubscriptions": ["a:/2"] });
        acknowledge(&mut peer, &request, &honoured).await;
    };
    let (changes, ()) = tokio::join!(subscribe.open(), serve);
    let changes = changes.unwrap();
    let honoured = SubscriptionFilter::new().with_prompts_list_changed().with_resource("a:/2");
    assert_eq!(*changes.honoured(), honoured);
    let missing = SubscriptionFilter::new().with_tools_list_changed().with_resource("a:/1");
    assert_eq!(changes.missing(), missing);
}

// spec: SUB-9, SUB-10
#[tokio::test(start_paused = true)]
async fn several_subscriptions_do_not_mix() {
    let (client, mut peer) = modern_with(builder(), &all()).await;
    let (first, one) = tokio::join!(client.subscribe().tools().open(), accept(&mut peer));
    let (second, two) = tokio::join!(client.subscribe().tools().open(), accept(&mut peer));
    let (mut first, mut second) = (first.unwrap(), second.unwrap());
    assert_ne!(one.id, two.id);
    tools_changed(&mut peer, &two).await;
    assert_eq!(next(&mut second).await, Change::Tools);
    assert!(poll!(StreamExt::next(&mut first)).is_pending());
    for id in [json!(two.id.to_string()), json!(999), json!(null)] {
        let params = json!({ "_meta": { ID: id } });
        peer.notify("notifications/tools/list_changed", &params).await;
    }
    tools_changed(&mut peer, &one).await;
    assert_eq!(next(&mut first).await, Change::Tools);
    assert!(poll!(StreamExt::next(&mut second)).is_pending(), "the id counts, with its type");
}

// spec: SUB-11, CANC-15
#[tokio::test(start_paused = true)]
async fn dropping_a_subscription_ends_it() {
    let (client, mut peer) = modern_with(builder(), &all()).await;
    let (changes, request) = tokio::join!(client.subscribe().tools().open(), accept(&mut peer));
    drop(changes.unwrap());
    let params = peer.notification("notifications/cancelled").await;
    assert_eq!(params["requestId"], request.id);
    tools_changed(&mut peer, &request).await;
    peer.gets_nothing().await;
}

#[tokio::test(start_paused = true)]
async fn dropping_an_unacknowledged_subscription_ends_it_too() {
    let (client, mut peer) = modern_with(builder(), &all()).await;
    let mut open = Box::pin(client.subscribe().tools().open());
    assert!(poll!(&mut open).is_pending());
    let request = peer.request("subscriptions/listen").await;
    drop(open);
    let params = peer.notification("notifications/cancelled").await;
    assert_eq!(params["requestId"], request.id);
}

// spec: SUB-15, SUB-16
#[tokio::test(start_paused = true)]
async fn the_server_ends_a_subscription_by_either_sign_in_either_order() {
    let result = |id: i64| {
        let result = json!({ "resultType": "complete", "_meta": { ID: id } });
        json!({ "jsonrpc": "2.0", "id": id, "result": result })
    };
    let notice = |id: i64| {
        let method = "notifications/cancelled";
        json!({ "jsonrpc": "2.0", "method": method, "params": { "requestId": id } })
    };
    let ways: [&dyn Fn(i64) -> Vec<Value>; 4] = [
        &|id| vec![result(id)],
        &|id| vec![notice(id)],
        &|id| vec![result(id), notice(id)],
        &|id| vec![notice(id), result(id)],
    ];
    for way in ways {
        let diagnostics = Heard::default();
        let (client, mut peer) =
            modern_with(builder().on_diagnostic(diagnostics.hear()), &all()).await;
        let (changes, request) = tokio::join!(client.subscribe().tools().open(), accept(&mut peer));
        let mut changes = changes.unwrap();
        tools_changed(&mut peer, &request).await;
        for message in way(request.id) {
            peer.send_json(message).await;
        }
        assert_eq!(next(&mut changes).await, Change::Tools, "changes before the end are reported");
        assert!(changes.next().await.is_none());
        assert!(changes.next().await.is_none());
        drop(changes);
        peer.gets_nothing().await;
        assert_eq!(diagnostics.all(), [""; 0]);
    }
}

// spec: SUB-15
#[tokio::test(start_paused = true)]
async fn a_broken_connection_differs_from_an_end() {
    for (client, mut peer) in both_with(builder(), &all()).await {
        let is_modern = client.revision().is_modern();
        let serve = async { if is_modern { accept(&mut peer).await.id } else { 0 } };
        let (changes, id) = tokio::join!(client.subscribe().tools().open(), serve);
        let mut changes = changes.unwrap();
        tools_changed(&mut peer, &Request { id, params: Value::Null }).await;
        drop(peer);
        assert_eq!(next(&mut changes).await, Change::Tools);
        let error = changes.next().await.unwrap().unwrap_err();
        assert!(error.is_closed());
        let expected =
            "calling `subscriptions/listen`: the connection closed before the answer came";
        assert_eq!(error.to_string(), expected);
        assert!(changes.next().await.is_none());
        let error = client.subscribe().tools().open().await.unwrap_err();
        assert!(error.is_closed() && error.may_retry());
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_subscription_is_an_error() {
    let (client, mut peer) = modern_with(builder(), &all()).await;
    let serve = async {
        let request = peer.request("subscriptions/listen").await;
        peer.refuse(&request, -32601, "nothing changes here").await;
    };
    let (outcome, ()) = tokio::join!(client.subscribe().tools().open(), serve);
    assert_eq!(outcome.unwrap_err().rpc().unwrap().code, -32601);
}

// spec: TIME-1
#[tokio::test(start_paused = true)]
async fn only_the_acknowledgement_must_come_in_time() {
    let (client, mut peer) = modern_with(builder(), &all()).await;
    let start = Instant::now();
    let open = client.subscribe().tools().timeout(Duration::from_secs(3)).open();
    let (outcome, request) = tokio::join!(open, peer.request("subscriptions/listen"));
    assert!(outcome.unwrap_err().is_timeout());
    assert_eq!(start.elapsed(), Duration::from_secs(3));
    let params = peer.notification("notifications/cancelled").await;
    assert_eq!(params["requestId"], request.id);

    let (changes, request) = tokio::join!(client.subscribe().tools().open(), accept(&mut peer));
    let mut changes = changes.unwrap();
    sleep(10 * Limits::default().request_deadline).await;
    tools_changed(&mut peer, &request).await;
    assert_eq!(next(&mut changes).await, Change::Tools);
}

#[tokio::test(start_paused = true)]
async fn an_end_before_the_acknowledgement_is_invalid() {
    let (client, mut peer) = modern_with(builder(), &all()).await;
    let serve = async {
        let request = peer.request("subscriptions/listen").await;
        peer.answer(&request, r#"{"resultType":"complete"}"#).await;
    };
    let (outcome, ()) = tokio::join!(client.subscribe().tools().open(), serve);
    assert!(outcome.unwrap_err().is_invalid_answer());
}

#[tokio::test(start_paused = true)]
async fn an_empty_subscription_is_not_sent() {
    for (client, mut peer) in both_with(builder(), &all()).await {
        let error = client.subscribe().open().await.unwrap_err();
        let expected = "calling `subscriptions/listen`: it was not sent: \
                        nothing is chosen to hear of; choose `tools()`, for example";
        assert_eq!(error.to_string(), expected);
        peer.gets_nothing().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_subscription_keeps_the_connection() {
    for (client, mut peer) in both_with(builder(), &all()).await {
        let is_modern = client.revision().is_modern();
        let serve = async {
            if is_modern {
                accept(&mut peer).await;
            }
        };
        let (changes, ()) = tokio::join!(client.subscribe().tools().open(), serve);
        drop(client);
        peer.gets_nothing().await;
        drop(changes);
        if is_modern {
            peer.notification("notifications/cancelled").await;
        }
        peer.hears_the_end().await;
    }
}

// spec: SUB-17
#[tokio::test(start_paused = true)]
async fn a_new_connection_needs_a_new_subscription() {
    for _ in 0..2 {
        let (client, mut peer) = modern_with(builder(), &all()).await;
        peer.gets_nothing().await;
        let (changes, request) = tokio::join!(client.subscribe().tools().open(), accept(&mut peer));
        let mut changes = changes.unwrap();
        tools_changed(&mut peer, &request).await;
        assert_eq!(next(&mut changes).await, Change::Tools);
        client.close().await;
        assert!(changes.next().await.unwrap().unwrap_err().is_closed());
    }
}
