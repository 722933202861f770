//! The reports of `bowline check` for CI systems, judged by the schema of SARIF and by a parser of XML.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use super::*;

/// The rules that `wrong_server` breaks and that the specification has in capitals.
const BROKEN: [&str; 3] = ["HSEC-1", "HTTP-10", "PV-4"];

/// A report in a format, as the judge reads it.
fn judged(format: &str, target: &[&str], code: i32) -> Value {
    let checked = at_home(BOWLINE)
        .args(["check", "--timeout", "2", "--format", format])
        .args(target)
        .output()
        .unwrap();
    assert_eq!(checked.status.code(), Some(code), "{checked:?}");
    let folder = tempfile::tempdir().unwrap();
    let report = folder.path().join("report");
    fs::write(&report, &checked.stdout).unwrap();
    let [python, judge] = peer("report_judge.py");
    let judged = Command::new(python).arg(judge).arg(format).arg(&report).output().unwrap();
    assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stderr));
    serde_json::from_slice(&judged.stdout).unwrap()
}

fn texts(value: &Value) -> BTreeSet<&str> {
    value.as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()
}

const DEMO: [&str; 4] = ["--", BOWLINE, "demo", "--stdio"];

#[test]
fn sarif_follows_its_schema_and_names_the_broken_rules() {
    let wrong = wrong_server::start();
    let report = judged("sarif", &[&wrong.url], 6);
    assert_eq!(texts(&report["errors"]), BROKEN.into(), "{report}");
    assert_eq!(texts(&report["warnings"]), ["TOOL-13"].into(), "{report}");
    assert_eq!(texts(&report["targets"]), [wrong.url.as_str()].into(), "{report}");
    let right = judged("sarif", &DEMO, 0);
    assert_eq!(right["errors"], Value::Array(Vec::new()), "{right}");
    assert_eq!((&right["rules"], right["rules"].as_u64() > Some(200)), (&report["rules"], true));
}

#[test]
fn junit_is_xml_whose_counts_are_right() {
    let wrong = wrong_server::start();
    let report = judged("junit", &[&wrong.url], 6);
    assert_eq!(texts(&report["failed"]), BROKEN.into(), "{report}");
    assert_eq!(texts(&report["suites"]), [wrong.url.as_str()].into(), "{report}");
    let right = judged("junit", &DEMO, 0);
    assert_eq!(right["failed"], Value::Array(Vec::new()), "{right}");
    assert!(right["tests"].as_u64() > Some(200), "{right}");
    assert!(right["skipped"].as_u64() < right["tests"].as_u64(), "{right}");
}
