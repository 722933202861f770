//! Questions in a session: how they affect the order of calls, their timeouts, their routes.

use std::sync::mpsc::{Receiver, channel};

use bowline_proto::request::{
    ExchangeId, Outgoing, OutgoingQuestion, QuestionError, Reply, Success,
};
use bowline_proto::transmit::Route;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use serde_json::{Value, json};

use crate::{LEGACY, Server, limited, modern};

type Answer = Result<RawJson, QuestionError>;

impl Server {
    /// A call asks the client.
    fn ask(&mut self, number: ExchangeId) -> Receiver<Answer> {
        self.ask_for(number, InputRequest::ListRoots)
    }

    pub(crate) fn ask_for(
        &mut self,
        number: ExchangeId,
        request: InputRequest,
    ) -> Receiver<Answer> {
        let (answer, answers) = channel();
        let reply = Reply::new(move |outcome| answer.send(outcome).unwrap());
        let question = OutgoingQuestion { request, reply, task: None };
        self.emit(number, Outgoing::Ask(question));
        answers
    }

    fn answer(&mut self, id: &Value) {
        self.hear(json!({ "id": id, "result": { "roots": [] } }));
    }

    /// A server that runs one call at a time, with one that runs and one that waits.
    fn crowded() -> (Self, ExchangeId) {
        let mut server = Self::new(limited(|limits| limits.in_flight = 1));
        server.greet(LEGACY);
        let running = server.call(1).parts.exchange;
        server.ask_for_tool(2);
        assert!(server.calls().is_empty());
        (server, running)
    }
}

#[test]
fn a_call_that_waits_for_the_client_lets_another_run() {
    let (mut server, running) = Server::crowded();
    let _first = server.ask(running);
    assert_eq!(server.calls().len(), 1, "the next has its turn");
    let _second = server.ask(running);
    let questions = server.said();
    server.ask_for_tool(3);
    server.answer(&questions[0]["id"]);
    server.connection.complete(running, Ok(Success::empty()));
    assert!(server.calls().is_empty(), "it still asked, so its end leaves no room");
}

#[test]
fn a_call_that_has_its_answers_counts_as_running_again() {
    let (mut server, running) = Server::crowded();
    let answers = [server.ask(running), server.ask(running)];
    let next = server.calls().remove(0).parts.exchange;
    for question in server.said() {
        server.answer(&question["id"]);
    }
    assert!(answers.iter().all(|answer| answer.try_recv().unwrap().is_ok()));
    server.ask_for_tool(3);
    server.connection.complete(next, Ok(Success::empty()));
    assert!(server.calls().is_empty(), "the one that asked runs");
    server.connection.complete(running, Ok(Success::empty()));
    assert_eq!(server.calls().len(), 1);
}

// spec: TIME-1
#[test]
fn a_question_has_its_time_and_the_call_runs_on_afterwards() {
    let (mut server, running) = Server::crowded();
    assert_eq!(server.connection.poll_timeout(), None);
    let answer = server.ask(running);
    let next = server.calls().remove(0).parts.exchange;
    server.said();
    let deadline = server.connection.poll_timeout().unwrap();
    server.connection.handle_timeout(deadline);
    assert_eq!(answer.try_recv().unwrap(), Err(QuestionError::TimedOut));
    let cancelled = server.transmits();
    assert_eq!(cancelled[0].route, Route::Exchange(running));
    server.ask_for_tool(3);
    server.connection.complete(next, Ok(Success::empty()));
    assert!(server.calls().is_empty(), "the one that asked runs again");
}

// spec: HTTP-27
#[test]
fn questions_of_a_call_that_cannot_reach_its_client_fail_and_the_call_runs_on() {
    let mut server = Server::new(limited(|limits| limits.in_flight = 2));
    server.greet(LEGACY);
    let [lost, other] = [1, 2].map(|id| server.call(id).parts.exchange);
    let [open, kept] = [lost, other].map(|number| server.ask(number));
    let asked = server.said();
    server.connection.mark_unreachable(lost);
    assert_eq!(open.try_recv().unwrap(), Err(QuestionError::Unreachable));
    let later = server.ask(lost);
    assert_eq!(later.try_recv().unwrap(), Err(QuestionError::Unreachable));
    assert!(server.said().is_empty(), "nothing is sent or cancelled");
    server.answer(&asked[1]["id"]);
    assert!(kept.try_recv().unwrap().is_ok(), "the other call can ask");
    server.ask_for_tool(3);
    assert!(server.calls().is_empty(), "both calls run");
    server.connection.complete(lost, Ok(Success::empty()));
    assert_eq!(server.said()[0]["id"], 1);
}

#[test]
fn a_call_of_2026_07_28_cannot_ask_the_session_beside_it() {
    let mut server = Server::greeted(LEGACY);
    let params = modern(json!({ "name": "a" }));
    server.hear(json!({ "id": 1, "method": "tools/call", "params": params }));
    let number = server.calls().remove(0).parts.exchange;
    let answer = server.ask(number);
    assert_eq!(answer.try_recv().unwrap(), Err(QuestionError::NoBackChannel));
    assert!(server.said().is_empty());
}

// spec: ELIC-30
#[test]
fn the_end_of_a_question_by_url_goes_to_its_call_or_to_the_session() {
    let mut server = Server::greeted(LEGACY);
    let number = server.call(1).parts.exchange;
    let complete = || Outgoing::ElicitationComplete("e1".to_owned());
    server.emit(number, complete());
    let during = server.transmits();
    server.connection.complete(number, Ok(Success::empty()));
    server.said();
    server.emit(number, complete());
    let after = server.transmits();
    assert_eq!(during[0].route, Route::Exchange(number));
    assert_eq!(after[0].route, Route::Standalone);
}

#[test]
fn a_question_asked_while_handling_new_roots_is_given_up_when_that_ends() {
    let mut server = Server::greeted(LEGACY);
    server.hear(json!({ "method": "notifications/roots/list_changed" }));
    let number = server.calls().remove(0).parts.exchange;
    let _answer = server.ask(number);
    let question = server.said().remove(0);
    server.connection.complete(number, Ok(Success::empty()));
    let given_up = server.said().remove(0);
    assert_eq!(given_up["method"], "notifications/cancelled");
    assert_eq!(given_up["params"]["requestId"], question["id"]);
}
