//! `cargo xtask test`: everything that must pass before a merge.
//!
//! It installs what tests need, then runs the steps, the quick ones first, and stops at the first
//! that fails.

mod programs;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::command::{cargo, program, run as start};
use crate::tree::root;
use crate::{api, budget, kernel, ledger, tidy};

/// The version of the spell checker; another version has another dictionary.
const TYPOS: &str = "1.51.1";

/// How a step ended.
enum Outcome {
    Passed,
    /// It could not run on this machine, for this reason.
    Skipped(String),
}

/// The variable by which cargo takes another compiler for our packages, and the one with clippy's lints.
const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";
const CLIPPY: &str = "clippy-driver";

type Step = (&'static str, fn() -> Result<Outcome>);

const STEPS: &[Step] = &[
    ("peers", || passed(start(program("sh").arg("tests/peers/install.sh")))),
    ("format", || passed(start(cargo().args(["fmt", "--all", "--check"])))),
    ("tidy", || passed(tidy::run(&[]))),
    ("ledger", || passed(ledger::run(&["--check"]))),
    ("spelling", spelling),
    ("tests", tests),
    ("budget", || passed(budget::run(&[]))),
    ("docs", || passed(api::run(&[]))),
];

/// Runs `cargo xtask test`.
pub(crate) fn run() -> Result<()> {
    let mut times = String::new();
    for (name, step) in STEPS {
        println!("==> {name}");
        let begin = Instant::now();
        let outcome = step();
        let time = seconds(begin.elapsed());
        match outcome {
            Ok(Outcome::Passed) => writeln!(times, "{name:<10}{time:>10}")?,
            Ok(Outcome::Skipped(why)) => writeln!(times, "{name:<10}{time:>10}  skipped: {why}")?,
            Err(error) => {
                print!("\n{times}");
                return Err(error.context(format!("step `{name}` failed after {time}")));
            }
        }
    }
    print!("\n{times}all passed\n");
    Ok(())
}

/// Runs the tests. Those of features that the kernel of this machine has are not skipped.
fn tests() -> Result<Outcome> {
    let demanded = std::env::var(kernel::DEMAND).unwrap_or_else(|_| kernel::features());
    programs::run(&[(kernel::DEMAND, demanded)])?;
    let documentation = ["test", "--workspace", "--all-features", "--doc", "--quiet"];
    passed(start(cargo().args(documentation).env(WRAPPER, CLIPPY)))
}

fn passed(result: Result<()>) -> Result<Outcome> {
    result.map(|()| Outcome::Passed)
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// Checks the spelling, if the checker is installed or can be.
fn spelling() -> Result<Outcome> {
    let folder = root().join("target/tools").join(format!("typos-{TYPOS}"));
    let typos = folder.join("bin/typos");
    if !typos.exists()
        && let Err(error) = install_typos(&folder)
    {
        return Ok(Outcome::Skipped(format!("{error:#}")));
    }
    passed(start(&mut program(&typos.to_string_lossy())))
}

fn install_typos(folder: &PathBuf) -> Result<()> {
    let quiet = |command: &mut std::process::Command| {
        start(command.stdout(Stdio::null())).context("the spell checker cannot be installed")
    };
    quiet(program("python3").args(["-m", "venv"]).arg(folder))?;
    let pip = folder.join("bin/pip");
    let wheel = format!("typos=={TYPOS}");
    quiet(program(&pip.to_string_lossy()).args([
        "install",
        "--quiet",
        "--only-binary=:all:",
        &wheel,
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short_to_read() {
        assert_eq!(seconds(Duration::from_millis(12_340)), "12.3 s");
    }
}
