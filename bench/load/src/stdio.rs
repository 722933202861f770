//! A child process, called over its standard streams with several requests in flight.

use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::answer::{Check, Seen, start};
use crate::figures::{Figures, Length, Run};
use crate::message::{self, Call, Prepared, Revision};

/// As much as a pipe holds.
const READ: usize = 64 * 1024;

/// How long a child may take to end after the end of its input.
const LAST_WORDS: Duration = Duration::from_secs(60);

/// A server as a child process.
pub struct Pipe {
    child: Child,
    input: ChildStdin,
    output: Lines,
    request: Prepared,
    check: Check,
    window: usize,
}

impl Pipe {
    /// Starts a program with its arguments, and sends `initialize` if the revision has it.
    ///
    /// # Errors
    ///
    /// If it cannot be started or refuses.
    pub async fn open(
        words: &[String],
        revision: Revision,
        window: usize,
        call: &Call,
    ) -> Result<Self> {
        let (program, arguments) = words.split_first().context("no program was named")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("cannot start {program}"))?;
        let mut input = child.stdin.take().context("no stdin")?;
        let mut output = Lines::new(child.stdout.take().context("no stdout")?);
        if revision == Revision::Handshake {
            let request = format!("{}\n", message::initialize());
            input.write_all(request.as_bytes()).await?;
            output.receive().await?;
            while output.next().is_none() {
                output.receive().await?;
            }
            input.write_all(format!("{}\n", message::INITIALIZED).as_bytes()).await?;
        }
        let request = Prepared::new(format!("{}\n", call.request(revision)).into_bytes())?;
        Ok(Self { child, input, output, request, check: Check::new(revision, call), window })
    }

    /// Makes calls, with as many in flight as the window allows.
    ///
    /// # Errors
    ///
    /// At the first wrong answer.
    pub async fn run(&mut self, length: Length) -> Result<Figures> {
        let mut run = Run::begin(length);
        let mut waiting: Vec<([u8; 10], Instant)> = Vec::with_capacity(self.window);
        let mut out = Vec::new();
        let mut written = 0;
        loop {
            let now = Instant::now();
            while waiting.len() < self.window && run.may_call(now) {
                self.request.count_up();
                waiting.push((self.request.id().try_into()?, now));
                out.extend_from_slice(self.request.bytes());
            }
            if waiting.is_empty() {
                return Ok(run.end());
            }
            tokio::select! {
                biased;
                count = self.input.write(&out[written..]), if written < out.len() => {
                    written += count?;
                    if written == out.len() {
                        out.clear();
                        written = 0;
                    }
                }
                received = self.output.receive() => {
                    received?;
                    self.take_answers(&mut run, &mut waiting)?;
                }
            }
        }
    }

    fn take_answers(
        &mut self,
        run: &mut Run,
        waiting: &mut Vec<([u8; 10], Instant)>,
    ) -> Result<()> {
        let now = Instant::now();
        while let Some(line) = self.output.next() {
            let Seen::Answer(id) = self.check.see(line)? else { continue };
            let place = waiting.iter().position(|(asked, _)| asked == id);
            let place = place.with_context(|| format!("no such request: {}", start(line)))?;
            let (_, begin) = waiting.swap_remove(place);
            run.answered(now - begin);
        }
        Ok(())
    }

    /// Ends the input and waits for the child to end.
    ///
    /// # Errors
    ///
    /// If it does not end, or exits with an error.
    pub async fn close(mut self) -> Result<()> {
        drop(self.input);
        let status = tokio::time::timeout(LAST_WORDS, self.child.wait()).await;
        let status = status.context("the server does not end when its input does")??;
        ensure!(status.success(), "the server ended with {status}");
        Ok(())
    }
}

/// The lines that the child writes.
struct Lines {
    output: ChildStdout,
    received: Vec<u8>,
    /// Where the next line begins.
    begin: usize,
    /// The bytes before this were searched and hold no line end.
    searched: usize,
}

impl Lines {
    fn new(output: ChildStdout) -> Self {
        Self { output, received: Vec::with_capacity(READ), begin: 0, searched: 0 }
    }

    /// Reads what is available. Cancel-safe.
    async fn receive(&mut self) -> Result<()> {
        self.received.drain(..self.begin);
        self.searched -= self.begin;
        self.begin = 0;
        self.received.reserve(READ);
        let read = self.output.read_buf(&mut self.received).await?;
        ensure!(read > 0, "the server ended its output");
        Ok(())
    }

    /// The next whole line, without its end.
    fn next(&mut self) -> Option<&[u8]> {
        let Some(at) = memchr::memchr(b'\n', &self.received[self.searched..]) else {
            self.searched = self.received.len();
            return None;
        };
        let (begin, end) = (self.begin, self.searched + at);
        self.begin = end + 1;
        self.searched = self.begin;
        Some(&self.received[begin..end])
    }
}
