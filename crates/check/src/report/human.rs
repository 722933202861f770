//! The report as text.

use std::fmt::Write as _;

use super::{CheckTotals, shortcomings, spoken};
use crate::drive::{CheckReport, Spoken};
use crate::rule::Strength;
use crate::watch::BrokenRule;

/// The report for people. Each broken rule has its id, where it was broken, and the beginning of the
/// message.
pub fn human(report: &CheckReport) -> String {
    let mut text = match spoken(report)[..] {
        [] => "speaks none of the revisions\n".to_owned(),
        ref spoken => format!("speaks {}\n", spoken.join(", ")),
    };
    for (revision, spoken) in &report.revisions {
        if let Spoken::No(reason) = spoken {
            let _ = writeln!(text, "does not speak {revision}: {reason}");
        }
    }
    for (strength, title) in [(Strength::Must, "violations"), (Strength::Should, "warnings")] {
        let broken: Vec<&BrokenRule> =
            report.broken.iter().filter(|it| it.rule.strength == strength).collect();
        if !broken.is_empty() {
            let _ = writeln!(text, "\n{title}");
        }
        for rule in merged(&broken) {
            text.push_str(&rule);
        }
    }
    let totals = CheckTotals::of(report);
    let _ = writeln!(
        text,
        "\n{} rules seen: {} kept, {} violated, {} warnings; {} did not come up",
        totals.seen, totals.kept, totals.violations, totals.warnings, totals.idle
    );
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
    text
}

/// One entry for each rule and reason, with all revisions in which it was broken.
fn merged(broken: &[&BrokenRule]) -> Vec<String> {
    let mut groups: Vec<(&BrokenRule, Vec<String>)> = Vec::new();
    for it in broken {
        let same = groups
            .iter_mut()
            .find(|(known, _)| known.rule.id == it.rule.id && known.reason == it.reason);
        match same {
            Some((_, revisions)) => revisions.push(it.revision.to_string()),
            None => groups.push((it, vec![it.revision.to_string()])),
        }
    }
    groups.into_iter().map(|(it, revisions)| entry(it, &revisions)).collect()
}

fn entry(it: &BrokenRule, revisions: &[String]) -> String {
    let mark = if it.rule.is_inferred { "†" } else { "" };
    let mut text = format!("  {}{mark}  {}\n", it.rule.id, it.rule.words);
    let _ = writeln!(text, "      {}", it.reason);
    let _ = writeln!(text, "      in {}, when the check {}", revisions.join(", "), it.step);
    if !it.excerpt.is_empty() {
        let _ = writeln!(text, "      {}", it.excerpt);
    }
    text
}
