//! Where clients, tools and faults write.

use std::sync::Mutex;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;

use super::{Call, Change, Effect, End, Fault, FaultKind, Ledger, Refusal, Task, ToolRun};

/// The seconds of a day. No run takes one.
const DAY: f64 = 86_400.0;

/// Where clients and faults write.
#[derive(Debug)]
pub struct Recorder {
    began: Instant,
    /// The same by the clock of the day.
    began_at: SystemTime,
    ledger: Mutex<Ledger>,
}

impl Recorder {
    /// Begins a run.
    pub fn start() -> Self {
        let (began, began_at) = (Instant::now(), SystemTime::now());
        Self { began, began_at, ledger: Mutex::default() }
    }

    /// The time since the beginning.
    pub fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// When a moment was that a server names, such as `2026-07-28T10:30:00.5Z`.
    pub fn time_of(&self, moment: &str) -> Option<Duration> {
        let (_, time) = moment.strip_suffix('Z')?.split_once('T')?;
        let mut parts = time.split(':').map(str::parse::<f64>);
        let mut next = || parts.next()?.ok();
        let seconds: f64 = next()? * 3600.0 + next()? * 60.0 + next()?;
        let began = self.began_at.duration_since(UNIX_EPOCH).ok()?.as_secs_f64();
        Some(Duration::from_secs_f64((seconds - began).rem_euclid(DAY)))
    }

    /// Notes a call that has ended.
    pub fn call(&self, call: Call) {
        self.edit(|ledger| ledger.calls.push(call));
    }

    /// Notes a task that has ended, or was not created.
    pub fn task(&self, task: Task) {
        self.edit(|ledger| ledger.tasks.push(task));
    }

    /// Notes a change that its client knows of, or should know of by now.
    pub fn change(&self, change: Change) {
        self.edit(|ledger| ledger.changes.push(change));
    }

    /// Notes a session that was opened just now.
    pub fn session(&self, id: &str) {
        let now = self.now();
        self.edit(|ledger| ledger.sessions.insert(id.to_owned(), now));
    }

    /// Notes a request other than a call that has failed just now. It needs the store.
    pub fn refused(&self, request: &'static str, session: Option<&str>, end: End) {
        let session = session.map(str::to_owned);
        let refusal = Refusal { request, session, needs_store: true, at: self.now(), end };
        self.edit(|ledger| ledger.refusals.push(refusal));
    }

    /// Notes a request that has failed just now, and that does not need the store.
    pub fn refused_without_store(&self, request: &'static str, end: End) {
        let (session, at) = (None, self.now());
        let refusal = Refusal { request, session, needs_store: false, at, end };
        self.edit(|ledger| ledger.refusals.push(refusal));
    }

    /// Notes a fault that has ended just now.
    pub fn fault(&self, kind: FaultKind, begin: Duration) {
        let end = self.now();
        self.edit(|ledger| ledger.faults.push(Fault { kind, begin, end }));
    }

    /// Ends the run. `notes` is the file that the tools wrote.
    ///
    /// # Errors
    ///
    /// If a line of the file is no note.
    pub fn finish(&self, notes: &str) -> anyhow::Result<Ledger> {
        let mut ledger = self.edit(std::mem::take);
        for line in notes.lines() {
            ledger.add_note(line).with_context(|| format!("`{line}` is no note"))?;
        }
        ledger.faults.sort_by_key(|fault| fault.begin);
        Ok(ledger)
    }

    fn edit<T>(&self, edit: impl FnOnce(&mut Ledger) -> T) -> T {
        edit(&mut self.ledger.lock().expect("no writer panics"))
    }
}

impl Ledger {
    /// Adds a line of the file that the tools write: nonce, process, what happened, and its details.
    fn add_note(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let (nonce, process) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        match (words.next()?, words.next()) {
            ("run", None) => self.runs.push(ToolRun { nonce, process, is_again: false }),
            ("again", None) => self.runs.push(ToolRun { nonce, process, is_again: true }),
            ("effect", Some(answers)) => {
                self.effects.push(Effect { nonce, answers: answers.to_owned() });
            }
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_that_a_server_names_is_a_time_of_the_run() {
        // 23:59:50 on some day.
        let began_at = UNIX_EPOCH + Duration::from_secs(86_390);
        let recorder = Recorder { began_at, ..Recorder::start() };
        let at = |moment| recorder.time_of(moment).map(|time| time.as_secs());
        assert_eq!(at("1970-01-01T23:59:55.5Z"), Some(5));
        assert_eq!(at("1970-01-02T00:00:10Z"), Some(20));
        assert_eq!([at(""), at("10:00:00Z"), at("1970-01-02Tx:00:10Z")], [None; 3]);
    }
}
