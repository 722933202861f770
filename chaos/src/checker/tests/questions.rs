//! Histories of calls that ask.

use super::*;
use crate::ledger::{Effect, Given, Question};

fn question(number: u32) -> Message {
    let id = format!("\"q{number}\"");
    Message::Question(Question { id, nonce: 7, number, state: None })
}

/// A call that asks twice, and gets 11 and 12.
fn asks(ledger: &mut Ledger) {
    let call = &mut ledger.calls[0];
    (call.wanted, call.questions) = (0, 2);
    call.given = [("\"q1\"", 11), ("\"q2\"", 12)]
        .map(|(question, value)| Given { question: question.to_owned(), value })
        .into();
    let answer = Message::Answer(7, format!("11,12 {:016x}", digest(7, SESSION)));
    let messages = [Message::Log, question(1), question(2), answer];
    call.seen = messages
        .into_iter()
        .zip(1..)
        .map(|(message, n)| event(&format!("1.{n}"), message))
        .collect();
    ledger.effects = vec![Effect { nonce: 7, answers: "11,12".to_owned() }];
}

fn broken_if(change: impl FnOnce(&mut Ledger)) -> Vec<Rule> {
    broken(|ledger| {
        asks(ledger);
        change(ledger);
    })
}

#[test]
fn a_call_that_asks_has_no_violation_also_if_its_questions_come_again() {
    assert_eq!(broken_if(|_| {}), []);
    let again = |it: &mut Ledger| {
        let seen = it.calls[0].seen[1..3].to_vec();
        it.calls[0].seen.splice(3..3, seen);
    };
    assert_eq!(broken_if(again), []);
}

#[test]
fn a_question_that_is_missing_or_asked_twice_is_found() {
    let missing = |it: &mut Ledger| drop(it.calls[0].seen.remove(2));
    assert_eq!(broken_if(missing), [Rule::QuestionsInOrder]);
    let twice = |it: &mut Ledger| it.calls[0].seen.insert(3, event("1.9", question(2)));
    assert_eq!(broken_if(twice), [Rule::QuestionsInOrder]);
}

#[test]
fn an_answer_to_another_question_is_found() {
    let swapped = |it: &mut Ledger| {
        it.effects[0].answers = "12,11".to_owned();
        it.calls[0].seen[3].message =
            Message::Answer(7, format!("12,11 {:016x}", digest(7, SESSION)));
    };
    assert_eq!(broken_if(swapped), [Rule::AnswersUsedOnce, Rule::RightAnswer]);
}

#[test]
fn answers_that_are_used_twice_or_never_are_found() {
    let twice = |it: &mut Ledger| it.effects.push(it.effects[0].clone());
    assert_eq!(broken_if(twice), [Rule::AnswersUsedOnce]);
    assert_eq!(broken_if(|it| it.effects.clear()), [Rule::AnswersUsedOnce]);
}

#[test]
fn wrong_answers_are_found_even_if_the_call_failed() {
    let failed = |it: &mut Ledger| {
        it.calls[0].seen.truncate(3);
        it.calls[0].end = failed();
        it.effects[0].answers = "11,13".to_owned();
        let kind = FaultKind::Kill(PROCESS);
        it.faults.push(Fault { kind, begin: at(10), end: at(11) });
    };
    assert_eq!(broken_if(failed), [Rule::AnswersUsedOnce]);
}

#[test]
fn a_call_that_asks_fails_only_with_the_process_that_got_its_last_request() {
    let continued = |it: &mut Ledger, killed| {
        it.runs.push(ToolRun { nonce: 7, process: 200, is_again: true });
        let call = &mut it.calls[0];
        (call.session, call.level, call.rounds) = (None, None, 2);
        call.seen.truncate(2);
        call.end = End::Cut;
        it.effects.clear();
        let kind = FaultKind::Kill(killed);
        it.faults.push(Fault { kind, begin: at(10), end: at(12) });
    };
    assert_eq!(broken_if(|it| continued(it, 200)), []);
    assert_eq!(broken_if(|it| continued(it, PROCESS)), [Rule::FailureExplained]);
}
