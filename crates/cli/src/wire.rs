//! What goes over the wire of a connection: the trace of `--trace`, and text of a server that is no
//! message.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bowline::client::ClientBuilder;
use bowline_ops::hints;
use bowline_transport::lines::may_be_message;
use bowline_transport::tap::TapDirection;

use crate::exit::{Exit, Failure};
use crate::print::{self, TerminalText, text};

/// The option of commands that connect to one server.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct TraceArgs {
    /// Shows every message on standard error, or appends it to FILE; headers of HTTP are left out
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "the option has an optional value")]
    trace: Option<Option<PathBuf>>,
}

impl TraceArgs {
    /// Whether the user wants a trace.
    pub(crate) fn is_wanted(&self) -> bool {
        self.trace.is_some()
    }

    /// Opens what the messages are written to.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened.
    pub(crate) fn open(&self) -> Result<Option<Trace>, Failure> {
        let Some(path) = &self.trace else { return Ok(None) };
        let file = path.as_deref().map(open).transpose()?.map(Mutex::new);
        Ok(Some(Trace(Arc::new(TraceSink { begun: Instant::now(), file }))))
    }
}

/// Opens a file for this user alone: messages may hold what the user does not show to others.
fn open(path: &Path) -> Result<File, Failure> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| {
        Failure::new(Exit::Refused, text!("cannot write the trace to {}: {error}", path.display()))
    })
}

/// Where the messages of a connection are written. Headers are no part of them, so neither is a
/// credential for HTTP.
#[derive(Clone, Debug)]
pub(crate) struct Trace(Arc<TraceSink>);

#[derive(Debug)]
struct TraceSink {
    begun: Instant,
    /// Standard error if there is none.
    file: Option<Mutex<File>>,
}

impl Trace {
    /// Writes a line: the seconds since the start, `>` for a message to the server or `<` for one
    /// from it, and the message.
    fn write(&self, direction: TapDirection, message: &str) {
        let mark = match direction {
            TapDirection::Sent => '>',
            TapDirection::Received => '<',
        };
        let line = format!("{:.3} {mark} {message}", self.0.begun.elapsed().as_secs_f64());
        match &self.0.file {
            None => print::note(print::line(line)),
            Some(file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                // A full disk must not end the connection that the user looks at.
                let _ = writeln!(file, "{line}");
            }
        }
    }
}

/// The most lines of noise that are kept, and the most characters of each.
const KEPT_LINES: usize = 3;
const KEPT_CHARACTERS: usize = 120;

/// Text that a server wrote to standard output and that is no message: the first different lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noise(Arc<Mutex<Vec<String>>>);

impl Noise {
    fn push(&self, line: String) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A server may be started twice, once for each era.
        if lines.len() < KEPT_LINES && !lines.contains(&line) {
            lines.push(line);
        }
    }

    /// What the server wrote, as a sentence without a full stop, if it wrote any.
    pub(crate) fn described(&self) -> Option<TerminalText> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let quoted: Vec<String> = lines.iter().map(|line| format!("`{line}`")).collect();
        let is_there = !quoted.is_empty();
        let text = "the server writes text that is no MCP message to standard output";
        is_there.then(|| text!("{text}: {}", quoted.join(", ")))
    }

    /// Adds the text to the failure of a server that did not answer as one.
    pub(crate) fn explain(&self, failure: Failure) -> Failure {
        match (failure.exit(), self.described()) {
            (Exit::Timeout | Exit::Unreachable, Some(text)) => {
                failure.with_detail(text).hint(hints::NOISE)
            }
            _ => failure,
        }
    }
}

/// What is watched of a connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watch {
    pub(crate) trace: Option<Trace>,
    /// For a process: over HTTP a message has a body of its own.
    pub(crate) noise: Option<Noise>,
    /// Whether the user reads noise as it comes.
    pub(crate) is_verbose: bool,
}

impl Watch {
    /// Lets a client show its messages, if there is anything to watch.
    pub(crate) fn begin(self, builder: ClientBuilder) -> ClientBuilder {
        if self.trace.is_none() && self.noise.is_none() {
            return builder;
        }
        builder.on_message(move |direction, text| self.see(direction, text))
    }

    fn see(&self, direction: TapDirection, text: &[u8]) {
        if let Some(trace) = &self.trace {
            trace.write(direction, &String::from_utf8_lossy(text));
        }
        let noise = self.noise.as_ref().filter(|_| direction == TapDirection::Received);
        if let Some(noise) = noise.filter(|_| is_noise(text)) {
            let line: String =
                String::from_utf8_lossy(text).chars().take(KEPT_CHARACTERS).collect();
            if self.is_verbose {
                print::note(text!("standard output: {line}"));
            }
            noise.push(line);
        }
    }
}

/// Whether a line cannot be a message. Empty lines are harmless.
fn is_noise(line: &[u8]) -> bool {
    !line.trim_ascii().is_empty() && !may_be_message(line)
}
