//! What becomes of tasks.

use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::time::Duration;

use super::causes::{LEASE_RENEWED, UNNOTICED, fails_until, loses_session};
use super::{Checker, FAILS_WITHIN, Failure, RECOVERY, Rule, cause};
use crate::ledger::{End, Fault, FaultKind, HARMLESS, Ledger, Task, TaskEnd, digest};

/// How often a task runs at most, if its tool is idempotent.
const MOST_RUNS: usize = 3;

/// How long the lease of a replica lasts.
const LEASE: Duration = Duration::from_secs(10);

/// If the store is away for so long within a lease, renewals may have failed.
const LEASE_IN_DANGER: Duration = Duration::from_secs(3);

/// A task ends within so much time in which nothing disturbs it: it works for two seconds, its server tries
/// every two seconds to record its end, and its client asks four times a second.
const ENDS_WITHIN: Duration = Duration::from_secs(5);

/// The nonces of tasks that may run again.
pub(super) fn repeatable(ledger: &Ledger) -> HashSet<u64> {
    ledger.tasks.iter().filter(|task| task.is_idempotent).map(|task| task.nonce).collect()
}

impl Checker<'_> {
    /// A task ends with the result for its nonce, or for a reason.
    pub(super) fn task(&mut self, task: &Task) {
        self.task_runs(task);
        let rule = match &task.end {
            TaskEnd::Completed(text) => {
                let has_run = !self.processes.of_nonce(task.nonce).is_empty();
                let is_right = *text == format!("{:016x}", digest(task.nonce, ""));
                (!has_run || !is_right).then_some(Rule::RightAnswer)
            }
            TaskEnd::Failed(_, at) => self
                .task_failure(task, at.unwrap_or(task.ended))
                .is_none()
                .then_some(Rule::TaskEnds),
            TaskEnd::NotCreated(end) => self.is_unexplained(task, end),
            TaskEnd::Unknown | TaskEnd::Changed(_) => {
                (!self.was_lost(task)).then_some(Rule::TaskKept)
            }
            TaskEnd::SessionLost => (!self.lost_session(task)).then_some(Rule::SessionKept),
            TaskEnd::Overdue => (self.undisturbed(task) > ENDS_WITHIN).then_some(Rule::TaskEnds),
        };
        if let Some(rule) = rule {
            let processes = self.processes.of_nonce(task.nonce);
            let near = self.faults_between(task.began.saturating_sub(FAILS_WITHIN), task.ended);
            self.report(rule, format!("{task:?} in {processes:?}; faults nearby: {near:?}"));
        }
    }

    /// A task runs again only if its process stopped, or seemed to.
    fn task_runs(&mut self, task: &Task) {
        let runs = self.processes.of_nonce(task.nonce);
        let Some((_, before)) = runs.split_last() else { return };
        let is_left = |process: &u32| {
            // No client notes when a task begins to run again, and up to three processes may have run it.
            // One whose client did not get its id lives on.
            let until = task.created.map_or(Duration::MAX, |_| task.ended);
            let lived = task.began..=until;
            self.ledger.faults.iter().any(|it| has_left(self.ledger, it, Some(*process), &lived))
        };
        let is_right = task.is_idempotent && runs.len() <= MOST_RUNS && before.iter().all(is_left);
        if !before.is_empty() && !is_right && task.is_idempotent {
            self.report(Rule::RunsOnce, format!("{task:?} in {runs:?}"));
        }
    }

    /// The fault that explains why a task failed at this time.
    fn task_failure(&self, task: &Task, at: Duration) -> Option<&Fault> {
        let runs = self.processes.of_nonce(task.nonce);
        // A task that may run again fails only after its last attempt, or if the call was lost.
        if task.is_idempotent && runs.len() < MOST_RUNS && !self.was_lost(task) {
            return None;
        }
        let (last, seen) = (runs.last().copied(), at..=at);
        self.ledger.faults.iter().find(|fault| has_left(self.ledger, fault, last, &seen))
    }

    /// For how long a task could go on: the store worked, and the processes that ran it neither were
    /// killed nor paused a moment before.
    fn undisturbed(&self, task: &Task) -> Duration {
        let runs = self.processes.of_nonce(task.nonce);
        let mut at = task.created.unwrap_or(task.began);
        let mut sum = Duration::ZERO;
        // In the order in which they began.
        for fault in &self.ledger.faults {
            let until = match fault.kind {
                FaultKind::Kill(killed) if runs.contains(&killed) => {
                    fails_until(self.ledger, fault)
                }
                FaultKind::Pause(paused) if runs.contains(&paused) => fault.end + LEASE_RENEWED,
                FaultKind::Store(name) if name != HARMLESS => fault.end + RECOVERY,
                FaultKind::StoreLoss(_) => fault.end + RECOVERY,
                _ => continue,
            };
            sum += fault.begin.min(task.ended).saturating_sub(at);
            at = at.max(until);
        }
        sum + task.ended.saturating_sub(at)
    }

    fn is_unexplained(&self, task: &Task, end: &End) -> Option<Rule> {
        let rule = match end {
            End::SessionLost => Rule::SessionKept,
            _ => Rule::FailureExplained,
        };
        let process = self.processes.of_nonce(task.nonce).last().copied();
        let (began, ended) = (task.began, task.ended);
        let session = task.session.as_deref();
        let has_cause = |process| {
            let failure = Failure { began, ended, end, session, needs_store: true, process };
            cause(self.ledger, &failure).is_some()
        };
        // Another process may run a task later whose first process was killed before it noted the run.
        let is_explained = has_cause(process) || (task.is_idempotent && has_cause(None));
        (!is_explained).then_some(rule)
    }

    /// Whether the store lost data that it had acknowledged a moment before the task was created, or
    /// later.
    fn was_lost(&self, task: &Task) -> bool {
        self.ledger.faults.iter().any(|fault| {
            matches!(fault.kind, FaultKind::StoreLoss(_))
                && fault.end + RECOVERY > task.began
                && fault.begin <= task.ended
        })
    }

    /// Whether the store lost the session of the task.
    fn lost_session(&self, task: &Task) -> bool {
        self.ledger.faults.iter().any(|fault| {
            matches!(fault.kind, FaultKind::StoreLoss(_))
                && loses_session(self.ledger, fault, task.session.as_deref(), task.ended)
        })
    }
}

/// Whether a fault explains that a replica was taken for dead at some time of `seen`. A task that no
/// process has noted may have been in any.
fn has_left(
    ledger: &Ledger,
    fault: &Fault,
    process: Option<u32>,
    seen: &RangeInclusive<Duration>,
) -> bool {
    let is_of = |other| process.is_none_or(|process| process == other);
    let is_during = |until| fault.begin <= *seen.end() && *seen.start() <= until;
    match fault.kind {
        FaultKind::Kill(killed) => is_of(killed) && is_during(fails_until(ledger, fault)),
        FaultKind::Pause(paused) => {
            is_of(paused)
                && fault.end - fault.begin > UNNOTICED
                && is_during(fault.end + LEASE_RENEWED)
        }
        FaultKind::Restart(_) => false,
        FaultKind::StoreLoss(_) => is_during(fault.end + LEASE),
        FaultKind::Store(_) => {
            let at = fault.end.clamp(*seen.start(), *seen.end());
            is_during(fault.end + LEASE) && store_was_away(ledger, at) > LEASE_IN_DANGER
        }
    }
}

/// For how long the store was away within a lease before this time.
fn store_was_away(ledger: &Ledger, until: Duration) -> Duration {
    let from = until.saturating_sub(LEASE + RECOVERY);
    let overlap = |fault: &Fault| match fault.kind {
        FaultKind::Store(_) | FaultKind::StoreLoss(_) => {
            fault.end.min(until).saturating_sub(fault.begin.max(from))
        }
        _ => Duration::ZERO,
    };
    ledger.faults.iter().map(overlap).sum()
}
