//! Judges a run by its ledger alone. It shares no code with the product, so a mistake of the product
//! is not a mistake of the checker as well.
//!
//! * `causes`: which fault explains which failure.
//! * `questions`: what becomes of the answers to questions.
//! * `tasks`: what becomes of tasks.
//! * `changes`: whether clients are notified of changes.

mod causes;
mod changes;
mod questions;
mod tasks;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::time::Duration;

pub use self::causes::{Failure, Processes, cause, recovery, refusal_cause};
use crate::ledger::{Call, End, Fault, FaultKind, Ledger, Message, Refusal, Seen, ToolRun, digest};

/// After a fault everything works again within this time.
pub const RECOVERY: Duration = Duration::from_secs(2);

/// The calls of a killed replica fail within this time.
pub const FAILS_WITHIN: Duration = Duration::from_secs(15);

/// A promise that was broken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Which promise.
    pub rule: Rule,
    /// Where it was broken.
    pub text: String,
}

/// What is promised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Without repeated ids, the events of a call are 1, 2, 3 and so on; up to the last if answered.
    EventsInOrder,
    /// An id stands for one message.
    OneContentPerId,
    /// A call runs at most once, and once if it is answered.
    RunsOnce,
    /// A call has one answer, for its nonce and its session.
    RightAnswer,
    /// The questions of a call come in order, each once; up to the last if answered.
    QuestionsInOrder,
    /// A tool uses the answers to its questions once, and as the client gave them.
    AnswersUsedOnce,
    /// A task that was created is known until it has ended, and its end does not change, unless the
    /// store lost it.
    TaskKept,
    /// A task that was created ends, and fails only because of a fault that explains it.
    TaskEnds,
    /// A client is notified of each change that it follows, or that everything may have changed.
    ChangeSeen,
    /// A session is lost only if the store lost it.
    SessionKept,
    /// A setting that was acknowledged stays.
    SettingKept,
    /// A call fails only because of a fault that explains it.
    FailureExplained,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.rule, self.text)
    }
}

/// Finds everything that broke a promise.
pub fn check(ledger: &Ledger) -> Vec<Violation> {
    let processes = Processes::of(ledger);
    let mut checker = Checker { ledger, processes, violations: Vec::new() };
    checker.runs();
    checker.ids();
    checker.effects();
    for call in &ledger.calls {
        checker.events(call);
        checker.questions(call);
        checker.answers(call);
        checker.setting(call);
        checker.ending(call);
    }
    for task in &ledger.tasks {
        checker.task(task);
    }
    for change in &ledger.changes {
        checker.change(change);
    }
    for refusal in &ledger.refusals {
        checker.refusal(refusal);
    }
    checker.violations
}

struct Checker<'a> {
    ledger: &'a Ledger,
    processes: Processes,
    violations: Vec<Violation>,
}

impl Checker<'_> {
    fn report(&mut self, rule: Rule, text: String) {
        self.violations.push(Violation { rule, text });
    }

    /// No call runs twice.
    fn runs(&mut self) {
        let mut known = HashMap::new();
        let may_repeat = tasks::repeatable(self.ledger);
        let once = |run: &&ToolRun| !run.is_again && !may_repeat.contains(&run.nonce);
        for run in self.ledger.runs.iter().filter(once) {
            if let Some(first) = known.insert(run.nonce, run.process) {
                let text = format!("{} ran in {first} and in {}", run.nonce, run.process);
                self.report(Rule::RunsOnce, text);
            }
        }
    }

    /// No id has two messages, in all calls of a session.
    fn ids(&mut self) {
        let mut known: HashMap<(&str, &str), &Message> = HashMap::new();
        for call in &self.ledger.calls {
            let Some(session) = &call.session else { continue };
            for seen in &call.seen {
                let Some(id) = &seen.id else { continue };
                let first = *known.entry((session, id)).or_insert(&seen.message);
                if *first != seen.message {
                    let text = format!("{session} {id}: {first:?}, then {:?}", seen.message);
                    self.report(Rule::OneContentPerId, text);
                }
            }
        }
    }

    /// The events of a call, without those whose id was seen before, count from 1.
    fn events(&mut self, call: &Call) {
        let mut ids = HashSet::new();
        let mut last = 0;
        for seen in &call.seen {
            let is_new = seen.id.as_ref().is_none_or(|id| ids.insert(id));
            match &seen.message {
                Message::Event(..) if is_repeated(call, seen) => {}
                Message::Event(token, number) if is_new => {
                    if *token != call.nonce || *number != last + 1 {
                        let text = format!("event {number} of {token} after {last}: {}", of(call));
                        self.report(Rule::EventsInOrder, text);
                    }
                    last = *number;
                }
                Message::Other(text) => {
                    let text = format!("{text}: {}", of(call));
                    self.report(Rule::EventsInOrder, text);
                }
                _ => {}
            }
        }
        if call.end == End::Answered && last != call.wanted {
            let text = format!("{last} events of {}: {}", call.wanted, of(call));
            self.report(Rule::EventsInOrder, text);
        }
    }

    /// An answered call ran, and all its answers are the right one.
    fn answers(&mut self, call: &Call) {
        let session = call.session.as_deref().unwrap_or_default();
        let right = format!("{} {:016x}", answer_of(call), digest(call.nonce, session));
        let mut ends = HashSet::new();
        for seen in &call.seen {
            let is_right = match &seen.message {
                Message::Answer(id, text) => *id == call.request && *text == right,
                Message::Error(id, ..) => *id == call.request,
                _ => continue,
            };
            if !is_right {
                self.report(Rule::RightAnswer, format!("{:?}: {}", seen.message, of(call)));
            }
            if self.is_from_another(call, seen) {
                continue;
            }
            let is_new = !is_repeated(call, seen) && ends.insert((&seen.id, &seen.message));
            if is_new && ends.len() > 1 {
                let text = format!("a second answer: {:?}, after {ends:?}: {}", seen, of(call));
                self.report(Rule::RightAnswer, text);
            }
        }
        if call.end == End::Answered && self.processes.of_call(call).is_none() {
            self.report(Rule::RunsOnce, format!("answered and never run: {}", of(call)));
        }
    }

    /// Whether a message is the error that ends the stream of a dead replica. Its replica had answered,
    /// but could not put the answer into the log, because the store failed, and seemed to be dead.
    fn is_from_another(&self, call: &Call, seen: &Seen) -> bool {
        let is_error = matches!(seen.message, Message::Error(_, -32603, _)) && seen.id.is_some();
        let was_unstored = call
            .seen
            .iter()
            .any(|other| other.id.is_none() && matches!(other.message, Message::Answer(..)));
        let store_failed = self.ledger.faults.iter().any(|fault| {
            matches!(fault.kind, FaultKind::Store(_) | FaultKind::StoreLoss(_))
                && fault.begin <= call.ended
                && call.began <= fault.end
        });
        is_error && was_unstored && store_failed
    }

    /// A log message comes if the session asked for it, and only then.
    fn setting(&mut self, call: &Call) {
        let Some(level) = call.level else { return };
        let was_lost = self.ledger.faults.iter().any(|fault| {
            let is_loss = matches!(fault.kind, FaultKind::StoreLoss(_));
            // What was acknowledged a moment before the loss may be lost.
            is_loss && fault.end + RECOVERY > level.since && fault.begin < call.ended
        });
        let has_log = call.seen.iter().any(|seen| seen.message == Message::Log);
        let is_wrong = match level.has_info {
            true => !has_log && call.end == End::Answered,
            false => has_log,
        };
        if is_wrong && !was_lost {
            let near = self.faults_between(level.since.saturating_sub(FAILS_WITHIN), call.ended);
            let text = format!("{level:?}: {}; faults nearby: {near:?}", of(call));
            self.report(Rule::SettingKept, text);
        }
    }

    /// A failure has a cause.
    fn ending(&mut self, call: &Call) {
        let failure = Failure::of_call(call, &self.processes);
        let rule = match call.end {
            End::Answered => return,
            End::SessionLost => Rule::SessionKept,
            _ => Rule::FailureExplained,
        };
        if cause(self.ledger, &failure).is_none() {
            let near = self.faults_between(call.began.saturating_sub(FAILS_WITHIN), call.ended);
            let text =
                format!("{} in process {:?}; faults nearby: {near:?}", of(call), failure.process);
            self.report(rule, text);
        }
    }

    /// The faults of a part of the run.
    fn faults_between(&self, begin: Duration, end: Duration) -> Vec<Fault> {
        let is_in = |fault: &&Fault| begin < fault.end && fault.begin < end;
        self.ledger.faults.iter().filter(is_in).copied().collect()
    }

    fn refusal(&mut self, refusal: &Refusal) {
        let rule = match refusal.end {
            End::SessionLost => Rule::SessionKept,
            _ => Rule::FailureExplained,
        };
        if refusal_cause(self.ledger, refusal).is_none() {
            self.report(rule, format!("{refusal:?}"));
        }
    }
}

/// Whether a message has an id and came before without one. The store's reply was lost, so the replica
/// did not know the id; a client that resumes may get the message again.
fn is_repeated(call: &Call, seen: &Seen) -> bool {
    let is_same = |other: &Seen| other.id.is_none() && other.message == seen.message;
    let before = call.seen.iter().take_while(|other| !std::ptr::eq(*other, seen));
    seen.id.is_some() && before.into_iter().any(is_same)
}

/// What the tool returns before the digest: how far it counted, or the answers that it got.
fn answer_of(call: &Call) -> String {
    match call.questions {
        0 => call.wanted.to_string(),
        _ => questions::given(call),
    }
}

/// A call in a few words.
fn of(call: &Call) -> String {
    let kind = call.session.as_deref().unwrap_or("no session");
    let (began, ended) = (call.began.as_secs_f64(), call.ended.as_secs_f64());
    format!(
        "call {} ({kind}) from {began:.3} to {ended:.3} s, {} messages, the last {:?}, \
         {} of {} questions answered, {} times resumed, {:?}",
        call.nonce,
        call.seen.len(),
        call.seen.last().map(|seen| &seen.id),
        call.given.len(),
        call.questions,
        call.resumed,
        call.end
    )
}
