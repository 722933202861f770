//! The report of a check: for people, as JSON, JUnit and SARIF.

mod human;
mod json;
mod junit;
mod sarif;

pub use self::human::human;
pub use self::json::json;
pub use self::junit::junit;
pub use self::sarif::sarif;

use crate::drive::{CheckReport, Spoken};
use crate::rule::Strength;
use crate::rules;

/// The numbers of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckTotals {
    /// Rules that applied at least once.
    pub seen: usize,
    /// Rules that were kept whenever they applied.
    pub kept: usize,
    /// MUST rules that were broken.
    pub violations: usize,
    /// SHOULD rules that were broken.
    pub warnings: usize,
    /// Rules that have an observer and did not apply to anything.
    pub idle: usize,
}

impl CheckTotals {
    /// Counts a report.
    pub fn of(report: &CheckReport) -> Self {
        let mut totals = Self { seen: 0, kept: 0, violations: 0, warnings: 0, idle: 0 };
        for rule in rules::all() {
            let count = report.counts.get(rule.id).copied().unwrap_or_default();
            match (count.kept, count.broken, rule.strength) {
                (0, 0, _) => totals.idle += 1,
                (_, 0, _) => totals.kept += 1,
                (_, _, Strength::Must) => totals.violations += 1,
                (_, _, Strength::Should) => totals.warnings += 1,
            }
        }
        totals.seen = totals.kept + totals.violations + totals.warnings;
        totals
    }
}

/// Why the check is not complete, one sentence for each reason; empty if all steps were taken.
pub fn shortcomings(report: &CheckReport) -> Vec<String> {
    let mut texts: Vec<String> = report.early_ends.iter().map(ToString::to_string).collect();
    if report.is_cut_short {
        texts.push("the time was over before all steps were done".to_owned());
    }
    texts
}

/// The revisions that the server speaks.
fn spoken(report: &CheckReport) -> Vec<String> {
    let spoken = report.revisions.iter().filter(|(_, spoken)| *spoken == Spoken::Yes);
    spoken.map(|(revision, _)| revision.to_string()).collect()
}
