//! The report as JSON.

use serde_json::{Value, json};

use super::CheckTotals;
use crate::drive::{CheckReport, Spoken};
use crate::rule::Strength;
use crate::rules;

/// The report for programs.
pub fn json(report: &CheckReport) -> Value {
    let totals = CheckTotals::of(report);
    let revisions = report.revisions.iter().map(|(revision, spoken)| match spoken {
        Spoken::Yes => json!({"revision": revision.as_str(), "spoken": true}),
        Spoken::No(reason) => {
            json!({"revision": revision.as_str(), "spoken": false, "reason": reason})
        }
    });
    let findings = report.broken.iter().map(|it| {
        json!({
            "rule": it.rule.id,
            "level": level(it.rule.strength),
            "inferred": it.rule.is_inferred,
            "words": it.rule.words,
            "reason": it.reason,
            "revision": it.revision.as_str(),
            "step": it.step,
            "message": it.excerpt,
            "times": it.times,
        })
    });
    let counted = rules::all().map(|rule| {
        let count = report.counts.get(rule.id).copied().unwrap_or_default();
        json!({"rule": rule.id, "level": level(rule.strength), "kept": count.kept, "broken": count.broken})
    });
    let early_ends = report
        .early_ends
        .iter()
        .map(|it| json!({"revision": it.revision.as_str(), "step": it.step, "reason": it.reason}));
    json!({
        "revisions": revisions.collect::<Vec<_>>(),
        "violations": totals.violations,
        "warnings": totals.warnings,
        "kept": totals.kept,
        "idle": totals.idle,
        "cutShort": report.is_cut_short,
        "earlyEnds": early_ends.collect::<Vec<_>>(),
        "unfetched": report.unfetched,
        "unlisted": report.unlisted,
        "findings": findings.collect::<Vec<_>>(),
        "rules": counted.collect::<Vec<_>>(),
    })
}

fn level(strength: Strength) -> &'static str {
    match strength {
        Strength::Must => "must",
        Strength::Should => "should",
    }
}
