//! The report as SARIF 2.1.0, which code scanning services read.

use serde_json::{Value, json};

use super::{by_rule, shortcomings};
use crate::drive::CheckReport;
use crate::message::excerpt;
use crate::rule::{Rule, Weight};
use crate::rules;
use crate::watch::BrokenRule;

/// Where the specification begins.
const SPECIFICATION: &str = "https://modelcontextprotocol.io/specification";

/// The report for code scanning: a result for each rule that was broken. The location is the target,
/// since there is no file.
pub fn sarif(report: &CheckReport, target: &str) -> Value {
    let known: Vec<&Rule> = rules::all().collect();
    let described = known.iter().map(|rule| {
        json!({
            "id": rule.id,
            "shortDescription": {"text": rule.words},
            "helpUri": rule.latest_page(),
            "defaultConfiguration": {"level": level(rule.weight(report.is_strict))},
        })
    });
    let results = by_rule(report).into_iter().map(|(rule, found)| {
        let index = known.iter().position(|it| it.id == rule.id);
        let place = json!({
            "logicalLocations": [{"fullyQualifiedName": target, "kind": "resource"}],
        });
        json!({
            "ruleId": rule.id,
            "ruleIndex": index,
            "level": level(rule.weight(report.is_strict)),
            "message": {"text": message(&found)},
            "locations": [place],
            "occurrenceCount": found.iter().map(|it| it.times).sum::<usize>(),
        })
    });
    let driver = json!({
        "name": "bowline",
        "version": env!("CARGO_PKG_VERSION"),
        "informationUri": SPECIFICATION,
        "rules": described.collect::<Vec<_>>(),
    });
    let shortcomings = shortcomings(report);
    let notifications =
        shortcomings.iter().map(|text| json!({"level": "error", "message": {"text": text}}));
    let invocation = json!({
        "executionSuccessful": shortcomings.is_empty(),
        "toolExecutionNotifications": notifications.collect::<Vec<_>>(),
    });
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {"driver": driver},
            "invocations": [invocation],
            "results": results.collect::<Vec<_>>(),
        }],
    })
}

/// What was found, a line for each way in which the rule was broken.
fn message(found: &[&BrokenRule]) -> String {
    let lines = found.iter().map(|it| {
        let answer = it.evidence.answer.as_deref().unwrap_or("no answer");
        format!("{} (in {}): {}", excerpt(&it.reason), it.revision, excerpt(answer))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn level(weight: Weight) -> &'static str {
    match weight {
        Weight::Violation => "error",
        Weight::Warning => "warning",
    }
}
