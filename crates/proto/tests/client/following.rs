//! Subscriptions in a session, which are one `resources/subscribe` request per resource.

use bowline_proto::client::{CallError, ClientEvent};
use bowline_proto::limits::Limits;
use bowline_proto::request::{ExchangeId, ReportedChange};
use bowline_proto::transmit::FailureKind;
use bowline_types::method::Method;
use serde_json::{Value, json};

use crate::{Client, LEGACY};

fn client() -> Client {
    Client::agreed(LEGACY, Limits::default())
}

/// Subscribes to resources. Gives the ids of the requests that this sends.
fn follow(client: &mut Client, exchange: u64, uris: &[&str]) -> Vec<i64> {
    let filter = json!({ "notifications": { "resourceSubscriptions": uris } });
    client.request(exchange, Method::SubscriptionsListen, &filter);
    requests(client)
}

fn requests(client: &mut Client) -> Vec<i64> {
    client.said().iter().filter_map(|message| message["id"].as_i64()).collect()
}

fn accept(client: &mut Client, id: i64) {
    client.hear(json!({ "id": id, "result": {} }));
}

fn refuse(client: &mut Client, id: i64) {
    client.hear(json!({ "id": id, "error": { "code": -32002, "message": "no" } }));
}

/// The resources in the acknowledgement of a subscription.
fn acknowledged(client: &mut Client) -> Vec<Vec<String>> {
    let told = client.events().into_iter().filter_map(|event| match event {
        ClientEvent::Change(Some(_), ReportedChange::Acknowledged(filter)) => {
            Some(filter.resource_subscriptions)
        }
        _ => None,
    });
    told.collect()
}

#[test]
fn a_resource_that_was_refused_once_is_unsubscribed_with_its_next_subscription() {
    let mut client = client();
    let refused = follow(&mut client, 1, &["a:/1"]);
    refuse(&mut client, refused[0]);
    let accepted = follow(&mut client, 2, &["a:/1"]);
    accept(&mut client, accepted[0]);
    client.connection.cancel(ExchangeId(2), "done");
    assert_eq!(client.methods(), ["resources/unsubscribe"]);
}

#[test]
fn a_subscription_ends_once_however_many_of_its_requests_fail() {
    let mut client = client();
    for id in follow(&mut client, 1, &["a:/1", "a:/2"]) {
        client.fail(id, FailureKind::Lost);
    }
    let events = client.events();
    let is_lost = |event: &ClientEvent| {
        matches!(event, ClientEvent::Answered(ExchangeId(1), Err(CallError::Failed { .. })))
    };
    assert_eq!(events.iter().filter(|event| is_lost(event)).count(), 1, "{events:?}");
}

#[test]
fn a_subscription_of_which_nothing_is_left_has_ended() {
    let mut client = client();
    for id in follow(&mut client, 1, &["a:/1", "a:/2"]) {
        refuse(&mut client, id);
    }
    let events = client.events();
    assert!(
        matches!(events[..], [ClientEvent::Answered(_, Err(CallError::Refused(_)))]),
        "{events:?}"
    );
    client.connection.close();
    assert!(client.events().is_empty());
}

#[test]
fn a_subscription_ends_when_an_answer_to_it_cannot_be_read() {
    let mut client = client();
    let ids = follow(&mut client, 1, &["a:/1"]);
    client.hear(json!({ "id": ids[0], "result": 1 }));
    let events = client.events();
    assert!(
        matches!(events[..], [ClientEvent::Answered(_, Err(CallError::Invalid(_)))]),
        "{events:?}"
    );
}

#[test]
fn on_a_new_session_a_subscription_is_acknowledged_when_all_of_it_is_answered() {
    let mut client = client();
    for id in follow(&mut client, 1, &["a:/1", "a:/2"]) {
        accept(&mut client, id);
    }
    assert_eq!(acknowledged(&mut client), [["a:/1", "a:/2"]]);
    let call = client.call(2);
    client.fail(call, FailureKind::SessionLost);
    client.agree(LEGACY);
    let ids = requests(&mut client);
    refuse(&mut client, ids[0]);
    assert_eq!(acknowledged(&mut client), [[""; 0]; 0]);
    accept(&mut client, ids[1]);
    assert_eq!(acknowledged(&mut client), [["a:/2"]]);
}

#[test]
fn a_lost_server_gets_no_unsubscribe_request() {
    let mut client = client();
    let ids = follow(&mut client, 1, &["a:/1"]);
    accept(&mut client, ids[0]);
    client.connection.lost("it died");
    client.connection.cancel(ExchangeId(1), "done");
    assert_eq!(client.said(), Vec::<Value>::new());
}
