//! The report as text.

use std::fmt::Write as _;

use super::{CheckTotals, by_rule, listed, shortcomings, spoken};
use crate::drive::{CheckReport, LateRequest, Spoken};
use crate::message::excerpt;
use crate::rule::{Rule, Weight};
use crate::watch::BrokenRule;

/// The different ways to break a rule that are shown.
const MOST: usize = 3;

/// The report for people: a block for each broken rule, with where it was broken and the beginning of
/// what was sent and what came.
pub fn human(report: &CheckReport) -> String {
    let mut text = match spoken(report)[..] {
        [] => "speaks none of the revisions\n".to_owned(),
        ref spoken => format!("speaks {}\n", spoken.join(", ")),
    };
    for (revision, spoken) in &report.revisions {
        if let Spoken::No(reason) = spoken {
            let _ = writeln!(text, "does not speak {revision}: {}", excerpt(reason));
        }
    }
    let broken = by_rule(report);
    for (weight, title) in [(Weight::Violation, "violations"), (Weight::Warning, "warnings")] {
        let broken: Vec<_> =
            broken.iter().filter(|(rule, _)| rule.weight(report.is_strict) == weight).collect();
        if !broken.is_empty() {
            let _ = writeln!(text, "\n{title}");
        }
        for (rule, found) in broken {
            block(&mut text, rule, found);
        }
    }
    let totals = CheckTotals::of(report);
    let _ = writeln!(
        text,
        "\n{} rules seen: {} kept, {} violated, {} warnings; {} did not come up",
        totals.seen,
        totals.kept,
        totals.violations,
        totals.warnings,
        totals.idle - report.ignored.len()
    );
    notes(&mut text, report);
    text
}

/// A rule, with the different ways in which it was broken.
fn block(text: &mut String, rule: &Rule, found: &[&BrokenRule]) {
    let mut reasons: Vec<(&BrokenRule, Vec<String>)> = Vec::new();
    for it in found {
        match reasons.iter_mut().find(|(known, _)| known.reason == it.reason) {
            Some((_, revisions)) => revisions.push(it.revision.to_string()),
            None => reasons.push((it, vec![it.revision.to_string()])),
        }
    }
    let page = found.last().map(|it| rule.page(it.revision)).unwrap_or_default();
    let _ = writeln!(text, "  {}  {}\n      {page}", rule.marked_id(), rule.words);
    for (it, revisions) in reasons.iter().take(MOST) {
        let _ = writeln!(text, "      {}", excerpt(&it.reason));
        let _ = writeln!(text, "        in {}, when the check {}", revisions.join(", "), it.step);
        for (mark, shown) in [('>', &it.evidence.request), ('<', &it.evidence.answer)] {
            if let Some(shown) = shown {
                let _ = writeln!(text, "        {mark} {}", excerpt(shown));
            }
        }
    }
    if let Some(more @ 1..) = reasons.len().checked_sub(MOST) {
        let _ = writeln!(text, "      and {more} more, which `--json` shows");
    }
}

fn notes(text: &mut String, report: &CheckReport) {
    let late = report.late.iter().filter(|it| it.is_call());
    let late: Vec<String> = late.map(LateRequest::to_string).collect();
    let uncalled: Vec<String> = report.uncalled.iter().cloned().collect();
    let ignored: Vec<String> = report.ignored.iter().map(ToString::to_string).collect();
    let lists = [
        ("not judged, because no answer came in time", late),
        ("not called, because no arguments that fit the schema were found", uncalled),
        ("ignored", ignored),
    ];
    for (title, names) in lists.iter().filter(|(_, names)| !names.is_empty()) {
        let _ = writeln!(text, "{title}: {}", listed(names));
    }
    for url in &report.unfetched {
        let _ =
            writeln!(text, "not fetched, because it is of another origin than the server: {url}");
    }
    for tool in &report.unlisted {
        let _ = writeln!(text, "not called, because the server lists no such tool: {tool}");
    }
    for shortcoming in shortcomings(report) {
        let _ = writeln!(text, "not complete: {shortcoming}");
    }
}
