//! Whether clients are notified of changes.

use std::time::Duration;

use super::{Checker, RECOVERY, Rule};
use crate::ledger::{Change, Fault, FaultKind};

/// A client is notified of a change within this time after its call was answered: changes of a tenth
/// of a second are published together, a client may have no stream for 0.3 seconds, and takes a
/// stream for dead after four.
const NOTIFIED_WITHIN: Duration = Duration::from_secs(5);

/// A replica has published a change within this time after its call was answered.
const PUBLISHED_WITHIN: Duration = Duration::from_millis(500);

impl Checker<'_> {
    /// The client was notified of a change in time, or a fault explains why not.
    pub(super) fn change(&mut self, change: &Change) {
        let until = self.notified_until(change);
        let is_notified = change.notified.is_some_and(|notified| notified.at <= until);
        if is_notified || self.has_died_with(change) || self.has_lost_subscription(change) {
            return;
        }
        let process = self.processes.of_nonce(change.nonce).last();
        let near = self.ledger.faults.iter();
        let near: Vec<_> =
            near.filter(|it| change.sent < it.end + RECOVERY && it.begin < until).collect();
        self.report(Rule::ChangeSeen, format!("{change:?} in {process:?}; faults: {near:?}"));
    }

    /// By when the client is notified: later if the store or a replica does not answer meanwhile.
    fn notified_until(&self, change: &Change) -> Duration {
        let is_delay =
            |fault: &Fault| !matches!(fault.kind, FaultKind::Kill(_) | FaultKind::Restart(_));
        self.delayed(change, NOTIFIED_WITHIN, is_delay)
    }

    /// Whether the replica that made the change was killed before it had published it.
    fn has_died_with(&self, change: &Change) -> bool {
        let process = self.processes.of_nonce(change.nonce).last().copied();
        let is_delay = |fault: &Fault| match fault.kind {
            FaultKind::Kill(_) | FaultKind::Restart(_) => false,
            FaultKind::Pause(paused) => process == Some(paused),
            FaultKind::Store(_) | FaultKind::StoreLoss(_) => true,
        };
        let until = self.delayed(change, PUBLISHED_WITHIN, is_delay);
        self.ledger.faults.iter().any(|fault| {
            process.is_some_and(|process| fault.kind == FaultKind::Kill(process))
                && (change.sent..=until).contains(&fault.begin)
        })
    }

    /// The end of this time after the answer, or of the recovery from faults that began before.
    fn delayed(
        &self,
        change: &Change,
        time: Duration,
        is_delay: impl Fn(&Fault) -> bool,
    ) -> Duration {
        let mut until = change.answered + time;
        for fault in self.ledger.faults.iter().filter(|fault| is_delay(fault)) {
            if fault.begin < until && change.sent < fault.end {
                until = until.max(fault.end + RECOVERY);
            }
        }
        until
    }

    /// Whether the store lost the subscription, which it had acknowledged a moment before.
    fn has_lost_subscription(&self, change: &Change) -> bool {
        change.session.is_some()
            && self.ledger.faults.iter().any(|fault| {
                let may_be_lost = fault.begin.saturating_sub(RECOVERY)..fault.end + RECOVERY;
                matches!(fault.kind, FaultKind::StoreLoss(_))
                    && may_be_lost.contains(&change.followed)
            })
    }
}
