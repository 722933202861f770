//! Calls: their order, extensions and rate, and batches.

use bowline_proto::classify::LegacyFrame;
use bowline_proto::frame::Frame;
use bowline_proto::limits::Limits;
use bowline_proto::request::{Access, Outgoing, ProgressUpdate, Request, Success};
use bowline_proto::server::Attached;
use bowline_types::input::InputRequired;
use bowline_types::revision::Revision;
use bytes::Bytes;
use serde_json::{Value, json};

use crate::{LEGACY, Server, limited, modern};

/// A value that a transport attaches to calls.
#[derive(Clone, Debug, PartialEq)]
struct Ticket(u32);

fn ticket(request: &Request) -> Option<u32> {
    request.parts.extensions.get::<Ticket>().map(|ticket| ticket.0)
}

fn frame(message: &Value) -> LegacyFrame {
    Frame::parse(&Bytes::from(message.to_string()), &Limits::default()).unwrap().into()
}

fn ping(id: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "a" } })
}

#[test]
fn extensions_of_a_message_reach_its_calls_and_no_others() {
    let mut server = Server::greeted(Revision::V2025_03_26);
    let mut attached = Attached { access: Access::to(["a"]), ..Attached::default() };
    attached.extensions.insert(Ticket(1));
    let now = server.now;
    let batch = frame(&json!([ping(1), ping(2)]));
    server.connection.receive_legacy(batch, attached.clone(), now);
    server.ask_for_tool(3);
    server.connection.receive_legacy(frame(&ping(4)), attached, now);
    let calls = server.calls();
    let tickets: Vec<_> = calls.iter().map(ticket).collect();
    assert_eq!(tickets, [Some(1), Some(1), None, Some(1)]);
    let granted: Vec<_> = calls.iter().map(|call| call.parts.access.has("a")).collect();
    assert_eq!(granted, [true, true, false, true]);
}

// The scopes of a resource are checked when the session subscribes to it.
#[test]
fn the_standalone_subscription_of_a_session_reports_resources_that_need_scopes() {
    let mut server = Server::greeted(LEGACY);
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let now = server.now;
    server.connection.receive_legacy(frame(&initialized), Attached::default(), now);
    let calls = server.calls();
    assert!(calls.iter().all(|call| call.parts.access == Access::everything()), "{calls:?}");
}

#[test]
fn calls_run_in_their_order_as_many_as_may_run_and_reading_stops_while_many_wait() {
    let mut server = Server::new(limited(|limits| {
        limits.in_flight = 1;
        limits.backlog = 2;
    }));
    server.greet(LEGACY);
    let first = server.call(1).parts.exchange;
    assert!(server.connection.wants_input());
    server.ask_for_tool(2);
    assert!(server.connection.wants_input(), "one more may wait");
    server.ask_for_tool(3);
    assert!(!server.connection.wants_input(), "two wait already");
    assert!(server.calls().is_empty());
    server.connection.complete(first, Ok(Success::empty()));
    assert!(server.connection.wants_input());
    assert_eq!(server.said()[0]["id"], 1);
    let second = server.calls().remove(0).parts.exchange;
    server.connection.complete(second, Ok(Success::empty()));
    assert_eq!(server.said()[0]["id"], 2);
}

// spec: CANC-6, CANC-7
#[test]
fn a_call_that_is_cancelled_before_its_turn_gives_its_place_to_the_next_reader() {
    let mut server = Server::new(limited(|limits| {
        limits.in_flight = 1;
        limits.backlog = 1;
    }));
    server.greet(LEGACY);
    let first = server.call(1).parts.exchange;
    server.ask_for_tool(2);
    assert!(!server.connection.wants_input());
    server.hear(json!({ "method": "notifications/cancelled", "params": { "requestId": 2 } }));
    assert!(server.connection.wants_input(), "nothing waits any more");
    assert!(server.events().is_empty(), "the service has not heard of it");
    server.connection.complete(first, Ok(Success::empty()));
    assert!(server.calls().is_empty());
    assert_eq!(server.said().len(), 1);
}

#[test]
fn a_driver_that_holds_the_pace_itself_is_not_paced() {
    let slow = || limited(|limits| limits.requests_per_minute = 2);
    for (is_paced, answered) in [(true, 2), (false, 10)] {
        let mut server = Server::new(slow());
        if !is_paced {
            server.connection = server.connection.without_pace();
        }
        (0..10).for_each(|id| server.hear(json!({ "id": id, "method": "ping" })));
        let said = server.said();
        let results = said.iter().filter(|answer| answer.get("result").is_some()).count();
        assert_eq!((said.len(), results), (10, answered));
    }
}

// spec: RPC-21
#[test]
fn a_handshake_in_a_batch_is_refused() {
    let mut server = Server::greeted(Revision::V2025_03_26);
    let params = json!({ "protocolVersion": "2025-03-26", "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" } });
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    server.hear_text(&json!([initialize]).to_string());
    assert_eq!(server.said()[0][0]["error"]["code"], -32600);
    assert!(server.calls().is_empty());
}

// spec: RPC-19
#[test]
fn the_answers_of_two_batches_are_kept_apart() {
    let mut server = Server::greeted(Revision::V2025_03_26);
    server.hear_text(&json!([ping(1), ping(2)]).to_string());
    server.hear_text(&json!([ping(3), ping(4)]).to_string());
    let numbers: Vec<_> = server.calls().iter().map(|call| call.parts.exchange).collect();
    let ids = |said: Vec<Value>| -> Vec<i64> {
        let answers = said.iter().flat_map(|batch| batch.as_array().unwrap());
        answers.map(|answer| answer["id"].as_i64().unwrap()).collect()
    };
    for number in [numbers[0], numbers[2]] {
        server.connection.complete(number, Ok(Success::empty()));
        assert!(server.said().is_empty());
    }
    server.connection.complete(numbers[3], Ok(Success::empty()));
    assert_eq!(ids(server.said()), [3, 4]);
    server.connection.complete(numbers[1], Ok(Success::empty()));
    assert_eq!(ids(server.said()), [1, 2]);
}

#[test]
fn subscriptions_are_counted_and_other_calls_are_not_counted_as_subscriptions() {
    let mut server = Server::new(limited(|limits| limits.subscriptions = 1));
    let listen = modern(json!({ "notifications": { "toolsListChanged": true } }));
    let call = modern(json!({ "name": "a" }));
    server.hear(json!({ "id": 1, "method": "tools/call", "params": call }));
    for id in 2..=3 {
        server.hear(json!({ "id": id, "method": "subscriptions/listen", "params": listen }));
    }
    let refused = server.said();
    assert_eq!((refused.len(), &refused[0]["id"]), (1, &json!(3)));
    server.hear(json!({ "id": 4, "method": "tools/call", "params": call }));
    assert!(server.said().is_empty());
    assert_eq!(server.calls().len(), 3);
}

// spec: PROG-4
#[test]
fn progress_that_does_not_grow_or_is_no_number_is_not_sent() {
    let mut server = Server::greeted(LEGACY);
    let params = json!({ "name": "a", "_meta": { "progressToken": "t" } });
    server.hear(json!({ "id": 1, "method": "tools/call", "params": params }));
    let number = server.calls().remove(0).parts.exchange;
    for progress in [1.0, 1.0, 0.5, f64::INFINITY, f64::NAN, 2.0] {
        let advance = ProgressUpdate { progress, total: Some(f64::NAN), message: None };
        server.emit(number, Outgoing::Progress(advance));
    }
    let sent: Vec<_> = server.said().iter().map(|message| message["params"].clone()).collect();
    let expected = [1, 2].map(|progress| json!({ "progressToken": "t", "progress": progress }));
    assert_eq!(sent, expected);
}

// spec: MRTR-3
#[test]
fn only_methods_that_may_ask_are_answered_with_questions() {
    let call = json!({ "name": "a" });
    for (method, params, may_ask) in [
        ("tools/call", modern(call.clone()), true),
        ("tools/list", modern(json!({})), false),
        ("tools/call", call, false),
    ] {
        let mut server = Server::greeted(LEGACY);
        server.hear(json!({ "id": 1, "method": method, "params": params }));
        let parts = server.calls().remove(0).parts;
        let response = Success::input_required(InputRequired::again("state"), parts.revision);
        server.connection.complete(parts.exchange, response);
        let answer = server.said().remove(0);
        assert_eq!(answer.get("result").is_some(), may_ask, "{method}: {answer}");
    }
}
