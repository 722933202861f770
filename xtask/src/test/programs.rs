//! Builds all test programs, with the lints of clippy, then runs several at the same time: many wait for
//! processes or clocks, and would leave the processors idle.
//!
//! `cargo test` runs them one by one, and stops at the first that fails. Here all run, and the output
//! of each is shown whole when it ends.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::seconds;
use crate::command::cargo;

/// Test programs that take longest, which start first so that none of them is left to the end.
const LONG: &[&str] = &[
    "cli",
    "official_suite",
    "redis",
    "peers",
    "http",
    "suite",
    "lanes",
    "gateway",
    "transcripts",
];

/// A test program that cargo has built.
#[derive(Debug, PartialEq, Eq)]
struct TestProgram {
    /// Its package and target, such as `bowline-cli: gateway`.
    name: String,
    target: String,
    path: PathBuf,
    manifest: PathBuf,
}

/// Runs all tests but those of the documentation.
pub(super) fn run(variables: &[(&str, String)]) -> Result<()> {
    let programs = build()?;
    let begin = Instant::now();
    let at_once = thread::available_parallelism().map_or(2, |it| it.get() + 1);
    let next = Mutex::new(programs.iter());
    let failed = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some(program) = { next.lock().expect("no thread panics").next() } {
                    if let Err(error) = run_one(program, variables) {
                        println!("{}: {error:#}", program.name);
                        failed.lock().expect("no thread panics").push(program.name.as_str());
                    }
                }
            });
        }
    });
    println!("{} test programs ended after {}", programs.len(), seconds(begin.elapsed()));
    let failed = failed.into_inner().expect("no thread panics");
    ensure!(failed.is_empty(), "{} failed: {}", failed.len(), failed.join(", "));
    Ok(())
}

/// Builds all test programs, and the benchmarks so that they are checked too.
fn build() -> Result<Vec<TestProgram>> {
    let mut programs = build_targets(&[])?;
    build_targets(&["--benches"])?;
    let rank = |it: &TestProgram| LONG.iter().position(|name| *name == it.target);
    programs.sort_by_key(|it| rank(it).unwrap_or(LONG.len()));
    Ok(programs)
}

/// Builds targets with clippy in the place of the compiler, so that nothing is read twice.
///
/// # Errors
///
/// If something does not compile, or the compiler or clippy warns.
fn build_targets(targets: &[&str]) -> Result<Vec<TestProgram>> {
    let mut build = cargo();
    build.args(["test", "--workspace", "--all-features", "--no-run"]).args(targets);
    build.args(["--message-format", "json"]).env(super::WRAPPER, super::CLIPPY);
    let mut build = build.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let messages = build.stdout.take().context("cargo has an output")?;
    let (mut programs, mut warnings) = (Vec::new(), 0);
    for line in BufReader::new(messages).lines() {
        let message: Value = serde_json::from_str(&line?)?;
        programs.extend(test_program(&message));
        if let Some(text) = diagnostic(&message) {
            print!("{text}");
            warnings += 1;
        }
    }
    ensure!(build.wait()?.success(), "the tests do not compile");
    ensure!(warnings == 0, "{warnings} warnings");
    Ok(programs)
}

/// What the compiler or clippy says in a message of cargo, if it says something.
fn diagnostic(message: &Value) -> Option<&str> {
    let is_diagnostic = message["reason"] == "compiler-message";
    message["message"]["rendered"].as_str().filter(|_| is_diagnostic)
}

/// The test program that a message of cargo reports, if it reports one.
fn test_program(message: &Value) -> Option<TestProgram> {
    let is_test = message["reason"] == "compiler-artifact"
        && message["profile"]["test"] == true
        && message["target"]["kind"][0] != "bench";
    let path = message["executable"].as_str().filter(|_| is_test)?;
    let manifest = PathBuf::from(message["manifest_path"].as_str()?);
    let target = message["target"]["name"].as_str()?.to_owned();
    let folder = manifest.parent()?.file_name()?.to_string_lossy();
    Some(TestProgram { name: format!("{folder}: {target}"), target, path: path.into(), manifest })
}

/// Runs a program as `cargo test` does: in the folder of its package, with cargo's variables.
fn run_one(program: &TestProgram, variables: &[(&str, String)]) -> Result<()> {
    let folder = program.manifest.parent().unwrap_or(Path::new("."));
    let mut command = Command::new(&program.path);
    command.current_dir(folder).env("CARGO_MANIFEST_DIR", folder).envs(variables.iter().cloned());
    command.env("CARGO", cargo().get_program()).env("CARGO_MANIFEST_PATH", &program.manifest);
    let begin = Instant::now();
    let output = command.stdin(Stdio::null()).output().context("cannot be started")?;
    let text = [output.stdout, output.stderr].concat();
    report(
        &program.name,
        begin.elapsed(),
        &String::from_utf8_lossy(&text),
        output.status.success(),
    );
    ensure!(output.status.success(), "failed ({})", output.status);
    Ok(())
}

/// Shows the summary of a program that passed, and all of one that failed.
fn report(name: &str, time: Duration, text: &str, has_passed: bool) {
    let summary = text.lines().rev().find(|line| line.starts_with("test result:"));
    match summary {
        Some(summary) if has_passed => println!("{name} ({}): {summary}", seconds(time)),
        _ => println!("==== {name} ({})\n{text}\n==== end of {name}", seconds(time)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_test_programs_are_run() {
        let built = |kind: &str, test: bool, executable: Option<&str>| {
            json!({
                "reason": "compiler-artifact",
                "manifest_path": "/r/crates/cli/Cargo.toml",
                "target": { "name": "cli", "kind": [kind] },
                "profile": { "test": test },
                "executable": executable,
            })
        };
        let path = Some("/r/target/debug/deps/cli-1");
        let program = test_program(&built("test", true, path)).unwrap();
        assert_eq!((program.name.as_str(), program.target.as_str()), ("cli: cli", "cli"));
        assert_eq!(test_program(&built("bench", true, path)), None);
        assert_eq!(test_program(&built("bin", false, path)), None);
        assert_eq!(test_program(&built("lib", true, None)), None);
    }

    #[test]
    fn what_the_compiler_says_is_passed_on() {
        let said = json!({ "reason": "compiler-message", "message": { "rendered": "warning: a" } });
        assert_eq!(diagnostic(&said), Some("warning: a"));
        assert_eq!(diagnostic(&json!({ "reason": "build-finished" })), None);
    }
}
