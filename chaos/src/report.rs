//! The figures of a run, as a small table.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use crate::checker::{Failure, Processes, cause, recovery, refusal_cause};
use crate::ledger::{
    Call, Change, End, FaultKind, Ledger, Message, Notice, Notified, Task, TaskEnd,
};

/// The figures of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    time: Duration,
    calls: usize,
    events: usize,
    answered: usize,
    questions: usize,
    /// How tasks ended.
    tasks: BTreeMap<&'static str, usize>,
    /// The longest time from a kill to the failure of a task of that replica.
    longest_task_failure: Duration,
    changes: usize,
    /// How clients learned of changes.
    notices: BTreeMap<&'static str, usize>,
    /// The longest time from the answer of a call to the notification of its change.
    longest_notice: Duration,
    resumed: u32,
    faults: BTreeMap<&'static str, usize>,
    failures: BTreeMap<String, usize>,
    refusals: BTreeMap<String, usize>,
    /// The longest time from a kill to the failure of a call of that replica.
    longest_failure: Duration,
    /// The longest [time](recovery) from the end of a fault of the store to a failure that it explains.
    recovery: Duration,
}

impl Report {
    /// Counts.
    pub fn of(ledger: &Ledger) -> Self {
        let mut report = Self::default();
        for fault in &ledger.faults {
            *report.faults.entry(fault.kind.name()).or_default() += 1;
        }
        let processes = Processes::of(ledger);
        for call in &ledger.calls {
            report.add(ledger, call, &processes);
        }
        for task in &ledger.tasks {
            report.add_task(ledger, task, &processes);
        }
        for change in &ledger.changes {
            report.add_change(change);
        }
        for refusal in &ledger.refusals {
            let name = format!("{}: {}", refusal.request, name(&refusal.end));
            *report.refusals.entry(name).or_default() += 1;
            if let Some(fault) = refusal_cause(ledger, refusal)
                && matches!(fault.kind, FaultKind::Store(_) | FaultKind::StoreLoss(_))
                && !matches!(refusal.end, End::SessionLost | End::Gap)
            {
                report.recovery = report.recovery.max(recovery(ledger, fault, refusal.at));
            }
        }
        report
    }

    fn add_task(&mut self, ledger: &Ledger, task: &Task, processes: &Processes) {
        *self.tasks.entry(task_end(&task.end)).or_default() += 1;
        let killed = ledger.faults.iter().rev().find(|fault| {
            matches!(fault.kind, FaultKind::Kill(killed) if processes.of_nonce(task.nonce).last() == Some(&killed))
        });
        if let (TaskEnd::Failed(_, at), Some(fault)) = (&task.end, killed) {
            let time = at.unwrap_or(task.ended).saturating_sub(fault.begin);
            self.longest_task_failure = self.longest_task_failure.max(time);
        }
    }

    fn add_change(&mut self, change: &Change) {
        self.changes += 1;
        let name = match change.notified {
            Some(Notified { by: Notice::Change, .. }) => "notified",
            Some(Notified { by: Notice::Everything, .. }) => "notified with all others",
            Some(Notified { by: Notice::Subscribed, .. }) => "new subscription",
            None => "lost",
        };
        *self.notices.entry(name).or_default() += 1;
        if let Some(notified) = change.notified {
            let time = notified.at.saturating_sub(change.answered);
            self.longest_notice = self.longest_notice.max(time);
        }
    }

    fn add(&mut self, ledger: &Ledger, call: &Call, processes: &Processes) {
        let is_event = |message: &Message| matches!(message, Message::Event(..));
        self.time = self.time.max(call.ended);
        self.calls += 1;
        self.events += call.seen.iter().filter(|seen| is_event(&seen.message)).count();
        self.questions += call.given.len();
        self.resumed += call.resumed;
        if call.end == End::Answered {
            self.answered += 1;
            return;
        }
        *self.failures.entry(name(&call.end)).or_default() += 1;
        let Some(fault) = cause(ledger, &Failure::of_call(call, processes)) else { return };
        match fault.kind {
            FaultKind::Kill(_) => {
                self.longest_failure = self.longest_failure.max(call.ended - fault.begin);
            }
            FaultKind::Store(_) | FaultKind::StoreLoss(_)
                if !matches!(call.end, End::SessionLost | End::Gap) =>
            {
                self.recovery = self.recovery.max(recovery(ledger, fault, call.ended));
            }
            _ => {}
        }
    }
}

/// How a task ended.
fn task_end(end: &TaskEnd) -> &'static str {
    match end {
        TaskEnd::Completed(_) => "completed",
        TaskEnd::Failed(..) => "failed",
        TaskEnd::NotCreated(_) => "not created",
        TaskEnd::Unknown => "unknown",
        TaskEnd::SessionLost => "session lost (404)",
        TaskEnd::Changed(_) => "changed after its end",
        TaskEnd::Overdue => "no end in time",
    }
}

/// A kind of failure.
fn name(end: &End) -> String {
    match end {
        End::Answered => "answered".to_owned(),
        End::Failed(code, _) => format!("error {code}"),
        End::Status(status) => format!("status {status}"),
        End::Gap => "gap (400)".to_owned(),
        End::SessionLost => "session lost (404)".to_owned(),
        End::Cut => "connection cut".to_owned(),
        End::Overdue => "no answer in time".to_owned(),
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: String| writeln!(f, "{name:<36}{value:>10}");
        row("time", format!("{:.0} s", self.time.as_secs_f64()))?;
        row("calls", self.calls.to_string())?;
        row("calls answered", self.answered.to_string())?;
        row("questions answered", self.questions.to_string())?;
        row("events received", self.events.to_string())?;
        row("streams resumed", self.resumed.to_string())?;
        row("changes followed", self.changes.to_string())?;
        for (name, count) in &self.notices {
            row(&format!("changes: {name}"), count.to_string())?;
        }
        for (name, count) in &self.tasks {
            row(&format!("tasks: {name}"), count.to_string())?;
        }
        for (name, count) in &self.faults {
            row(&format!("fault: {name}"), count.to_string())?;
        }
        for (name, count) in &self.failures {
            row(&format!("calls failed: {name}"), count.to_string())?;
        }
        for (name, count) in &self.refusals {
            row(name, count.to_string())?;
        }
        let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
        row("longest time to a notification", seconds(self.longest_notice))?;
        row("longest failure after a kill", seconds(self.longest_failure))?;
        row("longest failure of a task", seconds(self.longest_task_failure))?;
        row("recovery after a fault of the store", seconds(self.recovery))
    }
}
