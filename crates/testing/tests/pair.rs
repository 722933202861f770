//! Races between a client and a server, set up by hand with a `Pair`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_proto::client::ClientEvent;
use bowline_proto::request::{
    ExchangeId, Outgoing, OutgoingQuestion, ProgressUpdate, QuestionError, Reply,
};
use bowline_testing::pair::{Pair, text};
use bowline_types::elicitation::ElicitParams;
use bowline_types::elicitation::schema::FormSchema;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use serde_json::json;

const NOTHING: [&str; 0] = [];

fn both() -> [Pair; 2] {
    [Pair::legacy(), Pair::modern()]
}

/// Makes a call; returns its exchange at the client and at the server.
fn open_call(pair: &mut Pair) -> (ExchangeId, ExchangeId) {
    let call = pair.client.call(Method::ToolsCall, &json!({ "name": "slow" }));
    pair.drive();
    (call, pair.server.requests[0].parts.exchange)
}

fn progress(progress: f64) -> Outgoing {
    Outgoing::Progress(ProgressUpdate { progress, total: None, message: None })
}

// spec: RPC-6
#[test]
fn each_answer_reaches_its_call_in_any_order() {
    for mut pair in both() {
        let calls: Vec<_> = (0..3)
            .map(|n| pair.client.call(Method::ToolsCall, &json!({ "name": format!("t{n}") })))
            .collect();
        pair.drive();
        for (position, request) in
            std::mem::take(&mut pair.server.requests).iter().enumerate().rev()
        {
            pair.server.complete(request.parts.exchange, text(&format!("answer {position}")));
        }
        pair.drive();
        for (position, call) in calls.into_iter().enumerate() {
            let answer = pair.client.answer(call).unwrap().unwrap();
            assert!(answer.contains(&format!("answer {position}")), "{answer}");
        }
    }
}

// spec: CANC-5, CANC-7, CANC-20
#[test]
fn the_server_does_not_send_a_late_answer_to_a_cancelled_call() {
    for mut pair in both() {
        let (call, exchange) = open_call(&mut pair);
        pair.client.cancel(call);
        pair.drive();
        assert_eq!(pair.server.cancelled, [exchange]);
        pair.server.emit(exchange, progress(1.0));
        pair.server.complete(exchange, text("late"));
        assert_eq!(pair.drive(), NOTHING);
        assert_eq!(pair.client.answer(call), None);
    }
}

// spec: CANC-9, CANC-10
#[test]
fn the_client_drops_an_answer_that_crosses_its_cancellation() {
    for mut pair in both() {
        let (call, exchange) = open_call(&mut pair);
        pair.server.complete(exchange, text("crossing"));
        pair.client.cancel(call);
        assert_eq!(pair.drive().len(), 2, "the answer and the cancellation");
        assert!(
            pair.client.events.iter().all(|event| !matches!(
                event,
                ClientEvent::Answered(..) | ClientEvent::Diagnostic(_)
            ))
        );
        assert_eq!(pair.server.cancelled, [], "the call was complete before");
    }
}

// spec: PROG-4, PROG-7, PROG-8
#[test]
fn the_server_sends_only_growing_progress_and_none_after_the_answer() {
    for mut pair in both() {
        let (_, exchange) = open_call(&mut pair);
        for value in [1.0, 1.0, 0.5, f64::NAN, 2.0] {
            pair.server.emit(exchange, progress(value));
        }
        pair.server.complete(exchange, text("done"));
        pair.server.emit(exchange, progress(3.0));
        assert_eq!(pair.drive().len(), 3, "two steps and the answer");
    }
}

// spec: TIME-1, TIME-2, TIME-3
#[test]
fn the_client_cancels_a_call_without_an_answer_after_a_minute() {
    for mut pair in both() {
        let call = pair.client.call(Method::ToolsCall, &json!({ "name": "slow" }));
        pair.drive();
        assert_eq!(pair.advance(Duration::from_secs(59)), NOTHING);
        let sent = pair.advance(Duration::from_secs(1));
        assert_eq!(sent.len(), 1);
        assert!(sent[0].contains("notifications/cancelled"), "{sent:?}");
        assert!(pair.client.answer(call).unwrap().unwrap_err().contains("no answer came"));
        assert_eq!(pair.server.cancelled.len(), 1);
    }
}

// spec: TIME-5, TIME-6
#[test]
fn progress_keeps_a_call_open_for_at_most_an_hour() {
    for mut pair in both() {
        let (call, exchange) = open_call(&mut pair);
        let given_up = (1..120_u8).find(|step| {
            pair.server.emit(exchange, progress((*step).into()));
            pair.advance(Duration::from_secs(40));
            pair.client.answer(call).is_some()
        });
        assert_eq!(given_up, Some(90), "an hour is over");
    }
}

// spec: ELIC-15, CANC-1
#[test]
fn the_server_cancels_the_question_of_a_cancelled_call() {
    let mut pair = Pair::legacy();
    let (call, exchange) = open_call(&mut pair);
    let answers = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&answers);
    let reply = Reply::new(move |answer: Result<RawJson, QuestionError>| {
        heard.lock().unwrap().push(answer);
    });
    let request = InputRequest::Elicit(ElicitParams::form("Who?", FormSchema::new()));
    let question = OutgoingQuestion { request, reply, task: None };
    pair.server.emit(exchange, Outgoing::Ask(question));
    pair.drive();
    let asked = |event: &ClientEvent| matches!(event, ClientEvent::Ask(..));
    assert!(pair.client.events.iter().any(asked));
    pair.client.cancel(call);
    pair.drive();
    assert!(pair.client.events.iter().any(|event| matches!(event, ClientEvent::AskCancelled(_))));
    assert!(answers.lock().unwrap().is_empty());
}
