//! Histories of tasks.

use super::*;
use crate::ledger::{HARMLESS, Task, TaskEnd};

const NONCE: u64 = 9;

/// A task that ran from second 10 to second 12 in a process, beside the good call.
fn with_task(change: impl FnOnce(&mut Ledger)) -> Vec<Rule> {
    broken(|ledger| {
        ledger.tasks.push(Task {
            nonce: NONCE,
            session: Some(SESSION.to_owned()),
            is_idempotent: false,
            began: at(10),
            created: Some(at(10)),
            ended: at(12),
            polls: 3,
            end: TaskEnd::Completed(format!("{:016x}", digest(NONCE, ""))),
        });
        ledger.runs.push(run_in(PROCESS));
        change(ledger);
    })
}

fn run_in(process: u32) -> ToolRun {
    ToolRun { nonce: NONCE, process, is_again: false }
}

/// The rules that a task breaks if it ends otherwise, with one fault.
fn task_ends(end: TaskEnd, kind: FaultKind, (begin, over): (u64, u64)) -> Vec<Rule> {
    with_task(|ledger| {
        ledger.tasks[0].end = end;
        ledger.faults.push(Fault { kind, begin: at(begin), end: at(over) });
    })
}

fn stopped() -> TaskEnd {
    TaskEnd::Failed("the process stopped".to_owned(), None)
}

#[test]
fn a_task_that_completes_has_no_violation() {
    assert_eq!(with_task(|_| {}), []);
}

#[test]
fn a_task_that_completes_with_another_result_or_without_a_run_is_found() {
    let wrong = |it: &mut Ledger| it.tasks[0].end = TaskEnd::Completed("other".to_owned());
    assert_eq!(with_task(wrong), [Rule::RightAnswer]);
    assert_eq!(with_task(|it| it.runs.truncate(1)), [Rule::RightAnswer]);
}

#[test]
fn a_task_that_fails_or_is_lost_in_a_restart_is_found() {
    let restart = FaultKind::Restart(PROCESS);
    assert_eq!(task_ends(stopped(), restart, (11, 12)), [Rule::TaskEnds]);
    assert_eq!(task_ends(TaskEnd::Unknown, restart, (11, 12)), [Rule::TaskKept]);
    let refused = TaskEnd::NotCreated(End::Status(502));
    assert_eq!(task_ends(refused, restart, (11, 12)), [Rule::FailureExplained]);
}

#[test]
fn a_task_of_a_killed_replica_may_fail_within_fifteen_seconds() {
    assert_eq!(task_ends(stopped(), FaultKind::Kill(PROCESS), (11, 12)), []);
    assert_eq!(task_ends(stopped(), FaultKind::Kill(200), (11, 12)), [Rule::TaskEnds]);
    let late = |it: &mut Ledger| {
        (it.tasks[0].end, it.tasks[0].ended) = (stopped(), at(27));
        let kind = FaultKind::Kill(PROCESS);
        it.faults.push(Fault { kind, begin: at(11), end: at(12) });
    };
    assert_eq!(with_task(late), [Rule::TaskEnds]);
    let late_by_a_pause = |it: &mut Ledger| {
        late(it);
        it.faults.push(Fault { kind: FaultKind::Pause(200), begin: at(20), end: at(30) });
    };
    assert_eq!(with_task(late_by_a_pause), []);
}

#[test]
fn a_task_has_failed_when_its_server_says_so_and_not_when_its_client_hears_of_it() {
    let failed = |it: &mut Ledger, seconds| {
        let end = TaskEnd::Failed("the process stopped".to_owned(), Some(at(seconds)));
        (it.tasks[0].end, it.tasks[0].ended) = (end, at(40));
        let kind = FaultKind::Pause(PROCESS);
        it.faults.push(Fault { kind, begin: at(11), end: at(26) });
    };
    assert_eq!(with_task(|it| failed(it, 30)), []);
    assert_eq!(with_task(|it| failed(it, 32)), [Rule::TaskEnds]);
}

#[test]
fn a_task_is_overdue_if_it_had_time_without_faults() {
    let overdue = |it: &mut Ledger, faults: &[(FaultKind, u64, u64)]| {
        (it.tasks[0].end, it.tasks[0].ended) = (TaskEnd::Overdue, at(70));
        let fault = |&(kind, begin, end)| Fault { kind, begin: at(begin), end: at(end) };
        it.faults.extend(faults.iter().map(fault));
    };
    let (away, slow) = (FaultKind::Store("hangs"), FaultKind::Store(HARMLESS));
    let (own, other) = (FaultKind::Kill(PROCESS), FaultKind::Kill(200));
    let mut faults = vec![(away, 11, 20), (own, 22, 24), (away, 38, 50), (away, 53, 69)];
    assert_eq!(with_task(|it| overdue(it, &faults)), []);
    faults[1].0 = other;
    assert_eq!(with_task(|it| overdue(it, &faults)), [Rule::TaskEnds], "from 22 to 38");
    faults[1] = (slow, 21, 38);
    assert_eq!(with_task(|it| overdue(it, &faults)), [Rule::TaskEnds]);
    faults[1].0 = away;
    assert_eq!(with_task(|it| overdue(it, &faults)), []);
    let restart = FaultKind::Restart(PROCESS);
    assert_eq!(with_task(|it| overdue(it, &[(restart, 11, 60)])), [Rule::TaskEnds]);
}

#[test]
fn a_task_that_may_run_again_must_not_fail_after_one_kill() {
    let killed = |it: &mut Ledger| {
        it.tasks[0].is_idempotent = true;
        let kind = FaultKind::Kill(PROCESS);
        it.faults.push(Fault { kind, begin: at(11), end: at(12) });
    };
    let again = |it: &mut Ledger| {
        killed(it);
        it.runs.push(run_in(200));
    };
    assert_eq!(with_task(again), []);
    let fails = |it: &mut Ledger| {
        killed(it);
        it.tasks[0].end = stopped();
    };
    assert_eq!(with_task(fails), [Rule::TaskEnds]);
}

#[test]
fn a_task_whose_client_did_not_get_its_id_may_run_again_after_a_later_kill() {
    let unknown = |it: &mut Ledger| {
        it.tasks[0].is_idempotent = true;
        (it.tasks[0].created, it.tasks[0].end) = (None, TaskEnd::NotCreated(End::Status(502)));
        it.runs.push(run_in(200));
        it.faults.push(Fault { kind: FaultKind::Kill(300), begin: at(11), end: at(12) });
        it.faults.push(Fault { kind: FaultKind::Kill(PROCESS), begin: at(20), end: at(21) });
    };
    // The request may have met the first replica that was killed, so nothing else is wrong.
    assert!(!with_task(unknown).contains(&Rule::RunsOnce));
    let known = |it: &mut Ledger| {
        unknown(it);
        it.tasks[0].created = Some(at(10));
    };
    assert!(with_task(known).contains(&Rule::RunsOnce));
}

#[test]
fn a_task_that_runs_twice_without_a_cause_is_found() {
    assert_eq!(with_task(|it| it.runs.push(run_in(200))), [Rule::RunsOnce]);
    let again = |it: &mut Ledger| {
        it.tasks[0].is_idempotent = true;
        it.runs.push(run_in(200));
    };
    assert_eq!(with_task(again), [Rule::RunsOnce]);
}

#[test]
fn a_task_may_run_in_three_processes_if_two_were_killed_long_before_its_end() {
    let killed = |it: &mut Ledger, processes: &[u32]| {
        (it.tasks[0].is_idempotent, it.tasks[0].ended) = (true, at(60));
        it.runs.extend([run_in(200), run_in(201)]);
        for (begin, process) in [11, 25].into_iter().zip(processes) {
            let kind = FaultKind::Kill(*process);
            it.faults.push(Fault { kind, begin: at(begin), end: at(begin + 1) });
        }
    };
    assert_eq!(with_task(|it| killed(it, &[PROCESS, 200])), []);
    assert_eq!(with_task(|it| killed(it, &[PROCESS])), [Rule::RunsOnce]);
    assert_eq!(with_task(|it| killed(it, &[PROCESS, 201])), [Rule::RunsOnce]);
}

#[test]
fn a_task_may_be_forgotten_only_if_the_store_lost_data() {
    assert_eq!(task_ends(TaskEnd::Unknown, FaultKind::StoreLoss("emptied"), (11, 12)), []);
    let before = task_ends(TaskEnd::Unknown, FaultKind::StoreLoss("emptied"), (2, 3));
    assert_eq!(before, [Rule::TaskKept]);
    let changed = TaskEnd::Changed("working".to_owned());
    assert_eq!(task_ends(changed, FaultKind::Store("killed"), (11, 12)), [Rule::TaskKept]);
}

#[test]
fn a_store_that_is_away_for_a_moment_does_not_fail_a_task() {
    assert_eq!(task_ends(stopped(), FaultKind::Store("hangs"), (10, 11)), [Rule::TaskEnds]);
    assert_eq!(task_ends(stopped(), FaultKind::Store("hangs"), (1, 11)), []);
}

#[test]
fn a_call_may_be_lost_with_its_process_though_another_one_runs_the_task_later() {
    let refused = |it: &mut Ledger, is_idempotent| {
        it.tasks[0].is_idempotent = is_idempotent;
        it.tasks[0].end = TaskEnd::NotCreated(End::Status(502));
        let kind = FaultKind::Kill(200);
        it.faults.push(Fault { kind, begin: at(11), end: at(12) });
    };
    assert_eq!(with_task(|it| refused(it, true)), []);
    assert_eq!(with_task(|it| refused(it, false)), [Rule::FailureExplained]);
}
