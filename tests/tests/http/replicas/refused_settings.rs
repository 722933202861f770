//! Settings of a session that the store refused, so that the client got 503. In virtual time.

use std::time::Duration;

use bowline_http::store::wrapper::OperationKind;
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use super::replica::{Replica, settle, store};
use crate::test_server::{Session, request};

const NOTE: &str = "note://a";

/// What comes comes within this time.
const SOON: Duration = Duration::from_secs(1);

/// Two endpoints with copies of a session.
async fn shared() -> (Replica, Replica, Session) {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session().await;
    for replica in [&a, &b] {
        assert_eq!(ping(replica, &session).await, 200);
    }
    (a, b, session)
}

async fn status(replica: &Replica, session: &Session, method: &str, params: Value) -> u16 {
    replica.ask(&session.post(request(7, method, params))).await.0
}

async fn ping(replica: &Replica, session: &Session) -> u16 {
    status(replica, session, "ping", json!({})).await
}

/// Sends a request while the store takes no changes, and another one to the other endpoint, when it does.
async fn refused_then_accepted(
    [a, b]: [&Replica; 2],
    session: &Session,
    [refused, accepted]: [(&str, Value); 2],
) {
    a.link.refuse([OperationKind::Put]);
    assert_eq!(status(a, session, refused.0, refused.1).await, 503);
    a.link.refuse(None);
    assert_eq!(status(b, session, accepted.0, accepted.1).await, 200);
    for replica in [a, b] {
        assert_eq!(ping(replica, session).await, 200);
    }
}

fn level(level: &str) -> (&'static str, Value) {
    ("logging/setLevel", json!({ "level": level }))
}

// spec: SESS-7
#[tokio::test(start_paused = true)]
async fn a_level_that_was_refused_does_not_replace_one_that_was_accepted_later() {
    let (a, b, session) = shared().await;
    // The level that the session has already: the second endpoint writes nothing.
    refused_then_accepted([&a, &b], &session, [level("error"), level("info")]).await;
    sends_log_messages(&[&a, &b], &session).await;
    refused_then_accepted([&a, &b], &session, [level("error"), level("debug")]).await;
    sends_log_messages(&[&a, &b], &session).await;
}

// spec: SESS-7
#[tokio::test(start_paused = true)]
async fn a_level_whose_client_hung_up_and_that_another_request_stored_holds_when_it_is_set_again() {
    let (a, b, session) = shared().await;
    let set = |replica, (method, params)| status(replica, &session, method, params);
    a.link.refuse([OperationKind::Put]);
    a.link.hold_replies(OperationKind::Put);
    let mut given_up = Box::pin(set(&a, level("error")));
    assert!(timeout(SOON, &mut given_up).await.is_err(), "the store has not replied");
    a.link.refuse(None);
    // What another request stores meanwhile has the level, too.
    let subscribed = set(&a, ("resources/subscribe", json!({ "uri": NOTE })));
    let replied = async {
        settle().await;
        drop(given_up);
        a.link.hold_replies(None);
    };
    assert_eq!(tokio::join!(subscribed, replied).0, 200);
    // The client tries again: the second endpoint has the level already, and writes nothing.
    assert_eq!(set(&b, level("error")).await, 200);
    for replica in [&a, &b] {
        assert_eq!(ping(replica, &session).await, 200);
    }
    for replica in [&a, &b] {
        replica.handlers.step(2);
        let call = session.call("tell", json!({ "count": 1 }));
        let (_, body) = timeout(SOON, replica.ask(&call)).await.expect("the answer");
        assert!(!body.contains("notifications/message"), "the answer alone: {body}");
        assert!(body.contains("told 1"), "{body}");
    }
}

async fn sends_log_messages(replicas: &[&Replica], session: &Session) {
    for replica in replicas {
        let first = timeout(SOON, replica.first_of(1, session)).await;
        let (mut stream, _) = first.expect("the handler's log message");
        replica.handlers.step(1);
        assert_eq!(stream.messages().await.len(), 1, "the answer");
    }
}

#[tokio::test(start_paused = true)]
async fn an_end_of_a_subscription_that_was_refused_does_not_undo_one_that_was_accepted_later() {
    let (a, b, session) = shared().await;
    let (subscribe, unsubscribe) = ("resources/subscribe", "resources/unsubscribe");
    let note = || json!({ "uri": NOTE });
    assert_eq!(status(&b, &session, subscribe, note()).await, 200);
    let requests = [(unsubscribe, note()), (subscribe, note())];
    refused_then_accepted([&a, &b], &session, requests).await;
    let mut get = a.stream(&session.get()).await;
    b.notify.resource_updated(NOTE);
    let told = timeout(SOON, get.message()).await.expect("the client is subscribed");
    assert_eq!(told.unwrap().json()["params"]["uri"], NOTE);
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_was_refused_is_none() {
    let (a, b, session) = shared().await;
    let (subscribe, unsubscribe) = ("resources/subscribe", "resources/unsubscribe");
    let note = || json!({ "uri": NOTE });
    let requests = [(subscribe, note()), (unsubscribe, note())];
    refused_then_accepted([&a, &b], &session, requests).await;
    let mut get = a.stream(&session.get()).await;
    b.notify.resource_updated(NOTE);
    b.notify.tools_changed();
    assert_eq!(get.message().await.unwrap().json()["method"], "notifications/tools/list_changed");
}

#[tokio::test(start_paused = true)]
async fn a_level_in_a_batch_that_was_refused_does_not_replace_one_that_was_accepted_later() {
    let store = store();
    let (a, b) = (Replica::on(&store), Replica::on(&store));
    let session = a.session_of(Revision::V2025_03_26).await;
    assert_eq!(ping(&b, &session).await, 200);
    let (method, params) = level("error");
    let batch = json!([
        { "jsonrpc": "2.0", "id": 7, "method": method, "params": params },
        { "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 5 } },
    ]);
    // The cancellation is for whichever endpoint runs the call, so it is published.
    a.link.refuse([OperationKind::Publish, OperationKind::Put]);
    assert!(a.ask(&session.post(batch.to_string())).await.0 >= 500);
    sleep(SOON).await;
    a.link.refuse(None);
    assert_eq!(status(&b, &session, level("info").0, level("info").1).await, 200);
    for replica in [&a, &b] {
        assert_eq!(ping(replica, &session).await, 200);
    }
    sends_log_messages(&[&a, &b], &session).await;
}
