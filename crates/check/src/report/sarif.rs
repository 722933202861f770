//! The report as SARIF 2.1.0, which code scanning services read.

use serde_json::{Value, json};

use super::shortcomings;
use crate::drive::CheckReport;
use crate::rule::{Rule, Strength};
use crate::rules;

/// Where readers find the words of a rule.
const LEDGER: &str = "https://modelcontextprotocol.io/specification";

/// The report for code scanning. The location is the target, since there is no file.
pub fn sarif(report: &CheckReport, target: &str) -> Value {
    let known: Vec<&Rule> = rules::all().collect();
    let described = known.iter().map(|rule| {
        json!({
            "id": rule.id,
            "shortDescription": {"text": rule.words},
            "helpUri": LEDGER,
            "defaultConfiguration": {"level": level(rule.strength)},
        })
    });
    let results = report.broken.iter().map(|it| {
        let index = known.iter().position(|rule| rule.id == it.rule.id);
        let place = json!({
            "logicalLocations": [{"fullyQualifiedName": target, "kind": "resource"}],
        });
        json!({
            "ruleId": it.rule.id,
            "ruleIndex": index,
            "level": level(it.rule.strength),
            "message": {"text": format!("{} (in {}): {}", it.reason, it.revision, it.excerpt)},
            "locations": [place],
            "occurrenceCount": it.times,
        })
    });
    let driver = json!({
        "name": "bowline",
        "version": env!("CARGO_PKG_VERSION"),
        "informationUri": LEDGER,
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

fn level(strength: Strength) -> &'static str {
    match strength {
        Strength::Must => "error",
        Strength::Should => "warning",
    }
}
