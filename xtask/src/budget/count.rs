//! Builds the program with the cases and runs it under callgrind.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use crate::command::{cargo, program};
use crate::tree::root;

const BUILD: &[&str] = &[
    "build",
    "--profile",
    "budget",
    "--package",
    "bowline-hot-paths",
    "--bin",
    "hot_paths",
    "--message-format",
    "json-render-diagnostics",
];

/// How often a case is repeated in the first run. The second run repeats it twice as often; the
/// difference of both leaves out the start of the program.
const ITERATIONS: u64 = 500;

/// The program that runs the cases.
pub(super) struct Program {
    executable: PathBuf,
    cases: Vec<Case>,
}

/// One of its cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Case {
    pub(super) name: String,
    /// What one repetition does.
    pub(super) what: String,
}

/// The instructions of one repetition of a case.
#[derive(Debug)]
pub(super) struct Count {
    pub(super) case: Case,
    pub(super) instructions: u64,
}

impl Program {
    /// Builds the program and lists its cases.
    pub(super) fn build() -> Result<Self> {
        let messages = output(cargo().args(BUILD).stderr(Stdio::inherit()))?;
        let executable = executable(&messages).context("cargo built no `hot_paths`")?;
        let list = output(&mut Command::new(&executable))?;
        let cases = list.lines().filter_map(|line| line.split_once('\t'));
        let cases = cases.map(|(name, what)| Case { name: name.to_owned(), what: what.to_owned() });
        Ok(Self { executable, cases: cases.collect() })
    }

    pub(super) fn cases(&self) -> &[Case] {
        &self.cases
    }

    /// Counts all cases, one per core at a time; parallel runs do not change the counts.
    pub(super) fn count(&self) -> Result<Vec<Count>> {
        fs::create_dir_all(profiles())?;
        let next = AtomicUsize::new(0);
        let counts = Mutex::new(Vec::new());
        let work = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(case) = self.cases.get(index) else { return };
                let instructions = self.instructions(&case.name);
                counts.lock().expect("no worker panics").push((index, instructions));
            }
        };
        thread::scope(|scope| {
            for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(work);
            }
        });
        let mut counts = counts.into_inner().expect("no worker panics");
        counts.sort_unstable_by_key(|(index, _)| *index);
        let counts = self.cases.iter().zip(counts).map(|(case, (_, instructions))| {
            Ok(Count { case: case.clone(), instructions: instructions? })
        });
        counts.collect()
    }

    /// The instructions of one repetition.
    fn instructions(&self, case: &str) -> Result<u64> {
        let once = self.total(case, ITERATIONS)?;
        let twice = self.total(case, 2 * ITERATIONS)?;
        let difference = twice.checked_sub(once);
        Ok(difference.with_context(|| format!("`{case}` takes less when repeated"))? / ITERATIONS)
    }

    /// The instructions of the program from start to end.
    fn total(&self, case: &str, iterations: u64) -> Result<u64> {
        let profile = profiles().join(format!("{case}.out"));
        let mut command = program("valgrind");
        command
            .arg("--tool=callgrind")
            .arg(format!("--callgrind-out-file={}", profile.display()))
            .arg(&self.executable)
            .args([case, &iterations.to_string()]);
        let output = command.stdin(Stdio::null()).output().context(
            "cannot start `valgrind`; `sh tests/peers/install.sh` installs it on Debian, as root",
        )?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{case}` failed under callgrind:\n{said}");
        collected(&said).with_context(|| format!("callgrind counts nothing for `{case}`:\n{said}"))
    }
}

/// Where the profile of each case is left, for `callgrind_annotate`.
fn profiles() -> PathBuf {
    root().join("target/callgrind")
}

/// The output of a command.
fn output(command: &mut Command) -> Result<String> {
    let name = Path::new(command.get_program()).display().to_string();
    let output = command.output().with_context(|| format!("cannot start `{name}`"))?;
    ensure!(output.status.success(), "`{name}` failed ({})", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// The program among the artifacts that cargo reports.
fn executable(messages: &str) -> Option<PathBuf> {
    let messages = messages.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let mut executables =
        messages.filter_map(|message| Some(message["executable"].as_str()?.into()));
    executables.next()
}

/// The number after `Collected :`.
fn collected(said: &str) -> Option<u64> {
    let number = said.lines().find_map(|line| line.split_once("Collected :"))?.1;
    number.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_is_found_among_what_cargo_built() {
        let messages = "{\"reason\":\"compiler-artifact\",\"executable\":null}\n\
                        {\"reason\":\"compiler-artifact\",\"executable\":\"/a/hot_paths\"}\n\
                        {\"reason\":\"build-finished\",\"success\":true}\n";
        assert_eq!(executable(messages), Some("/a/hot_paths".into()));
        assert_eq!(executable("{\"reason\":\"build-finished\"}\n"), None);
    }

    #[test]
    fn the_count_is_found_in_what_callgrind_says() {
        let said = "==7== Events    : Ir\n==7== Collected : 1234567\n==7== \n";
        assert_eq!(collected(said), Some(1_234_567));
        assert_eq!(collected("==7== Collected : \n"), None);
    }
}
