//! The report as JSON.

use serde_json::{Value, json};

use super::{CheckTotals, by_rule};
use crate::drive::{CheckReport, Spoken};
use crate::rule::{Rule, Strength, Weight};
use crate::rules;
use crate::watch::BrokenRule;

/// The report for programs. Each rule that was broken is one finding; what was sent and what came is
/// whole, within [`LONGEST_EVIDENCE`](crate::evidence::LONGEST_EVIDENCE).
pub fn json(report: &CheckReport) -> Value {
    let totals = CheckTotals::of(report);
    let revisions = report.revisions.iter().map(|(revision, spoken)| match spoken {
        Spoken::Yes => json!({"revision": revision.as_str(), "spoken": true}),
        Spoken::No(reason) => {
            json!({"revision": revision.as_str(), "spoken": false, "reason": reason})
        }
    });
    let findings = by_rule(report).into_iter();
    let findings = findings.map(|(rule, found)| finding(rule, &found, report.is_strict));
    let counted = rules::all().map(|rule| {
        let count = report.counts.get(rule.id).copied().unwrap_or_default();
        json!({"rule": rule.id, "level": level(rule), "kept": count.kept, "broken": count.broken})
    });
    let early_ends = report
        .early_ends
        .iter()
        .map(|it| json!({"revision": it.revision.as_str(), "step": it.step, "reason": it.reason}));
    let late = report
        .late
        .iter()
        .map(|it| json!({"revision": it.revision.as_str(), "method": it.method, "tool": it.tool}));
    json!({
        "revisions": revisions.collect::<Vec<_>>(),
        "strict": report.is_strict,
        "violations": totals.violations,
        "warnings": totals.warnings,
        "kept": totals.kept,
        "idle": totals.idle,
        "cutShort": report.is_cut_short,
        "earlyEnds": early_ends.collect::<Vec<_>>(),
        "late": late.collect::<Vec<_>>(),
        "unfetched": report.unfetched,
        "unlisted": report.unlisted,
        "uncalled": report.uncalled,
        "ignored": report.ignored,
        "findings": findings.collect::<Vec<_>>(),
        "rules": counted.collect::<Vec<_>>(),
    })
}

/// A broken rule, with each way in which it was broken.
fn finding(rule: &Rule, found: &[&BrokenRule], is_strict: bool) -> Value {
    let occurrences = found.iter().map(|it| {
        json!({
            "reason": it.reason,
            "revision": it.revision.as_str(),
            "step": it.step,
            "times": it.times,
            "specification": rule.page(it.revision),
            "request": it.evidence.request.as_deref().map(as_json),
            "answer": it.evidence.answer.as_deref().map(as_json),
            "cut": it.evidence.is_cut,
        })
    });
    json!({
        "rule": rule.id,
        "verdict": match rule.weight(is_strict) {
            Weight::Violation => "violated",
            Weight::Warning => "warning",
        },
        "level": level(rule),
        "inferred": rule.is_inferred,
        "words": rule.words,
        "occurrences": occurrences.collect::<Vec<_>>(),
    })
}

/// The value that a text holds, or the text itself.
fn as_json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

fn level(rule: &Rule) -> &'static str {
    match rule.strength {
        Strength::Must => "must",
        Strength::Should => "should",
    }
}
