//! What the inspection of one server found, as text and as JSON.

use std::time::Duration;

use bowline_ops::lint::{Finding, Level};
use bowline_types::text::counted;
use serde::Serialize;

use super::{Described, Inspection, Step};
use crate::print::table::{Table, hanging};
use crate::print::{self, BOLD, TerminalText, lines, text};

/// The narrowest column for the notes of steps.
const NARROWEST_NOTE: usize = 24;

/// The findings that are shown; the rest is counted. JSON has them all.
const SHOWN: usize = 40;

impl Inspection {
    /// The report for people.
    pub(crate) fn shown(&self, width: usize) -> TerminalText {
        let mut out = BOLD.on(print::line(&self.label)) + "\n";
        for step in &self.steps {
            out += line(step, width);
        }
        if self.findings.is_empty() {
            return out;
        }
        let count = |level| self.findings.iter().filter(|it| it.level == level).count();
        let (errors, warnings) = (count(Level::Error), count(Level::Warning));
        let heading = match (errors, warnings) {
            (0, _) => text!("{}", counted(warnings, "warning")),
            (_, 0) => text!("{}", counted(errors, "error")),
            _ => text!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
        };
        let mut table = Table::new(heading);
        for finding in self.findings.iter().take(SHOWN) {
            table.row(&finding.subject, &finding.text);
        }
        if let Some(more) = self.findings.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            table.row("…", &format!("{more} more; `--json` has them all"));
        }
        out + "\n" + table.render(width)
    }

    /// The report for programs.
    pub(crate) fn report(&self) -> Report<'_> {
        let step = |step: &'_ Step| StepReport {
            name: step.name,
            ok: step.is_done,
            milliseconds: milliseconds(step.took),
            note: step.note.clone(),
        };
        Report {
            target: &self.label,
            ok: self.failure.is_none(),
            steps: self.steps.iter().map(step).collect(),
            server: self.server.as_ref().map(ServerReport::of),
            findings: &self.findings,
            hint: self.failure.as_ref().and_then(|it| it.advice()).map(TerminalText::as_str),
        }
    }
}

/// A step. Its note is wrapped, and stands below the step where the terminal is narrow.
fn line(step: &Step, width: usize) -> TerminalText {
    let mark = if step.is_done { "ok" } else { "FAILED" };
    let took = format!("{:.0} ms", milliseconds(step.took));
    let known = text!("  {:<13}  {mark:<6}  {took:>8}", step.name);
    let note = lines(&step.note);
    let column = known.width() + 2;
    if let Some(room) = width.checked_sub(column).filter(|room| *room >= NARROWEST_NOTE) {
        return known + "  " + hanging(&note, room, column) + "\n";
    }
    known + "\n    " + hanging(&note, width.saturating_sub(4), 4) + "\n"
}

fn milliseconds(took: Duration) -> f64 {
    (took.as_secs_f64() * 10_000.0).round() / 10.0
}

/// What `--json` prints.
#[derive(Serialize)]
pub(crate) struct Report<'a> {
    target: &'a str,
    ok: bool,
    steps: Vec<StepReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<ServerReport<'a>>,
    findings: &'a [Finding],
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'a str>,
}

#[derive(Serialize)]
struct StepReport {
    name: &'static str,
    ok: bool,
    milliseconds: f64,
    note: String,
}

#[derive(Serialize)]
struct ServerReport<'a> {
    name: &'a str,
    version: &'a str,
    revision: &'a str,
    handshake: bool,
    start_milliseconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    tools: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tokens_estimated: Option<usize>,
}

impl<'a> ServerReport<'a> {
    fn of(server: &'a Described) -> Self {
        Self {
            name: &server.name,
            version: &server.version,
            revision: &server.revision,
            handshake: server.has_handshake,
            start_milliseconds: milliseconds(server.start),
            tools: server.tools,
            tokens_estimated: server.tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_broken_between_words_at_every_width() {
        let note = "the certificate of mcp.example.com has expired".to_owned();
        let took = Duration::from_millis(12);
        let step = Step { name: "authorization", is_done: false, took, note };
        assert_eq!(
            line(&step, 60).as_str(),
            "  authorization  FAILED     12 ms  the certificate of\n\
             \x20                                  mcp.example.com has\n\
             \x20                                  expired\n"
        );
        assert_eq!(
            line(&step, 40).as_str(),
            "  authorization  FAILED     12 ms\n    the certificate of mcp.example.com\n    has expired\n"
        );
    }

    #[test]
    fn a_traceback_keeps_its_lines() {
        let note = "Traceback (most recent call last):\n  File \"a.py\", line 1\nValueError: no";
        let took = Duration::from_millis(12);
        let step = Step { name: "start", is_done: false, took, note: note.to_owned() };
        assert_eq!(
            line(&step, 80).as_str(),
            "  start          FAILED     12 ms  Traceback (most recent call last):\n\
             \x20                                    File \"a.py\", line 1\n\
             \x20                                  ValueError: no\n"
        );
    }
}
