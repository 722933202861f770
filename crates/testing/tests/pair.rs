//! Races between a client and a server, set up by hand.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_proto::client::Event;
use bowline_proto::request::{Advance, Outgoing, Question, QuestionError, Reply};
use bowline_testing::pair::{Pair, text};
use bowline_types::elicitation::ElicitParams;
use bowline_types::elicitation::schema::FormSchema;
use bowline_types::input::InputRequest;
use bowline_types::json::Json;
use bowline_types::method::Method;
use serde_json::json;

const NOTHING: [&str; 0] = [];

fn both() -> [Pair; 2] {
    [Pair::legacy(), Pair::modern()]
}

fn progress(progress: f64) -> Outgoing {
    Outgoing::Progress(Advance { progress, total: None, message: None })
}

// spec: RPC-6
#[test]
fn answers_find_their_calls_in_any_order() {
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
fn a_late_answer_to_a_cancelled_call_is_not_sent() {
    for mut pair in both() {
        let call = pair.client.call(Method::ToolsCall, &json!({ "name": "slow" }));
        pair.drive();
        let exchange = pair.server.requests[0].parts.exchange;
        pair.client.cancel(call);
        pair.drive();
        assert_eq!(pair.server.cancelled, [exchange]);
        pair.server.say(exchange, progress(1.0));
        pair.server.complete(exchange, text("late"));
        assert_eq!(pair.drive(), NOTHING);
        assert_eq!(pair.client.answer(call), None);
    }
}

// spec: CANC-9, CANC-10
#[test]
fn an_answer_that_crosses_its_cancellation_is_dropped() {
    for mut pair in both() {
        let call = pair.client.call(Method::ToolsCall, &json!({ "name": "slow" }));
        pair.drive();
        let exchange = pair.server.requests[0].parts.exchange;
        pair.server.complete(exchange, text("crossing"));
        pair.client.cancel(call);
        assert_eq!(pair.drive().len(), 2, "both are on their way");
        assert!(
            pair.client
                .events
                .iter()
                .all(|event| !matches!(event, Event::Answered(..) | Event::Odd(_)))
        );
        assert_eq!(pair.server.cancelled, [], "it was over before");
    }
}

// spec: PROG-4, PROG-7, PROG-8
#[test]
fn progress_ends_with_the_answer_and_only_grows() {
    for mut pair in both() {
        pair.client.call(Method::ToolsCall, &json!({ "name": "slow" }));
        pair.drive();
        let exchange = pair.server.requests[0].parts.exchange;
        for value in [1.0, 1.0, 0.5, f64::NAN, 2.0] {
            pair.server.say(exchange, progress(value));
        }
        pair.server.complete(exchange, text("done"));
        pair.server.say(exchange, progress(3.0));
        assert_eq!(pair.drive().len(), 3, "two steps and the answer");
    }
}

// spec: TIME-1, TIME-2, TIME-3
#[test]
fn a_call_without_an_answer_is_given_up_in_time() {
    for mut pair in both() {
        let call = pair.client.call(Method::ToolsCall, &json!({ "name": "slow" }));
        pair.drive();
        assert_eq!(pair.advance(Duration::from_secs(59)), NOTHING);
        let said = pair.advance(Duration::from_secs(1));
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("notifications/cancelled"), "{said:?}");
        assert!(pair.client.answer(call).unwrap().unwrap_err().contains("no answer came"));
        assert_eq!(pair.server.cancelled.len(), 1);
    }
}

// spec: TIME-5, TIME-6
#[test]
fn progress_keeps_a_call_alive_until_its_last_moment() {
    for mut pair in both() {
        let call = pair.client.call(Method::ToolsCall, &json!({ "name": "slow" }));
        pair.drive();
        let exchange = pair.server.requests[0].parts.exchange;
        let given_up = (1..120_u8).find(|step| {
            pair.server.say(exchange, progress((*step).into()));
            pair.advance(Duration::from_secs(40));
            pair.client.answer(call).is_some()
        });
        assert_eq!(given_up, Some(90), "an hour is over");
    }
}

// spec: ELIC-15, CANC-1
#[test]
fn a_question_of_a_call_that_is_cancelled_is_taken_back() {
    let mut pair = Pair::legacy();
    let call = pair.client.call(Method::ToolsCall, &json!({ "name": "greet" }));
    pair.drive();
    let exchange = pair.server.requests[0].parts.exchange;
    let answers = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&answers);
    let reply =
        Reply::new(move |answer: Result<Json, QuestionError>| heard.lock().unwrap().push(answer));
    let request = InputRequest::Elicit(ElicitParams::form("Who?", FormSchema::new()));
    pair.server.say(exchange, Outgoing::Ask(Question { request, reply }));
    pair.drive();
    let asked = |event: &Event| matches!(event, Event::Ask(..));
    assert!(pair.client.events.iter().any(asked));
    pair.client.cancel(call);
    pair.drive();
    assert!(pair.client.events.iter().any(|event| matches!(event, Event::AskCancelled(_))));
    assert!(answers.lock().unwrap().is_empty());
}
