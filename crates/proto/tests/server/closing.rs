//! The end of a connection: which calls it waits for, and which it gives up.

use std::sync::mpsc;

use bowline_proto::request::{Outgoing, OutgoingQuestion, QuestionError, Reply, Success};
use bowline_proto::server::ServerEvent;
use bowline_proto::transmit::{Role, Route};
use bowline_types::input::InputRequest;
use serde_json::json;

use crate::{LEGACY, Server, limited, modern};

fn listen(server: &mut Server) {
    let params = modern(json!({ "notifications": { "toolsListChanged": true } }));
    server.hear(json!({ "id": 9, "method": "subscriptions/listen", "params": params }));
}

#[test]
fn a_connection_is_busy_with_calls_that_end_by_themselves() {
    let mut server = Server::default();
    assert!(!server.connection.is_busy());
    listen(&mut server);
    server.events();
    assert!(!server.connection.is_busy(), "a subscription does not end by itself");

    let initialize = json!({
        "protocolVersion": LEGACY.to_string(), "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" },
    });
    let mut server = Server::default();
    server.hear(json!({ "id": 0, "method": "initialize", "params": initialize }));
    assert!(server.connection.is_busy(), "the handshake is under way");

    let mut server = Server::greeted(LEGACY);
    assert!(!server.connection.is_busy());
    server.initialized();
    server.events();
    assert!(!server.connection.is_busy(), "what listens for the session does not end by itself");
    let call = server.call(1).parts.exchange;
    assert!(server.connection.is_busy());
    server.connection.complete(call, Ok(Success::empty()));
    assert!(!server.connection.is_busy());
    server.hear(json!({ "method": "notifications/roots/list_changed" }));
    assert!(server.connection.is_busy(), "the service handles a change");
}

#[test]
fn closing_cancels_all_calls_and_starts_no_more() {
    let mut server = Server::new(limited(|limits| {
        limits.in_flight = 1;
        limits.backlog = 1;
    }));
    server.greet(LEGACY);
    let running = server.call(1).parts.exchange;
    let (answer, answers) = mpsc::channel();
    let reply = Reply::new(move |outcome| answer.send(outcome).unwrap());
    server.ask_for_tool(2);
    let question = OutgoingQuestion { request: InputRequest::ListRoots, reply, task: None };
    server.emit(running, Outgoing::Ask(question));
    let started = server.connection.last_exchange();
    server.ask_for_tool(3);
    // The start of the second call is among the events, and the third waits for its turn.
    server.connection.close();
    assert_eq!(answers.try_recv().unwrap(), Err(QuestionError::Closed));
    let cancelled = |event: &ServerEvent| match event {
        ServerEvent::Cancelled(number) => *number,
        ServerEvent::Call(_) => panic!("a call is started on a connection that is closed"),
    };
    let numbers: Vec<_> = server.events().iter().map(cancelled).collect();
    assert_eq!(numbers, [running, started, server.connection.last_exchange()]);
    server.said();
    assert!(!server.connection.is_busy() && server.connection.wants_input());
    server.connection.complete(running, Ok(Success::empty()));
    assert!(server.said().is_empty() && server.events().is_empty());
    server.ask_for_tool(4);
    assert_eq!(server.calls().len(), 1, "nothing of before counts as running");
}

// A question that a handler asks after the end of input would wait until the driver gives up, which
// is a second later over stdio.
#[test]
fn a_question_asked_after_the_end_of_input_fails_like_those_that_were_open() {
    let mut server = Server::greeted(LEGACY);
    let [first, second] = [1, 2].map(|id| server.call(id).parts.exchange);
    server.hear(json!({ "method": "notifications/roots/list_changed" }));
    let notice = server.calls().remove(0).parts.exchange;
    let open = server.ask_for(first, InputRequest::ListRoots);
    server.said();
    server.connection.end_of_input();
    let before = open.try_recv().unwrap();
    assert_eq!(before, Err(QuestionError::Closed));
    for number in [first, second, notice] {
        let later = server.ask_for(number, InputRequest::ListRoots);
        assert_eq!(later.try_recv().as_ref(), Ok(&before), "{number:?}");
    }
    assert!(server.said().is_empty(), "no question is sent");
    assert_eq!(server.connection.poll_timeout(), None, "no question waits");
}

#[test]
fn a_call_whose_question_failed_at_the_end_of_input_counts_as_running() {
    let mut server = Server::new(limited(|limits| limits.in_flight = 1));
    server.greet(LEGACY);
    let asking = server.call(1).parts.exchange;
    let _answer = server.ask_for(asking, InputRequest::ListRoots);
    let next = server.call(2).parts.exchange;
    server.ask_for_tool(3);
    server.connection.end_of_input();
    server.connection.complete(next, Ok(Success::empty()));
    assert!(server.calls().is_empty(), "the call that asked runs again");
    server.connection.complete(asking, Ok(Success::empty()));
    assert_eq!(server.calls().len(), 1);
}

// spec: SUB-16, CANC-18
#[test]
fn the_end_of_a_subscription_reaches_client_and_service() {
    let mut server = Server::default();
    listen(&mut server);
    let number = server.calls()[0].parts.exchange;
    server.connection.end_subscriptions();
    let roles: Vec<_> = server.transmits().iter().map(|it| (it.route, it.role)).collect();
    let route = Route::Exchange(number);
    assert_eq!(roles, [(route, Role::Ends), (route, Role::Cancels)]);
    assert!(matches!(server.events()[..], [ServerEvent::Cancelled(ended)] if ended == number));
}
