//! Measures commands that end by themselves.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::sys::resource::{UsageWho, getrusage};

use crate::table::{megabytes, milliseconds};

/// The first argument with which this program runs one command and prints how much memory it took.
pub(crate) const WORD: &str = "run-command";

/// The medians of one command.
pub(crate) struct Runs {
    times: Vec<Duration>,
    memory: f64,
}

impl Runs {
    pub(crate) fn time(&self) -> String {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied().map_or_else(String::new, milliseconds)
    }

    pub(crate) fn memory(&self) -> String {
        megabytes(self.memory)
    }
}

/// Runs commands in turn, so that all of them meet the same moods of the machine.
pub(crate) fn measure(
    commands: &[(&'static str, Vec<String>)],
    rounds: usize,
) -> Result<Vec<(&'static str, Runs)>> {
    let mut measured = Vec::new();
    for (name, words) in commands {
        measured.push((*name, Runs { times: Vec::new(), memory: memory_of(words)? }));
    }
    for _ in 0..rounds {
        for ((_, words), (_, runs)) in commands.iter().zip(&mut measured) {
            let begin = Instant::now();
            let status = quiet(words)?.status()?;
            runs.times.push(begin.elapsed());
            ensure!(status.success(), "`{}` failed", words.join(" "));
        }
    }
    Ok(measured)
}

/// The most memory that a process of this command took. It runs below a process of its own, because
/// the kernel only tells the most of all children so far.
fn memory_of(words: &[String]) -> Result<f64> {
    let own = std::env::current_exe()?;
    let output = Command::new(own).arg(WORD).args(words).stderr(Stdio::null()).output()?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let kibibytes = printed.trim().parse::<f64>();
    Ok(kibibytes.with_context(|| format!("`{}` failed", words.join(" ")))? * 1024.0)
}

/// Runs one command and prints the most memory that it took, in KiB.
pub(crate) fn run_command(words: &[String]) -> ExitCode {
    let ended = quiet(words).and_then(|mut command| Ok(command.status()?));
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN);
    match (ended, usage) {
        (Ok(status), Ok(usage)) if status.success() => {
            println!("{}", usage.max_rss());
            ExitCode::SUCCESS
        }
        _ => ExitCode::FAILURE,
    }
}

fn quiet(words: &[String]) -> Result<Command> {
    let (program, arguments) = words.split_first().context("an empty command")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Some of them keep files in the home directory.
    command.env("HOME", std::env::temp_dir());
    Ok(command)
}
