//! Which fault explains which failure.

use std::collections::HashMap;
use std::time::Duration;

use super::{FAILS_WITHIN, RECOVERY};
use crate::ledger::{Call, End, Fault, FaultKind, Ledger, Refusal};

/// Which processes ran which call. A call that asks may run in several, one after another.
#[derive(Clone, Debug, Default)]
pub struct Processes(HashMap<u64, Vec<u32>>);

impl Processes {
    /// Those of a run.
    pub fn of(ledger: &Ledger) -> Self {
        let mut processes = Self::default();
        for run in &ledger.runs {
            processes.0.entry(run.nonce).or_default().push(run.process);
        }
        processes
    }

    /// The processes that ran a call, in order.
    pub fn of_nonce(&self, nonce: u64) -> &[u32] {
        self.0.get(&nonce).map_or(&[], Vec::as_slice)
    }

    /// The process that got the last request of a call, if one did.
    pub fn of_call(&self, call: &Call) -> Option<u32> {
        let all = self.0.get(&call.nonce)?;
        all.get(call.rounds as usize - 1).copied()
    }
}

/// How long after a pause another replica may still end its streams, until it has renewed its lease.
pub(super) const LEASE_RENEWED: Duration = Duration::from_secs(5);

/// A lease lasts longer than this after its last renewal, so a shorter pause must not be noticed.
pub(super) const UNNOTICED: Duration = Duration::from_secs(6);

/// A call that failed.
#[derive(Clone, Copy, Debug)]
pub struct Failure<'a> {
    /// When the client sent it.
    pub began: Duration,
    /// When it failed.
    pub ended: Duration,
    /// How.
    pub end: &'a End,
    /// The session, if it has one.
    pub session: Option<&'a str>,
    /// Whether it needs the store: in a session, or to create a task.
    pub needs_store: bool,
    /// The process that ran it, if one did.
    pub process: Option<u32>,
}

impl<'a> Failure<'a> {
    /// The failure of a call.
    pub fn of_call(call: &'a Call, processes: &Processes) -> Self {
        Self {
            began: call.began,
            ended: call.ended,
            end: &call.end,
            session: call.session.as_deref(),
            needs_store: call.session.is_some(),
            process: processes.of_call(call),
        }
    }
}

/// The fault that explains why a call failed.
pub fn cause<'a>(ledger: &'a Ledger, call: &Failure<'_>) -> Option<&'a Fault> {
    let Failure { end, process, needs_store, .. } = *call;
    ledger.faults.iter().find(|fault| {
        let is_during = |until| fault.begin <= call.ended && call.ended <= until;
        match fault.kind {
            FaultKind::Kill(killed) if process == Some(killed) => {
                is_during(fails_until(ledger, fault)) && *end != End::Gap && !is_lost(end)
            }
            // A request that was on its way to the process.
            FaultKind::Kill(_) => {
                process.is_none()
                    && is_during(fault.begin + RECOVERY)
                    && matches!(end, End::Status(502) | End::Cut)
            }
            FaultKind::Pause(paused) => match (process, end) {
                // Another replica may have ended the stream.
                (Some(process), End::Failed(..)) => {
                    process == paused
                        && fault.end - fault.begin > UNNOTICED
                        && is_during(fault.end + LEASE_RENEWED)
                }
                // When the replica goes on, the time that it gave the store is over.
                (None, End::Status(503)) => {
                    needs_store
                        && fault.end <= call.ended
                        && call.began <= fault.end
                        && is_during(fault.end + RECOVERY)
                }
                _ => false,
            },
            FaultKind::Restart(_) => false,
            FaultKind::StoreLoss(_) if is_lost(end) => {
                loses_session(ledger, fault, call.session, call.ended)
            }
            FaultKind::Store(_) | FaultKind::StoreLoss(_) => {
                needs_store && may_end_in_outage(end) && is_explained(ledger, fault, call)
            }
        }
    })
}

/// Whether a loss of data explains that a session is not known at this time. The store may also lose
/// what it acknowledges a moment after it has begun again.
pub(super) fn loses_session(
    ledger: &Ledger,
    loss: &Fault,
    session: Option<&str>,
    at: Duration,
) -> bool {
    let opened = session.and_then(|id| ledger.sessions.get(id)).copied().unwrap_or_default();
    opened < loss.end + RECOVERY && loss.begin <= at
}

/// Whether a request may end in this way while the store fails. 500 or another status is a mistake
/// even then.
fn may_end_in_outage(end: &End) -> bool {
    match end {
        End::Status(status) => [502, 503].contains(status),
        End::Failed(code, _) => IN_OUTAGE.contains(code),
        End::Gap | End::Cut | End::Overdue => true,
        End::Answered | End::SessionLost => false,
    }
}

/// The error codes of an outage: of the tool, of the server, and "unavailable".
const IN_OUTAGE: [i64; 3] = [0, -32603, 503];

fn is_lost(end: &End) -> bool {
    *end == End::SessionLost
}

/// Whether a failure of the store explains the end of a call that ran meanwhile. What the store
/// refused stays missing, so a gap may show later.
fn is_explained(ledger: &Ledger, fault: &Fault, call: &Failure<'_>) -> bool {
    let has_met = call.began <= fault.end + RECOVERY && fault.begin <= call.ended;
    has_met && (*call.end == End::Gap || recovery(ledger, fault, call.ended) <= RECOVERY)
}

/// How long after a fault of the store something failed that the fault may explain. A replica that was
/// paused meanwhile reports what it met before only when it goes on, so then since the end of the pause.
pub fn recovery(ledger: &Ledger, fault: &Fault, at: Duration) -> Duration {
    let ends = ledger.faults.iter().filter_map(|pause| {
        let has_met = pause.begin <= fault.end + RECOVERY && fault.begin <= pause.end;
        let is_pause = matches!(pause.kind, FaultKind::Pause(_));
        (is_pause && has_met && pause.end <= at).then_some(pause.end)
    });
    let since = at.saturating_sub(fault.end);
    ends.map(|end| at - end).fold(since, Duration::min)
}

/// By when the calls of a killed replica have failed. Later if meanwhile the store was away, or a replica
/// was paused, at which a client may try to resume its stream.
pub(super) fn fails_until(ledger: &Ledger, kill: &Fault) -> Duration {
    let mut until = kill.begin + FAILS_WITHIN;
    for fault in &ledger.faults {
        let delays = !matches!(fault.kind, FaultKind::Kill(_) | FaultKind::Restart(_));
        if delays && fault.begin < until && kill.begin < fault.end {
            until += fault.end + RECOVERY - fault.begin.max(kill.begin);
        }
    }
    until
}

/// The fault that explains why a request other than a call failed.
pub fn refusal_cause<'a>(ledger: &'a Ledger, refusal: &Refusal) -> Option<&'a Fault> {
    ledger.faults.iter().find(|fault| {
        let is_during = |until| fault.begin <= refusal.at && refusal.at <= until;
        match fault.kind {
            FaultKind::StoreLoss(_) if is_lost(&refusal.end) => {
                loses_session(ledger, fault, refusal.session.as_deref(), refusal.at)
            }
            _ if is_lost(&refusal.end) => false,
            FaultKind::StoreLoss(_) | FaultKind::Store(_) => {
                // A stream that was written meanwhile has gaps later, too.
                let is_gap = refusal.end == End::Gap && fault.begin <= refusal.at;
                let is_soon =
                    fault.begin <= refusal.at && recovery(ledger, fault, refusal.at) <= RECOVERY;
                refusal.needs_store && may_end_in_outage(&refusal.end) && (is_gap || is_soon)
            }
            FaultKind::Kill(_) => {
                is_during(fault.begin + RECOVERY)
                    && matches!(refusal.end, End::Status(502) | End::Cut)
            }
            FaultKind::Pause(_) if refusal.end == End::Status(503) => {
                refusal.needs_store && fault.end <= refusal.at && is_during(fault.end + RECOVERY)
            }
            FaultKind::Pause(_) => is_during(fault.end + RECOVERY) && refusal.end == End::Overdue,
            FaultKind::Restart(_) => false,
        }
    })
}
