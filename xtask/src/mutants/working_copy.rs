//! A copy of the repository with the mutants in it, and its test programs.
//!
//! The copy is below `target` and has a target folder of its own. Only files that differ are
//! written, so that cargo recompiles only what changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use super::area::{Area, Judge};
use super::embed::{Embedded, switch};
use super::mutant::Mutant;
use crate::command::cargo;
use crate::tree::{Tree, paths, root};

/// How often the copy is compiled to find the mutants that do not compile: each pass of the
/// compiler reports other errors.
const ROUNDS: usize = 20;

pub(super) struct WorkingCopy {
    pub(super) folder: PathBuf,
}

impl WorkingCopy {
    /// Copies the repository, all but the files that mutants will be embedded into.
    pub(super) fn open(tree: &Tree, area: &Area) -> Result<Self> {
        let working_copy = Self { folder: root().join("target/mutants") };
        for path in paths()? {
            let is_embedded = path == area.library() || area.files.contains(&path);
            if let Ok(bytes) = fs::read(root().join(&path))
                && !is_embedded
            {
                working_copy.write(&path, &bytes)?;
            }
        }
        working_copy.remove_others(tree)?;
        for peers in ["tests/peers/node_modules", "tests/peers/.venv"] {
            let (there, here) = (root().join(peers), working_copy.tree().join(peers));
            if there.exists() && !here.exists() {
                std::os::unix::fs::symlink(&there, &here)
                    .with_context(|| format!("cannot link {peers}"))?;
            }
        }
        Ok(working_copy)
    }

    /// Embeds the mutants into their files and gives the numbers of those that compile.
    pub(super) fn embed(&self, tree: &Tree, area: &Area, mutants: &[Mutant]) -> Result<Viable> {
        let library = area.library();
        let mut viable: BTreeSet<usize> = (0..mutants.len()).collect();
        for _ in 0..ROUNDS {
            let mut embedded = BTreeMap::new();
            for path in &area.files {
                let text = &tree.file(path).context("the file is in the tree")?.text;
                let chosen = mutants.iter().enumerate();
                let chosen =
                    chosen.filter(|(number, it)| it.file == *path && viable.contains(number));
                embedded.insert(path.clone(), Embedded::new(text, chosen));
            }
            for (path, embedded) in embedded.iter().filter(|(path, _)| **path != library) {
                self.write(path, embedded.text.as_bytes())?;
            }
            let root = embedded.get(&library).map(|embedded| &embedded.text);
            let root = root.or(tree.file(&library).map(|file| &file.text));
            let root = root.with_context(|| format!("{library} is missing"))?;
            let root = format!("{root}{}", switch(mutants.len()));
            self.write(&library, root.as_bytes())?;

            let complaints = self.check(area)?;
            if complaints.is_empty() {
                return Ok(viable);
            }
            let refused = refused(&complaints, &embedded, mutants);
            let before = viable.len();
            viable.retain(|number| !refused.contains(number));
            if viable.len() == before {
                bail!(
                    "the compiler refuses the copy, but no mutant in it:\n{}",
                    complaints[0].text
                );
            }
        }
        bail!("after {ROUNDS} rounds the copy with its mutants still does not compile")
    }

    /// Builds the test programs of a judge.
    pub(super) fn programs(&self, judge: &Judge) -> Result<Vec<Program>> {
        let mut command = self.cargo("test");
        command.args(["--no-run", "--all-features", "--message-format=json", "--package"]);
        command.arg(&judge.package).args(judge.targets).stderr(Stdio::inherit());
        let output = command.output().context("cannot start cargo")?;
        ensure!(output.status.success(), "the tests of {} do not compile", judge.package);
        let messages = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(messages.lines().filter_map(program).collect())
    }

    fn check(&self, area: &Area) -> Result<Vec<Complaint>> {
        let mut command = self.cargo("check");
        command.args(["--all-features", "--message-format=json", "--package"]);
        let output = command.arg(area.package()).output().context("cannot start cargo")?;
        let complaints: Vec<_> =
            String::from_utf8_lossy(&output.stdout).lines().filter_map(complaint).collect();
        if complaints.is_empty() && !output.status.success() {
            bail!("cargo check failed:\n{}", String::from_utf8_lossy(&output.stderr));
        }
        Ok(complaints)
    }

    fn cargo(&self, subcommand: &str) -> Command {
        let mut command = cargo();
        command.current_dir(self.tree()).arg(subcommand);
        command.env("CARGO_TARGET_DIR", self.folder.join("build")).env("CARGO_INCREMENTAL", "1");
        command
    }

    fn tree(&self) -> PathBuf {
        self.folder.join("tree")
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        let place = self.tree().join(path);
        if fs::read(&place).is_ok_and(|there| there == bytes) {
            return Ok(());
        }
        let write = || {
            fs::create_dir_all(place.parent().unwrap_or(Path::new("")))?;
            fs::write(&place, bytes)
        };
        write().with_context(|| format!("cannot write {}", place.display()))
    }

    /// Removes Rust files that the repository no longer has.
    fn remove_others(&self, tree: &Tree) -> Result<()> {
        let mut folders = vec![self.tree()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let (path, kind) = entry.map(|entry| (entry.path(), entry.file_type()))?;
                let name = path.strip_prefix(self.tree())?.to_string_lossy().into_owned();
                if kind?.is_dir() {
                    folders.push(path);
                } else if name.ends_with(".rs") && tree.file(&name).is_none() {
                    fs::remove_file(&path)?;
                }
            }
        }
        Ok(())
    }
}

/// The numbers of the mutants that compile.
pub(super) type Viable = BTreeSet<usize>;

/// A test program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Program {
    pub(super) name: String,
    pub(super) path: PathBuf,
    /// The folder that its tests expect to run in.
    pub(super) folder: PathBuf,
}

/// An error of the compiler.
#[derive(Debug, PartialEq, Eq)]
struct Complaint {
    text: String,
    /// Its places, the main one first.
    places: Vec<(String, Range<usize>)>,
}

/// The mutants in which the compiler reports errors.
fn refused(
    complaints: &[Complaint],
    embedded: &BTreeMap<String, Embedded>,
    mutants: &[Mutant],
) -> BTreeSet<usize> {
    let mut refused = BTreeSet::new();
    for complaint in complaints {
        for (path, embedded) in embedded {
            let places = complaint.places.iter().filter(|(file, _)| file == path);
            let spans: Vec<_> = places.map(|(_, span)| span.clone()).collect();
            refused.extend(embedded.blamed(&spans));
        }
    }
    if refused.is_empty() {
        // An error without a mutant costs all mutants of its file, not the whole run.
        let files: BTreeSet<_> =
            complaints.iter().filter_map(|complaint| Some(&complaint.places.first()?.0)).collect();
        refused.extend((0..mutants.len()).filter(|number| files.contains(&mutants[*number].file)));
    }
    refused
}

/// The error in a line of cargo's output, if there is one.
fn complaint(line: &str) -> Option<Complaint> {
    let value: Value = serde_json::from_str(line).ok()?;
    let message = value.get("message").filter(|message| message["level"] == "error")?;
    let mut spans: Vec<&Value> = message["spans"].as_array()?.iter().collect();
    spans.sort_by_key(|span| span["is_primary"] != true);
    let place = |span: &Value| {
        let number =
            |name: &str| span[name].as_u64().and_then(|number| usize::try_from(number).ok());
        let range = number("byte_start")?..number("byte_end")?;
        Some((span["file_name"].as_str()?.to_owned(), range))
    };
    let places: Vec<_> = spans.into_iter().filter_map(place).collect();
    // The last error only counts the others.
    let text = message["rendered"].as_str().unwrap_or_default().to_owned();
    (!places.is_empty()).then_some(Complaint { text, places })
}

/// The test program in a line of cargo's output, if there is one.
fn program(line: &str) -> Option<Program> {
    let value: Value = serde_json::from_str(line).ok()?;
    let path = PathBuf::from(value["executable"].as_str()?);
    (value["profile"]["test"] == true).then_some(())?;
    let folder = Path::new(value["manifest_path"].as_str()?).parent()?.to_owned();
    Some(Program { name: value["target"]["name"].as_str()?.to_owned(), path, folder })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_has_its_main_place_first() {
        let line = r#"{"reason":"compiler-message","message":{"level":"error","rendered":"E","spans":[
            {"file_name":"a.rs","byte_start":1,"byte_end":2,"is_primary":false},
            {"file_name":"b.rs","byte_start":3,"byte_end":4,"is_primary":true}]}}"#;
        let places = vec![("b.rs".to_owned(), 3..4), ("a.rs".to_owned(), 1..2)];
        assert_eq!(complaint(line), Some(Complaint { text: "E".to_owned(), places }));
    }

    #[test]
    fn warnings_and_sums_are_no_complaints() {
        let warning = r#"{"message":{"level":"warning","spans":[{"file_name":"a","byte_start":1,"byte_end":2}]}}"#;
        let sum = r#"{"message":{"level":"error","rendered":"aborting","spans":[]}}"#;
        for line in [warning, sum, "{}", "no JSON"] {
            assert_eq!(complaint(line), None, "{line}");
        }
    }

    #[test]
    fn only_programs_with_tests_are_run() {
        let line = |test: bool| {
            format!(
                r#"{{"executable":"/a/b-1","manifest_path":"/c/Cargo.toml","target":{{"name":"b"}},"profile":{{"test":{test}}}}}"#
            )
        };
        let found = program(&line(true)).unwrap();
        assert_eq!((found.name.as_str(), found.folder.as_path()), ("b", Path::new("/c")));
        assert_eq!(program(&line(false)), None);
    }
}
