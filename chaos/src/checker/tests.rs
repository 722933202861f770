mod changes;
mod questions;
mod tasks;

use super::*;
use crate::ledger::{Fault, Level, ToolRun};

const SESSION: &str = "session";
const PROCESS: u32 = 100;

fn at(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn event(id: &str, message: Message) -> Seen {
    Seen { id: Some(id.to_owned()), message }
}

fn answer(nonce: u64, wanted: u32, session: &str) -> Message {
    Message::Answer(nonce, format!("{wanted} {:016x}", digest(nonce, session)))
}

/// A ledger with a call of two events that ran from second 10 to second 11.
fn good() -> Ledger {
    let seen = vec![
        event("1.1", Message::Log),
        event("1.2", Message::Event(7, 1)),
        event("1.3", Message::Event(7, 2)),
        event("1.4", answer(7, 2, SESSION)),
    ];
    let call = Call {
        nonce: 7,
        session: Some(SESSION.to_owned()),
        wanted: 2,
        questions: 0,
        touches: None,
        given: Vec::new(),
        request: 7,
        rounds: 1,
        began: at(10),
        ended: at(11),
        seen,
        level: Some(Level { has_info: true, since: at(5) }),
        end: End::Answered,
        resumed: 0,
    };
    let run = ToolRun { nonce: 7, process: PROCESS, is_again: false };
    Ledger { calls: vec![call], runs: vec![run], ..Ledger::default() }
}

/// The rules that a ledger breaks after a change.
fn broken(change: impl FnOnce(&mut Ledger)) -> Vec<Rule> {
    let mut ledger = good();
    change(&mut ledger);
    check(&ledger).into_iter().map(|violation| violation.rule).collect()
}

/// The rules that a call breaks if it ends otherwise, with one fault.
fn ends(end: End, kind: FaultKind, (begin, over): (u64, u64)) -> Vec<Rule> {
    broken(|ledger| {
        ledger.calls[0].seen.truncate(2);
        ledger.calls[0].end = end;
        ledger.faults.push(Fault { kind, begin: at(begin), end: at(over) });
    })
}

fn failed() -> End {
    End::Failed(-32603, "the replica is gone".to_owned())
}

#[test]
fn a_good_run_has_no_violation() {
    assert_eq!(broken(|_| {}), []);
}

#[test]
fn an_answer_that_could_not_be_stored_may_be_an_error_in_the_log() {
    let gone = || event("1.5", Message::Error(7, -32603, "the endpoint is gone".to_owned()));
    let unstored = |it: &mut Ledger| {
        it.calls[0].seen[3].id = None;
        it.calls[0].seen.push(gone());
    };
    let failing = Fault { kind: FaultKind::Store("hangs"), begin: at(9), end: at(12) };
    assert_eq!(broken(unstored), [Rule::RightAnswer], "the store did not fail");
    let explained = |it: &mut Ledger| {
        unstored(it);
        it.faults.push(failing);
    };
    assert_eq!(broken(explained), []);
    let stored = |it: &mut Ledger| {
        it.calls[0].seen.push(gone());
        it.faults.push(failing);
    };
    assert_eq!(broken(stored), [Rule::RightAnswer]);
}

#[test]
fn an_event_that_comes_again_by_its_id_counts_once() {
    let again = |ledger: &mut Ledger| {
        let seen = ledger.calls[0].seen[1..3].to_vec();
        ledger.calls[0].seen.splice(3..3, seen);
    };
    assert_eq!(broken(again), []);
}

#[test]
fn a_missing_event_is_found() {
    assert_eq!(broken(|it| drop(it.calls[0].seen.remove(1))), [Rule::EventsInOrder]);
    assert_eq!(broken(|it| drop(it.calls[0].seen.remove(2))), [Rule::EventsInOrder]);
}

#[test]
fn an_event_that_comes_twice_with_two_ids_is_found() {
    let twice = |it: &mut Ledger| it.calls[0].seen.insert(3, event("1.9", Message::Event(7, 2)));
    assert_eq!(broken(twice), [Rule::EventsInOrder]);
}

#[test]
fn an_event_without_id_that_comes_twice_is_found() {
    let twice = |it: &mut Ledger| {
        it.calls[0].seen.insert(3, Seen { id: None, message: Message::Event(7, 2) });
    };
    assert_eq!(broken(twice), [Rule::EventsInOrder]);
}

#[test]
fn a_message_that_came_without_id_may_come_again_with_one() {
    let again = |it: &mut Ledger| {
        let seen = it.calls[0].seen[2..].to_vec();
        for first in &mut it.calls[0].seen[2..] {
            first.id = None;
        }
        it.calls[0].seen.extend(seen);
    };
    assert_eq!(broken(again), []);
}

#[test]
fn an_event_of_another_call_is_found() {
    let other = |it: &mut Ledger| it.calls[0].seen[1].message = Message::Event(8, 1);
    assert_eq!(broken(other), [Rule::EventsInOrder]);
}

#[test]
fn an_id_with_two_contents_is_found_also_in_two_calls() {
    let in_one = |it: &mut Ledger| it.calls[0].seen.insert(2, event("1.2", Message::Log));
    assert_eq!(broken(in_one), [Rule::OneContentPerId]);
    let in_two = |it: &mut Ledger| {
        let mut other = it.calls[0].clone();
        (other.nonce, other.request) = (8, 8);
        other.seen = vec![event("1.2", Message::Log), event("2.1", answer(8, 0, SESSION))];
        other.wanted = 0;
        it.calls.push(other);
        it.runs.push(ToolRun { nonce: 8, process: PROCESS, is_again: false });
    };
    assert_eq!(broken(in_two), [Rule::OneContentPerId]);
}

#[test]
fn a_call_that_runs_twice_is_found() {
    let twice = |it: &mut Ledger| it.runs.push(ToolRun { nonce: 7, process: 200, is_again: false });
    assert_eq!(broken(twice), [Rule::RunsOnce]);
}

#[test]
fn an_answer_without_a_run_is_found() {
    assert_eq!(broken(|it| it.runs.clear()), [Rule::RunsOnce]);
}

#[test]
fn an_answer_for_another_session_is_found() {
    let other = |it: &mut Ledger| it.calls[0].seen[3].message = answer(7, 2, "other");
    assert_eq!(broken(other), [Rule::RightAnswer]);
}

#[test]
fn an_answer_to_another_call_is_found() {
    let other = |it: &mut Ledger| it.calls[0].seen[3].message = answer(8, 2, SESSION);
    assert_eq!(broken(other), [Rule::RightAnswer]);
}

#[test]
fn a_second_answer_is_found() {
    let second = |it: &mut Ledger| it.calls[0].seen.push(event("1.5", answer(7, 2, SESSION)));
    assert_eq!(broken(second), [Rule::RightAnswer]);
    let error = Message::Error(7, -32603, String::new());
    let after = |it: &mut Ledger| it.calls[0].seen.push(event("1.5", error));
    assert_eq!(broken(after), [Rule::RightAnswer]);
}

#[test]
fn a_lost_setting_is_found_unless_the_store_lost_it() {
    let lost = |it: &mut Ledger| drop(it.calls[0].seen.remove(0));
    assert_eq!(broken(lost), [Rule::SettingKept]);
    let ignored =
        |it: &mut Ledger| it.calls[0].level = Some(Level { has_info: false, since: at(5) });
    assert_eq!(broken(ignored), [Rule::SettingKept]);
    let excused = |it: &mut Ledger| {
        lost(it);
        let kind = FaultKind::StoreLoss("emptied");
        it.faults.push(Fault { kind, begin: at(6), end: at(7) });
    };
    assert_eq!(broken(excused), []);
}

#[test]
fn a_session_may_be_lost_only_after_the_store_lost_data() {
    let lost = [Rule::SessionKept];
    assert_eq!(ends(End::SessionLost, FaultKind::Store("killed"), (9, 10)), lost);
    assert_eq!(ends(End::SessionLost, FaultKind::Kill(PROCESS), (10, 10)), lost);
    assert_eq!(ends(End::SessionLost, FaultKind::StoreLoss("emptied"), (12, 13)), lost);
    assert_eq!(ends(End::SessionLost, FaultKind::StoreLoss("emptied"), (8, 9)), []);
}

#[test]
fn a_session_that_was_opened_after_the_loss_must_not_be_lost() {
    let loss = FaultKind::StoreLoss("emptied");
    let opened = |it: &mut Ledger, seconds| {
        it.sessions.insert(SESSION.to_owned(), at(seconds));
        it.faults.push(Fault { kind: loss, begin: at(4), end: at(5) });
    };
    let ends = |seconds| {
        broken(|it| {
            opened(it, seconds);
            it.calls[0].seen.truncate(2);
            it.calls[0].end = End::SessionLost;
        })
    };
    assert_eq!(ends(6), []);
    assert_eq!(ends(7), [Rule::SessionKept]);
    let refused = |seconds| {
        broken(|it| {
            opened(it, seconds);
            let session = Some(SESSION.to_owned());
            let (at, end) = (at(12), End::SessionLost);
            it.refusals.push(Refusal { request: "resume", session, needs_store: true, at, end });
        })
    };
    assert_eq!(refused(6), []);
    assert_eq!(refused(7), [Rule::SessionKept]);
}

#[test]
fn a_store_that_fails_does_not_excuse_a_wrong_status_or_error() {
    let store = FaultKind::Store("killed");
    for end in [End::Status(502), End::Status(503), End::Cut, End::Gap, failed()] {
        assert_eq!(ends(end, store, (9, 12)), []);
    }
    for end in [End::Status(500), End::Status(400), End::Failed(-32602, String::new())] {
        assert_eq!(ends(end.clone(), store, (9, 12)), [Rule::FailureExplained], "{end:?}");
        let refused = broken(|it| {
            let (session, at) = (Some(SESSION.to_owned()), at(10));
            it.refusals.push(Refusal { request: "answer", session, needs_store: true, at, end });
            it.faults.push(Fault { kind: store, begin: self::at(9), end: self::at(12) });
        });
        assert_eq!(refused, [Rule::FailureExplained]);
    }
}

#[test]
fn a_call_of_a_killed_replica_may_fail_within_fifteen_seconds() {
    let kill = FaultKind::Kill(PROCESS);
    assert_eq!(ends(failed(), kill, (10, 12)), []);
    let late = |it: &mut Ledger| {
        it.calls[0].seen.truncate(2);
        it.calls[0].end = failed();
        it.calls[0].ended = at(26);
        it.faults.push(Fault { kind: kill, begin: at(10), end: at(12) });
    };
    assert_eq!(broken(late), [Rule::FailureExplained]);
    assert_eq!(ends(End::Gap, kill, (10, 12)), [Rule::FailureExplained], "no event is lost");
}

#[test]
fn a_call_of_another_replica_must_not_fail() {
    assert_eq!(ends(failed(), FaultKind::Kill(200), (10, 12)), [Rule::FailureExplained]);
    assert_eq!(ends(failed(), FaultKind::Restart(PROCESS), (10, 12)), [Rule::FailureExplained]);
    assert_eq!(ends(End::Cut, FaultKind::Pause(PROCESS), (2, 17)), [Rule::FailureExplained]);
    assert_eq!(ends(failed(), FaultKind::Pause(PROCESS), (9, 12)), [Rule::FailureExplained]);
    assert_eq!(ends(failed(), FaultKind::Pause(PROCESS), (2, 17)), []);
}

#[test]
fn a_request_on_its_way_to_a_killed_replica_may_be_refused_at_once() {
    let refused = |it: &mut Ledger, seconds: u64| {
        it.runs.clear();
        it.calls[0].seen.clear();
        it.calls[0].end = End::Status(502);
        it.calls[0].ended = at(10 + seconds);
        let kind = FaultKind::Kill(PROCESS);
        it.faults.push(Fault { kind, begin: at(10), end: at(12) });
    };
    assert_eq!(broken(|it| refused(it, 1)), []);
    assert_eq!(broken(|it| refused(it, 3)), [Rule::FailureExplained]);
}

#[test]
fn a_store_that_fails_excuses_calls_in_sessions_only_and_for_two_seconds() {
    let store = FaultKind::Store("killed");
    assert_eq!(ends(End::Status(503), store, (9, 10)), []);
    assert_eq!(ends(End::Status(503), store, (5, 8)), [Rule::FailureExplained]);
    let modern = |it: &mut Ledger| {
        it.calls[0].session = None;
        it.calls[0].seen.clear();
        it.calls[0].level = None;
        it.calls[0].end = End::Status(503);
        it.faults.push(Fault { kind: store, begin: at(9), end: at(12) });
    };
    assert_eq!(broken(modern), [Rule::FailureExplained]);
}

#[test]
fn a_replica_that_is_paused_while_the_store_fails_says_so_when_it_goes_on() {
    let store = FaultKind::Store("hangs");
    let unexplained = &[Rule::FailureExplained][..];
    for (paused, over, expected) in [(7, 10, &[][..]), (7, 12, unexplained), (11, 11, unexplained)]
    {
        let rules = broken(|it| {
            it.calls[0].seen.truncate(2);
            (it.calls[0].began, it.calls[0].end) = (at(6), End::Status(503));
            it.faults.push(Fault { kind: store, begin: at(5), end: at(8) });
            it.faults.push(Fault { kind: FaultKind::Pause(200), begin: at(paused), end: at(over) });
        });
        assert_eq!(rules, expected, "paused from {paused} to {over}");
    }
}

#[test]
fn a_replica_that_was_paused_has_no_time_left_for_the_store() {
    let refused = |it: &mut Ledger, ended| {
        it.runs.clear();
        it.calls[0].seen.clear();
        (it.calls[0].end, it.calls[0].ended) = (End::Status(503), at(ended));
        it.faults.push(Fault { kind: FaultKind::Pause(200), begin: at(9), end: at(24) });
    };
    assert_eq!(broken(|it| refused(it, 25)), []);
    for ended in [20, 27] {
        assert_eq!(broken(|it| refused(it, ended)), [Rule::FailureExplained], "{ended}");
    }
}

#[test]
fn a_refused_request_needs_a_cause_too() {
    let refused = |it: &mut Ledger, end, kind| {
        let session = Some(SESSION.to_owned());
        let refusal = Refusal { request: "resume", session, needs_store: true, at: at(10), end };
        it.refusals.push(refusal);
        it.faults.push(Fault { kind, begin: at(9), end: at(10) });
    };
    let restart = FaultKind::Restart(PROCESS);
    let found = broken(|it| refused(it, End::Status(502), restart));
    assert_eq!(found, [Rule::FailureExplained]);
    assert_eq!(broken(|it| refused(it, End::Status(502), FaultKind::Kill(1))), []);
    assert_eq!(broken(|it| refused(it, End::SessionLost, restart)), [Rule::SessionKept]);
    for end in [End::Overdue, End::Status(503)] {
        assert_eq!(broken(|it| refused(it, end, FaultKind::Pause(1))), []);
    }
}
