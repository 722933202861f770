//! Runs tests on one mutant, only those that reach it.
//!
//! First each test runs alone without any mutant and records which mutants it reaches. A mutant
//! that no test reaches needs no run.

use std::cell::Cell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};

use super::area::Judge;
use super::embed::{CHOSEN, REACHED};
use super::working_copy::{Program, WorkingCopy};

/// Kilobytes of address space of a test program: a mutant may allocate without end.
const MEMORY: u64 = 16 << 20;

/// How long tests may take on a mutant beside what [`patience`] allows.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a mutant ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Caught,
    Missed,
    /// No test runs the line.
    Unreached,
    Timeout,
}

/// The tests of a program, and the mutants that each of them reaches.
pub(super) struct Suite {
    program: Program,
    skipped: &'static [&'static str],
    /// Whether several tests can be named at once, which the standard harness allows.
    takes_names: bool,
    tests: Vec<Test>,
}

struct Test {
    name: String,
    time: Duration,
    reached: BTreeSet<usize>,
    /// How many mutants it noticed so far; tests that noticed many run first.
    noticed: Cell<usize>,
}

impl Suite {
    /// Builds and tries out all suites.
    pub(super) fn all(working_copy: &WorkingCopy, judges: &[Judge]) -> Result<Vec<Self>> {
        let mut suites = Vec::new();
        for judge in judges {
            for program in working_copy.programs(judge)? {
                let suite = Self::try_out(working_copy, program, judge.skipped)?;
                println!("{}: {} tests reach a mutant", suite.program.name, suite.tests.len());
                suites.push(suite);
            }
        }
        Ok(suites)
    }

    fn try_out(
        working_copy: &WorkingCopy,
        program: Program,
        skipped: &'static [&'static str],
    ) -> Result<Self> {
        let listing = start(&program, &["--list", "--format", "terse"], &[])
            .stdout(Stdio::piped())
            .output()
            .with_context(|| format!("cannot start {}", program.path.display()))?;
        let listing = String::from_utf8_lossy(&listing.stdout).into_owned();
        // Names of our transcripts: `tools/call::2026-07-28::machine`.
        let takes_names = !listing.lines().any(|line| line.contains('/'));
        let mut suite = Self { program, skipped, takes_names, tests: Vec::new() };
        let file = working_copy.folder.join("reached");
        for name in names(&listing, skipped, takes_names) {
            match suite.try_test(&name, &file)? {
                (_, test) if test.reached.is_empty() => {}
                (Verdict::Missed, test) => suite.tests.push(test),
                _ => println!("note: `{name}` fails without any mutant and is left out"),
            }
        }
        suite.tests.sort_by_key(|test| test.time);
        Ok(suite)
    }

    /// Runs a test without mutants, which must not fail.
    fn try_test(&self, name: &str, file: &Path) -> Result<(Verdict, Test)> {
        if file.exists() {
            fs::remove_file(file)?;
        }
        let place = file.to_string_lossy().into_owned();
        let begin = Instant::now();
        let verdict = self.run(&[name], &[(REACHED, &place)], PATIENCE * 20)?;
        let time = begin.elapsed();
        let reached = fs::read_to_string(file).unwrap_or_default();
        let reached = reached.lines().filter_map(|line| line.parse().ok()).collect();
        Ok((verdict, Test { name: name.to_owned(), time, reached, noticed: Cell::default() }))
    }

    /// How a mutant ends with these tests.
    fn judge(&self, number: usize) -> Result<Verdict> {
        let reaching = self.tests.iter().filter(|test| test.reached.contains(&number));
        let mut reaching: Vec<&Test> = reaching.collect();
        let chosen = number.to_string();
        let chosen = [(CHOSEN, chosen.as_str())];
        let run = |tests: &[&Test], names: &[&str]| {
            let time: Duration = tests.iter().map(|test| test.time).sum();
            self.run(names, &chosen, patience(time))
        };
        if reaching.is_empty() {
            return Ok(Verdict::Unreached);
        }
        if self.takes_names {
            let names: Vec<&str> = reaching.iter().map(|test| test.name.as_str()).collect();
            return run(&reaching, &names);
        }
        reaching.sort_by_key(|test| (Reverse(test.noticed.get()), test.time));
        for test in reaching {
            let verdict = run(&[test], &[&test.name])?;
            if verdict != Verdict::Missed {
                test.noticed.set(test.noticed.get() + 1);
                return Ok(verdict);
            }
        }
        Ok(Verdict::Missed)
    }

    /// Runs the tests with these names; `Missed` means that they pass.
    fn run(
        &self,
        names: &[&str],
        variables: &[(&str, &str)],
        patience: Duration,
    ) -> Result<Verdict> {
        let mut arguments: Vec<&str> = names.to_vec();
        if self.takes_names {
            arguments.push("--exact");
        }
        for part in self.skipped {
            arguments.extend(["--skip", part]);
        }
        let mut child = start(&self.program, &arguments, variables)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", self.program.path.display()))?;
        wait(&mut child, patience)
    }
}

/// How a mutant ends with all suites.
pub(super) fn judge(suites: &[Suite], number: usize) -> Result<Verdict> {
    let mut verdict = Verdict::Unreached;
    for suite in suites {
        match suite.judge(number)? {
            Verdict::Unreached => {}
            Verdict::Missed => verdict = Verdict::Missed,
            noticed => return Ok(noticed),
        }
    }
    Ok(verdict)
}

/// The tests in a listing. Where the harness takes only one name, all transcripts of a folder are
/// one test.
fn names(listing: &str, skipped: &[&str], takes_names: bool) -> Vec<String> {
    let names = listing.lines().filter_map(|line| line.strip_suffix(": test"));
    let names = names.filter(|name| !skipped.iter().any(|part| name.contains(part)));
    let mut names: Vec<String> = names
        .map(|name| match name.split_once('/') {
            Some((folder, _)) if !takes_names => format!("{folder}/"),
            _ => name.to_owned(),
        })
        .collect();
    names.sort();
    names.dedup();
    names
}

fn start(program: &Program, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\"")])
        .arg(&program.path)
        .args(arguments)
        .current_dir(&program.folder)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .env("RUST_BACKTRACE", "0")
        .env("PROPTEST_MAX_SHRINK_ITERS", "0")
        .env_remove(CHOSEN)
        .envs(variables.iter().copied())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A group of its own, so that processes which the test started end with it.
        .process_group(0);
    command
}

/// How long tests may take on a mutant, given their time one after another without one: ten times
/// as long if they are quick, twice if they are slow, since slow ones then run side by side.
fn patience(time: Duration) -> Duration {
    const QUICK: Duration = Duration::from_secs(60);
    PATIENCE + (time * 2).max(QUICK.min(time * 10))
}

/// Waits until a test fails, all have passed or the time is over, and ends the tests that still
/// run.
fn wait(child: &mut Child, patience: Duration) -> Result<Verdict> {
    const STEP: Duration = Duration::from_millis(50);
    let output = child.stdout.take().context("the output is piped")?;
    let (tell, failed) = mpsc::channel();
    // One failure is enough: on a mutant other tests may wait for ever.
    std::thread::spawn(move || {
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        if lines.any(|line| line.ends_with("FAILED")) {
            // The receiver is gone if the time is over.
            let _ = tell.send(());
        }
    });
    let begin = Instant::now();
    loop {
        let news = failed.recv_timeout(STEP);
        let ended = match news {
            Ok(()) => Some(Verdict::Caught),
            Err(_) if begin.elapsed() > patience => Some(Verdict::Timeout),
            Err(_) => None,
        };
        if let Some(verdict) = ended {
            kill_group(child)?;
            return Ok(verdict);
        }
        if let Some(status) = child.try_wait()? {
            return Ok(if status.success() { Verdict::Missed } else { Verdict::Caught });
        }
        if news == Err(RecvTimeoutError::Disconnected) {
            std::thread::sleep(STEP);
        }
    }
}

fn kill_group(child: &mut Child) -> Result<()> {
    let group = format!("-{}", child.id());
    let mut kill = Command::new("kill");
    let killed = kill.args(["-KILL", "--", &group]).stderr(Stdio::null()).status()?;
    let has_ended = child.try_wait()?.is_some();
    ensure!(killed.success() || has_ended, "cannot end the tests of a mutant ({})", child.id());
    child.wait()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(path: &str) -> Program {
        Program { name: "a".to_owned(), path: path.into(), folder: ".".into() }
    }

    fn run(script: &str, patience: Duration) -> Verdict {
        let mut command = start(&program("sh"), &["-c", script], &[(CHOSEN, "7")]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        wait(&mut child, patience).unwrap()
    }

    #[test]
    fn a_failure_catches_and_a_pass_misses() {
        assert_eq!(run("exit 101", PATIENCE), Verdict::Caught);
        assert_eq!(run("test $BOWLINE_MUTANT = 7", PATIENCE), Verdict::Missed);
    }

    #[test]
    fn one_failure_is_enough() {
        let script = "echo 'test a ... ok'; echo 'test b ... FAILED'; while :; do sleep 1; done";
        assert_eq!(run(script, Duration::from_secs(600)), Verdict::Caught);
    }

    #[test]
    fn what_does_not_end_is_ended() {
        assert_eq!(run("while :; do :; done", Duration::from_millis(50)), Verdict::Timeout);
    }

    #[test]
    fn slow_tests_are_waited_for_but_less_often() {
        let seconds = |count| Duration::from_secs(count);
        let allowed = [1, 10, 60].map(|time| (patience(seconds(time)) - PATIENCE).as_secs());
        assert_eq!(allowed, [10, 60, 120]);
    }

    #[test]
    fn transcripts_are_taken_by_folder_and_other_tests_by_name() {
        let listing = "a::one: test\nb::two: test\n\n2 tests\n";
        assert_eq!(names(listing, &["two"], true), ["a::one"]);
        let listing = "tools/a::2025-06-18::machine: test\ntools/b::2026-07-28::machine: test\n\
                       pages/b::2026-07-28::socket: test\n";
        assert_eq!(names(listing, &["::socket"], false), ["tools/"]);
    }
}
