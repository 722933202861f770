//! Notifications of extensions: passed to the service like calls, bounded, never answered.

use bowline_proto::request::Success;
use bowline_types::method::{CustomMethod, MessageKind};
use serde_json::{Value, json};

use crate::{LEGACY, Server, limited};

fn note(number: usize) -> Value {
    CustomMethod::register("notifications/test/note", MessageKind::Notification).unwrap();
    json!({ "method": "notifications/test/note", "params": { "number": number } })
}

#[test]
fn notifications_of_extensions_wait_for_their_turn_and_are_not_answered() {
    let mut server = Server::new(limited(|limits| (limits.in_flight, limits.backlog) = (1, 1)));
    server.greet(LEGACY);
    for number in 0..3 {
        server.hear(note(number));
    }
    let first = server.calls();
    assert_eq!(first.len(), 1);
    server.connection.complete(first[0].parts.exchange, Ok(Success::empty()));
    let second = server.calls();
    assert_eq!(second[0].params.value("number"), Some("1"));
    server.connection.complete(second[0].parts.exchange, Ok(Success::empty()));
    // There was no room for the third, so it was dropped.
    assert!(server.calls().is_empty() && !server.connection.is_busy());
    assert_eq!(server.said(), [Value::Null; 0]);
}

#[test]
fn notifications_of_extensions_count_against_the_rate_of_requests() {
    let mut server = Server::new(limited(|limits| limits.requests_per_minute = 3));
    server.greet(LEGACY);
    for number in 0..10 {
        server.hear(note(number));
    }
    // The handshake is one of the three.
    let calls = server.calls();
    let numbers: Vec<_> = calls.iter().map(|call| call.params.value("number")).collect();
    assert_eq!(numbers, [Some("0"), Some("1")]);
}

#[test]
fn notifications_before_a_session_and_unknown_ones_are_ignored() {
    let mut server = Server::default();
    server.hear(note(1));
    server.greet(LEGACY);
    server.hear(json!({ "method": "notifications/test/unregistered" }));
    assert!(server.calls().is_empty());
    assert_eq!(server.said(), [Value::Null; 0]);
}
