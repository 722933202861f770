//! The command for every few minutes: format, tidy, and the tests of what changed.
//!
//! It looks at the files that differ from `main`, committed or not, and runs the tests of their
//! crates and of the crates whose tests cover them. It leaves out clippy, doc tests, foreign SDKs,
//! the budget and the tests of unchanged code; `cargo xtask test` runs those.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};

use crate::command::{cargo, program, run as start};
use crate::tidy;

/// A folder, and the packages whose tests cover the code in it.
const COVERED_BY: &[(&str, &[&str])] = &[
    ("crates/types/", &["bowline-types", "bowline-proto"]),
    ("crates/json-schema/", &["bowline-json-schema"]),
    ("crates/proto/", &["bowline-proto"]),
    ("crates/transport/", &["bowline-transport", "bowline-client"]),
    ("crates/store/", &["bowline-store", "bowline-http", "bowline-store-sqlite"]),
    ("crates/store-sqlite/", &["bowline-store-sqlite"]),
    ("crates/store-redis/", &["bowline-store-redis"]),
    ("crates/auth/", &["bowline-auth", "bowline-testing"]),
    ("crates/skills/", &["bowline-skills", "bowline-server", "bowline-client"]),
    ("crates/http-front/", &["bowline-http-front", "bowline-http"]),
    ("crates/http/", &["bowline-http"]),
    ("crates/server/", &["bowline-server"]),
    ("crates/client/", &["bowline-client"]),
    ("crates/gateway/", &["bowline-gateway"]),
    ("crates/otel/", &["bowline-otel"]),
    ("crates/macros/", &["bowline-macros"]),
    ("crates/bowline/", &["bowline"]),
    ("crates/check/", &["bowline-check"]),
    ("crates/ops/", &["bowline-ops", "bowline-cli"]),
    ("crates/testing/", &["bowline-testing"]),
    ("crates/cli/", &["bowline-cli"]),
    ("chaos/", &["bowline-chaos"]),
    ("tests/hot-paths/", &["bowline-hot-paths"]),
    ("tests/scale-model/", &["scale-model"]),
    ("docs/scale.md", &["scale-model"]),
    ("xtask/", &["xtask"]),
];

/// The package of the tests that cross crates: of those, only the ones whose files changed run.
const CROSSING: &str = "bowline-tests";

/// Runs `cargo xtask quick`.
pub(crate) fn run() -> Result<()> {
    let begin = Instant::now();
    start(cargo().args(["fmt", "--all"]))?;
    tidy::run(&[])?;
    let plan = Plan::of(&changed()?);
    if plan.packages.is_empty() && plan.targets.is_empty() {
        println!("nothing changed that has tests");
    }
    // One by one: with several packages cargo unites their features, so each combination would
    // compile the dependencies anew.
    for package in &plan.packages {
        start(tests().args(["-p", package, "--all-features"]))?;
    }
    if !plan.targets.is_empty() {
        let targets = plan.targets.iter().flat_map(|name| ["--test", name.as_str()]);
        start(tests().args(["-p", CROSSING]).args(targets))?;
    }
    println!(
        "quick: passed after {:.0} s; `cargo xtask test` runs the rest",
        begin.elapsed().as_secs_f64()
    );
    Ok(())
}

/// The tests to run.
#[derive(Debug, Default, PartialEq, Eq)]
struct Plan {
    packages: BTreeSet<&'static str>,
    /// Files of `tests/tests`.
    targets: BTreeSet<String>,
}

impl Plan {
    fn of(paths: &[String]) -> Self {
        let mut plan = Self::default();
        for path in paths {
            let rows = COVERED_BY.iter().filter(|(folder, _)| path.starts_with(folder));
            plan.packages.extend(rows.flat_map(|(_, packages)| *packages));
            plan.targets.extend(target(path));
        }
        plan
    }
}

/// The test that a file below `tests` belongs to: `tests/tests/http/pace.rs` is part of `http`.
fn target(path: &str) -> Option<String> {
    if path.starts_with("tests/transcripts/") {
        return Some("transcripts".to_owned());
    }
    let file = path.strip_prefix("tests/tests/")?;
    let name = file.split('/').next()?;
    Some(name.trim_end_matches(".rs").to_owned())
}

/// The test runner, nextest if it is installed.
fn tests() -> Command {
    let mut probe = cargo();
    probe.args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    let mut command = cargo();
    if probe.status().is_ok_and(|status| status.success()) {
        command.args(["nextest", "run", "--no-fail-fast", "--no-tests", "pass"]);
        command.args(["--status-level", "fail"]);
    } else {
        println!("`cargo install cargo-nextest` makes this faster");
        command.args(["test", "--tests", "--quiet"]);
    }
    command
}

/// The files that differ from the point where this branch left `main`, and those that are new.
fn changed() -> Result<Vec<String>> {
    let base = git(&["merge-base", "main", "HEAD"]).unwrap_or_else(|_| "HEAD".to_owned());
    let differ = git(&["diff", "--name-only", base.trim()])?;
    let new = git(&["ls-files", "--others", "--exclude-standard"])?;
    Ok(differ.lines().chain(new.lines()).map(str::to_owned).collect())
}

fn git(arguments: &[&str]) -> Result<String> {
    let output = program("git").args(arguments).output().context("cannot run `git`")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "`git {}` failed: {}", arguments.join(" "), complaint.trim());
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree;

    fn plan(paths: &[&str]) -> Plan {
        Plan::of(&paths.iter().map(|path| (*path).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn a_crate_is_tested_with_those_that_cover_it() {
        let plan =
            plan(&["crates/types/src/tool.rs", "crates/proto/tests/client/main.rs", "README.md"]);
        assert_eq!(Vec::from_iter(plan.packages), ["bowline-proto", "bowline-types"]);
        assert_eq!(plan.targets.len(), 0);
    }

    #[test]
    fn a_test_that_crosses_crates_runs_if_one_of_its_files_changed() {
        let plan =
            plan(&["tests/tests/http/pace.rs", "tests/tests/model.rs", "tests/transcripts/a.mcp"]);
        assert_eq!(Vec::from_iter(plan.targets), ["http", "model", "transcripts"]);
        assert_eq!(plan.packages.len(), 0);
    }

    #[test]
    fn every_crate_has_a_row() {
        for path in tree::paths().unwrap() {
            let is_manifest = path.starts_with("crates/") && path.ends_with("Cargo.toml");
            if is_manifest && path.matches('/').count() == 2 {
                let is_covered = COVERED_BY.iter().any(|(folder, _)| path.starts_with(folder));
                assert!(is_covered, "{path} has no row in xtask/src/quick.rs");
            }
        }
    }
}
