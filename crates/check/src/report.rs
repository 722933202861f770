//! The report of a check: for people, as JSON, JUnit and SARIF.

mod human;
mod json;
mod junit;
mod sarif;

pub use self::human::human;
pub use self::json::json;
pub use self::junit::junit;
pub use self::sarif::sarif;

use crate::drive::{CheckReport, LateRequest, Spoken};
use crate::message::excerpt;
use crate::rule::{Rule, Weight};
use crate::rules;
use crate::watch::BrokenRule;

/// The numbers of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckTotals {
    /// Rules that applied at least once.
    pub seen: usize,
    /// Rules that were kept whenever they applied.
    pub kept: usize,
    /// Rules that were broken, and decide the exit code.
    pub violations: usize,
    /// The other rules that were broken.
    pub warnings: usize,
    /// Rules that have an observer and did not apply to anything, or are ignored.
    pub idle: usize,
}

impl CheckTotals {
    /// Counts a report.
    pub fn of(report: &CheckReport) -> Self {
        let mut totals = Self { seen: 0, kept: 0, violations: 0, warnings: 0, idle: 0 };
        for rule in rules::all() {
            let count = report.counts.get(rule.id).copied().unwrap_or_default();
            match (count.kept, count.broken, rule.weight(report.is_strict)) {
                (0, 0, _) => totals.idle += 1,
                (_, 0, _) => totals.kept += 1,
                (_, _, Weight::Violation) => totals.violations += 1,
                (_, _, Weight::Warning) => totals.warnings += 1,
            }
        }
        totals.seen = totals.kept + totals.violations + totals.warnings;
        totals
    }
}

/// Why the check is not complete, one sentence for each reason; empty if all steps were taken and every
/// request but calls of tools was answered in time.
pub fn shortcomings(report: &CheckReport) -> Vec<String> {
    let mut texts: Vec<String> = report.early_ends.iter().map(ToString::to_string).collect();
    if report.is_cut_short {
        texts.push("the time was over before all steps were done".to_owned());
    }
    let silent: Vec<String> =
        report.late.iter().filter(|it| !it.is_call()).map(LateRequest::to_string).collect();
    if !silent.is_empty() {
        texts.push(format!("not answered in time: {}", listed(&silent)));
    }
    texts
}

/// The longest list of names in a text for people.
const MOST_NAMES: usize = 8;

fn listed(names: &[String]) -> String {
    let shown =
        names.iter().take(MOST_NAMES).map(|name| excerpt(name)).collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(MOST_NAMES) {
        Some(more @ 1..) => format!("{shown} and {more} more"),
        _ => shown,
    }
}

/// The revisions that the server speaks.
fn spoken(report: &CheckReport) -> Vec<String> {
    let spoken = report.revisions.iter().filter(|(_, spoken)| *spoken == Spoken::Yes);
    spoken.map(|(revision, _)| revision.to_string()).collect()
}

/// The rules that were broken, each with all that was found.
fn by_rule(report: &CheckReport) -> Vec<(&'static Rule, Vec<&BrokenRule>)> {
    let mut groups: Vec<(&'static Rule, Vec<&BrokenRule>)> = Vec::new();
    for it in &report.broken {
        match groups.iter_mut().find(|(rule, _)| rule.id == it.rule.id) {
            Some((_, found)) => found.push(it),
            None => groups.push((it.rule, vec![it])),
        }
    }
    groups
}
