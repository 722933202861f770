//! What `check` sends to make servers show which rules they keep.
//!
//! For each revision it opens a few sessions. A session is a list of steps from the table in
//! `steps.rs`; every step sends something and waits, bounded in time. It judges nothing: the observers
//! watch. Tools are called only if they declare that they change nothing, or if the user names them.

mod answers;
mod failure;
mod http;
mod probe;
mod stdio;
mod steps;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use bowline_transport::child::Command;
use bowline_types::revision::Revision;
use tokio::time::Instant;

pub use self::failure::CheckError;
use self::probe::{Opened, Probe};
pub use self::steps::{STEPS, SessionKind, Step};
use crate::past::{Carrier, KnownServer};
use crate::rule::{Rule, Weight};
use crate::watch::{BrokenRule, RuleCount};

/// The server to check.
#[derive(Clone, Debug)]
pub enum CheckedServer {
    /// A command, which is started for each session.
    Command(Command),
    /// A URL.
    Url {
        /// The address of the endpoint.
        url: String,
        /// Headers of every request, such as `Authorization`.
        headers: Vec<(String, String)>,
    },
}

impl CheckedServer {
    fn carrier(&self) -> Carrier {
        match self {
            Self::Command(_) => Carrier::Stdio,
            Self::Url { .. } => Carrier::Http,
        }
    }
}

/// What to check, and within which bounds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CheckOptions {
    /// The revisions; all unless changed.
    pub revisions: Vec<Revision>,
    /// How long to wait for an answer.
    pub timeout: Duration,
    /// How long the whole check may take.
    pub deadline: Duration,
    /// Tools that may be called although they do not declare that they change nothing.
    pub callable: Vec<String>,
    /// Whether a broken rule that the ledger infers (`†`) is a violation, and not only a warning.
    pub is_strict: bool,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            revisions: Revision::ALL.to_vec(),
            timeout: Duration::from_secs(5),
            deadline: Duration::from_secs(180),
            callable: Vec::new(),
            is_strict: false,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CheckReport {
    /// Each revision, and whether the server speaks it.
    pub revisions: Vec<(Revision, Spoken)>,
    /// The rules that were broken.
    pub broken: Vec<BrokenRule>,
    /// How often each rule was kept and broken, over all sessions.
    pub counts: BTreeMap<&'static str, RuleCount>,
    /// How many steps were taken.
    pub steps: usize,
    /// Whether the deadline ended the check early.
    pub is_cut_short: bool,
    /// Sessions that the server ended before all their steps were taken, or that could not be opened
    /// although the server speaks the revision.
    pub early_ends: Vec<EarlyEnd>,
    /// Documents that the server names at other origins than its own, and that were not fetched.
    pub unfetched: BTreeSet<String>,
    /// Tools of [`CheckOptions::callable`] that the server does not list, and so were not called.
    pub unlisted: BTreeSet<String>,
    /// Tools that were not called, because no arguments that fit their schema were found.
    pub uncalled: BTreeSet<String>,
    /// Requests that were not answered within [`CheckOptions::timeout`]. No rule limits how long a
    /// request takes, so they break none; but the answers were not judged.
    pub late: Vec<LateRequest>,
    /// Whether rules that the ledger infers (`†`) count like those that the specification has in
    /// capitals.
    pub is_strict: bool,
    /// Rules that are left out of the report ([`ignore`](Self::ignore)).
    pub ignored: BTreeSet<&'static str>,
}

/// A request that was not answered in time.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LateRequest {
    /// The revision of the session.
    pub revision: Revision,
    /// The method.
    pub method: String,
    /// The tool of a call.
    pub tool: Option<String>,
}

impl LateRequest {
    /// Whether it runs a tool, which may take its time.
    pub fn is_call(&self) -> bool {
        matches!(self.method.as_str(), "tools/call" | "tasks/result")
    }
}

impl fmt::Display for LateRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.method)?;
        if let Some(tool) = &self.tool {
            write!(f, " of `{tool}`")?;
        }
        write!(f, " in {}", self.revision)
    }
}

/// The end of a session whose steps were not all taken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EarlyEnd {
    /// The revision of the session.
    pub revision: Revision,
    /// The step that the check noticed the end in.
    pub step: String,
    /// Why no step could follow.
    pub reason: String,
}

impl fmt::Display for EarlyEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { revision, step, reason } = self;
        write!(f, "in {revision} the session ended early, when the check {step}: {reason}")
    }
}

/// Whether a server speaks a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Spoken {
    /// It does.
    Yes,
    /// It does not; in the server's words, or ours.
    No(String),
}

/// Checks a server. `progress` gets a line for each step that begins.
///
/// # Errors
///
/// If the server cannot be started or reached, or speaks none of the revisions. A server that sends
/// something else than MCP breaks rules, and gets a report.
pub async fn check(
    server: &CheckedServer,
    options: &CheckOptions,
    mut progress: impl FnMut(&str),
) -> Result<CheckReport, CheckError> {
    let mut gathered = Gathered::default();
    gathered.report.unlisted.extend(options.callable.iter().cloned());
    gathered.report.is_strict = options.is_strict;
    let end = Instant::now() + options.deadline;
    let mut reasons = Vec::new();
    'all: for revision in &options.revisions {
        for kind in SessionKind::ALL {
            if Instant::now() >= end {
                gathered.report.is_cut_short = true;
                break 'all;
            }
            let session = Session { server, options, revision: *revision, kind, end };
            match session.run(&mut gathered, &mut progress).await {
                Ok(()) => {}
                Err(reason) if reason.is_final() && !gathered.report.speaks_any() => {
                    return Err(reason);
                }
                Err(reason) => {
                    if reason.is_refused() || reason.http_status() == Some(400) {
                        gathered.known.refused.insert(*revision);
                    }
                    gathered.report.note_unopened(*revision, kind, &reason);
                    reasons.push((*revision, reason));
                    break;
                }
            }
        }
    }
    let Gathered { report, unopened, .. } = gathered;
    if report.speaks_any() {
        return Ok(report);
    }
    let failure = CheckError::of_all(&reasons);
    match failure.is_invalid_answer() && unopened.violations().next().is_some() {
        true => Ok(CheckReport {
            revisions: report.revisions,
            is_cut_short: report.is_cut_short,
            unlisted: report.unlisted,
            is_strict: options.is_strict,
            ..unopened
        }),
        false => Err(failure),
    }
}

/// What the sessions so far have shown.
#[derive(Default)]
struct Gathered {
    report: CheckReport,
    /// The findings of sessions that could not be opened. They count only if none could: a server is
    /// not judged in a revision that it does not speak.
    unopened: CheckReport,
    known: KnownServer,
}

/// One session of the check.
struct Session<'a> {
    server: &'a CheckedServer,
    options: &'a CheckOptions,
    revision: Revision,
    kind: SessionKind,
    /// No step begins after this time.
    end: Instant,
}

impl Session<'_> {
    /// Runs its steps.
    ///
    /// # Errors
    ///
    /// If the session cannot be opened: why.
    async fn run(
        &self,
        gathered: &mut Gathered,
        progress: &mut impl FnMut(&str),
    ) -> Result<(), CheckError> {
        let Gathered { report, unopened, known } = gathered;
        if !STEPS.iter().any(|step| step.belongs(self.kind, self.revision, self.server.carrier())) {
            return Ok(());
        }
        let mut probe = Probe::start(self.server, self.options, self.revision, known.clone())?;
        progress(&format!("{} {}", self.revision, self.kind));
        probe.watch.begin_step(&self.kind.to_string());
        let opened = match self.kind {
            SessionKind::Usual | SessionKind::Rough => probe.open().await,
            SessionKind::Strange => Opened::Yes,
        };
        if let Opened::No(reason) = opened {
            probe.close().await;
            if reason.is_invalid_answer() {
                unopened.add(&probe);
            }
            return Err(reason);
        }
        if self.kind == SessionKind::ALL[0] {
            report.revisions.push((self.revision, Spoken::Yes));
        }
        self.take_steps(&mut probe, report, progress).await;
        probe.watch.begin_step("closes the session");
        probe.close().await;
        *known = probe.watch.past().known.clone();
        report.add(&probe);
        Ok(())
    }

    /// Takes the steps of an open session, until the server is gone or the time is over.
    async fn take_steps(
        &self,
        probe: &mut Probe,
        report: &mut CheckReport,
        progress: &mut impl FnMut(&str),
    ) {
        let carrier = probe.carrier();
        let mut last: Option<&Step> = None;
        for step in STEPS.iter().filter(|step| step.belongs(self.kind, self.revision, carrier)) {
            if probe.is_over() {
                break;
            }
            if Instant::now() >= self.end {
                report.is_cut_short = true;
                break;
            }
            progress(&format!("{} {}", self.revision, step.name));
            probe.watch.begin_step(step.name);
            (step.run)(probe).await;
            report.steps += 1;
            last = Some(step);
        }
        let may_end = last.is_some_and(|step| step.may_end_process && carrier == Carrier::Stdio);
        if let Some(reason) = probe.gone().filter(|_| !may_end) {
            let step = last.map_or_else(|| self.kind.to_string(), |step| step.name.to_owned());
            let reason = reason.clone();
            report.early_ends.push(EarlyEnd { revision: self.revision, step, reason });
        }
    }
}

impl CheckReport {
    fn speaks_any(&self) -> bool {
        self.revisions.iter().any(|(_, spoken)| *spoken == Spoken::Yes)
    }

    /// Notes why a session could not be opened. Either the server does not speak the revision, or
    /// it is not there any more: it has spoken this revision, or another one, before.
    fn note_unopened(&mut self, revision: Revision, kind: SessionKind, reason: &CheckError) {
        let is_spoken = self.revisions.contains(&(revision, Spoken::Yes));
        let is_gone = self.speaks_any() && reason.is_out_of_reach();
        let reason = reason.to_string();
        match is_spoken || is_gone {
            true => self.early_ends.push(EarlyEnd { revision, step: kind.to_string(), reason }),
            false => self.revisions.push((revision, Spoken::No(reason))),
        }
    }

    /// Adds what a session has shown.
    fn add(&mut self, probe: &Probe) {
        self.unfetched.extend(probe.unfetched().cloned());
        self.uncalled.extend(probe.uncalled.iter().cloned());
        self.late.extend(probe.late.iter().cloned());
        self.unlisted.retain(|name| !probe.watch.past().tools.contains_key(name));
        for finding in probe.watch.findings() {
            let same = self.broken.iter_mut().find(|it| {
                it.rule.id == finding.rule.id
                    && it.reason == finding.reason
                    && it.revision == finding.revision
            });
            match same {
                Some(known) => known.times += finding.times,
                None => self.broken.push(finding.clone()),
            }
        }
        for (id, count) in probe.watch.counts() {
            let sum = self.counts.entry(id).or_default();
            sum.kept += count.kept;
            sum.broken += count.broken;
        }
    }

    /// What decides the exit code; the rest are warnings.
    pub fn violations(&self) -> impl Iterator<Item = &BrokenRule> {
        self.broken.iter().filter(|it| it.rule.weight(self.is_strict) == Weight::Violation)
    }

    /// Leaves a rule out.
    pub fn ignore(&mut self, rule: &Rule) {
        self.broken.retain(|it| it.rule.id != rule.id);
        self.counts.remove(rule.id);
        self.ignored.insert(rule.id);
    }
}
