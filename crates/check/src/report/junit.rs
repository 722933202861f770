//! The report as JUnit XML: a test case for each rule that has an observer, and one that tells
//! whether the check is complete.

use std::fmt::Write as _;

use super::{CheckTotals, shortcomings};
use crate::drive::CheckReport;
use crate::message::excerpt;
use crate::rule::{Rule, Weight};
use crate::rules;

/// The report for CI systems. A violation is a failure; a warning is text; a rule that did not come up
/// is skipped. A check that is not complete has an error.
pub fn junit(report: &CheckReport, target: &str) -> String {
    let totals = CheckTotals::of(report);
    let shortcomings = shortcomings(report);
    let (count, errors) = (rules::all().count() + 1, usize::from(!shortcomings.is_empty()));
    let mut text = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        text,
        "<testsuites name=\"bowline check\" tests=\"{count}\" failures=\"{}\" errors=\"{errors}\">\n\
         <testsuite name=\"{}\" tests=\"{count}\" failures=\"{}\" errors=\"{errors}\" skipped=\"{}\">",
        totals.violations,
        escaped(target),
        totals.violations,
        totals.idle
    );
    for rule in rules::all() {
        case(&mut text, report, rule);
    }
    completeness(&mut text, &shortcomings);
    text.push_str("</testsuite>\n</testsuites>\n");
    text
}

fn case(text: &mut String, report: &CheckReport, rule: &Rule) {
    let count = report.counts.get(rule.id).copied().unwrap_or_default();
    let name = escaped(&format!("{} {}", rule.id, rule.words));
    let _ = write!(text, "<testcase classname=\"mcp\" name=\"{name}\"");
    if count.broken == 0 {
        let end = match (count.kept, report.ignored.contains(rule.id)) {
            (_, true) => "><skipped message=\"ignored\"/></testcase>",
            (0, false) => "><skipped/></testcase>",
            (_, false) => "/>",
        };
        let _ = writeln!(text, "{end}");
        return;
    }
    let reasons = report.broken.iter().filter(|it| it.rule.id == rule.id);
    let reasons = reasons.map(|it| {
        let (page, answer) = (rule.page(it.revision), it.evidence.answer.as_deref());
        let answer = excerpt(answer.unwrap_or("no answer"));
        format!("{} in {}: {answer}\n{page}", excerpt(&it.reason), it.revision)
    });
    let reasons = escaped(&reasons.collect::<Vec<_>>().join("\n"));
    let _ = match rule.weight(report.is_strict) {
        Weight::Violation => {
            writeln!(text, "><failure message=\"{name}\">{reasons}</failure></testcase>")
        }
        Weight::Warning => writeln!(text, "><system-out>{reasons}</system-out></testcase>"),
    };
}

/// Rules that did not come up could have been broken in the steps that were not taken.
fn completeness(text: &mut String, shortcomings: &[String]) {
    text.push_str("<testcase classname=\"bowline check\" name=\"all steps are taken\"");
    let _ = match shortcomings.first() {
        None => writeln!(text, "/>"),
        Some(first) => {
            let (first, all) = (escaped(first), escaped(&shortcomings.join("\n")));
            writeln!(text, "><error message=\"{first}\">{all}</error></testcase>")
        }
    };
}

/// Text for XML, without the characters that XML does not have.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(letter),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}
