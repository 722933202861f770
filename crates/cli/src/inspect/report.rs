//! What the inspection of one server found, as text and as JSON.

use std::time::Duration;

use bowline::types::text::counted;
use serde::Serialize;

use super::lint::{Finding, Level};
use super::{Described, Inspection, Step};
use crate::print::table::{Table, wrap};
use crate::print::{BOLD, clean};

/// The narrowest column for the notes of steps.
const NARROWEST_NOTE: usize = 24;

/// The findings that are shown; the rest is counted. JSON has them all.
const SHOWN: usize = 40;

impl Inspection {
    /// The report for people.
    pub(crate) fn shown(&self, width: usize) -> String {
        let mut out = format!("{BOLD}{}{BOLD:#}\n", clean(&self.label));
        for step in &self.steps {
            out.push_str(&line(step, width));
        }
        if self.findings.is_empty() {
            return out;
        }
        let count = |level| self.findings.iter().filter(|it| it.level == level).count();
        let (errors, warnings) = (count(Level::Error), count(Level::Warning));
        let heading = match (errors, warnings) {
            (0, _) => counted(warnings, "warning"),
            (_, 0) => counted(errors, "error"),
            _ => format!("{}, {}", counted(errors, "error"), counted(warnings, "warning")),
        };
        let mut table = Table::new(heading);
        for finding in self.findings.iter().take(SHOWN) {
            table.row(&finding.subject, &finding.text);
        }
        if let Some(more) = self.findings.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            table.row("…", &format!("{more} more; `--json` has them all"));
        }
        out.push('\n');
        out.push_str(&table.render(width));
        out
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
            hint: self.failure.as_ref().and_then(|failure| failure.advice()),
        }
    }
}

/// A step. Its note is wrapped, and stands below the step where the terminal is narrow.
fn line(step: &Step, width: usize) -> String {
    let mark = if step.is_done { "ok" } else { "FAILED" };
    let took = format!("{:.0} ms", milliseconds(step.took));
    let known = format!("  {:<13}  {mark:<6}  {took:>8}", step.name);
    let note = clean(&step.note);
    let column = known.len() + 2;
    if let Some(room) = width.checked_sub(column).filter(|room| *room >= NARROWEST_NOTE) {
        let lines = wrap(&note, room).join(&format!("\n{}", " ".repeat(column)));
        return format!("{known}  {lines}\n");
    }
    let lines = wrap(&note, width.saturating_sub(4));
    format!("{known}\n    {}\n", lines.join("\n    "))
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
    tools: usize,
    tokens_estimated: usize,
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
            line(&step, 60),
            "  authorization  FAILED     12 ms  the certificate of\n\
             \x20                                  mcp.example.com has\n\
             \x20                                  expired\n"
        );
        assert_eq!(
            line(&step, 40),
            "  authorization  FAILED     12 ms\n    the certificate of mcp.example.com\n    has expired\n"
        );
    }
}
