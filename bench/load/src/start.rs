//! Starts a server on stdio: the time to its first answer, and its memory then.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::answer::{Check, Seen};
use crate::message::{self, Call, Revision};

/// The figures of one start.
#[derive(Clone, Copy, Debug)]
pub struct Started {
    /// From before the process was made to after the answer to its first call was read.
    pub took: Duration,
    /// Its memory then, in bytes.
    pub memory: u64,
}

/// Starts a program on a core, lets it answer one call, and ends it.
///
/// This process moves to the core before it starts the child, because a program in between, such as
/// `taskset`, would take as long to start as the server itself.
///
/// # Errors
///
/// If it cannot be started, or its answer is wrong.
pub fn start(words: &[String], revision: Revision, core: Option<usize>) -> Result<Started> {
    let (program, arguments) = words.split_first().context("no program was named")?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
    let home = sched_getaffinity(Pid::from_raw(0))?;
    if let Some(core) = core {
        let mut there = CpuSet::new();
        there.set(core)?;
        sched_setaffinity(Pid::from_raw(0), &there)?;
    }
    let begin = Instant::now();
    let child = command.spawn().with_context(|| format!("cannot start {program}"));
    sched_setaffinity(Pid::from_raw(0), &home)?;
    let mut child = Ended(child?);
    first_answer(&mut child.0, revision)?;
    Ok(Started { took: begin.elapsed(), memory: memory(child.0.id())? })
}

fn first_answer(child: &mut Child, revision: Revision) -> Result<()> {
    let mut input = child.stdin.as_ref().context("no stdin")?;
    let mut output = BufReader::new(child.stdout.as_mut().context("no stdout")?);
    let mut line = String::new();
    if revision == Revision::Handshake {
        writeln!(input, "{}", message::initialize())?;
        output.read_line(&mut line)?;
        ensure!(line.contains(revision.date()), "no handshake: {line}");
        writeln!(input, "{}", message::INITIALIZED)?;
    }
    let call = Call::Echo { tool: "echo".to_owned(), bytes: 64 };
    writeln!(input, "{}", call.request(revision))?;
    let mut check = Check::new(revision, &call);
    loop {
        line.clear();
        ensure!(output.read_line(&mut line)? > 0, "the server ended its output");
        if let Seen::Answer(_) = check.see(line.trim_ascii_end().as_bytes())? {
            return Ok(());
        }
    }
}

/// The resident set of a process.
fn memory(process: u32) -> Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")).context("no VmRSS")?;
    Ok(kibibytes.parse::<u64>()? * 1024)
}

/// A child that is killed when this is dropped.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
