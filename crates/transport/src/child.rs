//! Servers started as child processes, for clients.
//!
//! To end a child, its standard input is closed. If it still runs after a grace period, its process
//! group gets `SIGTERM`, and after another one `SIGKILL`. That happens on close and on drop, with or
//! without a runtime. A watchdog process does it when this process is killed.

mod environment;
mod exit;
mod group;
mod process;
mod restart;
mod stderr_lines;
mod tail;
#[cfg(unix)]
mod watchdog;

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::codec::Received;
use bowline_proto::limits::Limits;
use bowline_proto::secrets::Secrets;
use bowline_proto::transmit::Transmit;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use self::exit::ExitWatch;
use self::group::ProcessGroup;
use self::process::Process;
use self::restart::Respawn;
pub use self::restart::Restart;
pub use self::stderr_lines::LineFunction;
use self::stderr_lines::StderrLines;
pub use self::tail::StderrTail;
use crate::error::Error;
use crate::lines::{LinesReader, LinesWriter};
use crate::transport::{Destination, Reader, Renewal, Transport, Writer};

/// How long a child may take for each step of its shutdown, unless set.
const GRACE: Duration = Duration::from_secs(2);

/// How to start a server.
///
/// The program is started directly, without a shell, in a process group of its own. Of this
/// process's environment it gets only variables that rarely hold a secret: `HOME`, `LANG`,
/// `LC_ALL`, `LOGNAME`, `PATH`, `SHELL`, `TERM`, `TMPDIR` and `USER` (on Windows their
/// counterparts).
///
/// It is a plain value: it can be compared, cloned, and shown to the user before it runs, which the
/// protocol asks of hosts (LOCAL-1, LOCAL-2).
///
/// ```no_run
/// use bowline_transport::child::Command;
///
/// # async fn start() -> Result<(), bowline_transport::error::Error> {
/// let server = Command::new("uvx").arg("mcp-server-git").env("GIT_PAGER", "cat").spawn()?;
/// # let _ = server;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Command {
    program: OsString,
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    inherits: bool,
    directory: Option<PathBuf>,
    stderr: Stderr,
    grace: Duration,
    restart: Option<Restart>,
}

/// Where a child's standard error goes.
///
/// Output there is never taken as a failure: servers log to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stderr {
    /// It is read continuously. The last 64 KiB are kept for [`Child::stderr`], and their end is
    /// quoted in the error when the child dies.
    #[default]
    Capture,
    /// The same, and each line goes to a function ([`Stderr::lines`]).
    Lines(LineFunction),
    /// To the standard error of this process.
    Inherit,
    /// It is discarded.
    Null,
}

impl Stderr {
    /// [`Stderr::Capture`] with a function that gets each line, without its end.
    pub fn lines(function: fn(&str)) -> Self {
        Self::Lines(LineFunction(function))
    }
}

impl Command {
    /// A command without arguments.
    pub fn new(program: impl AsRef<OsStr>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            environment: Vec::new(),
            inherits: false,
            directory: None,
            stderr: Stderr::default(),
            grace: GRACE,
            restart: None,
        }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = A>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|one| one.as_ref().to_owned()));
        self
    }

    /// Sets an environment variable. It comes on top of those that are passed on. The last value
    /// for a name counts.
    ///
    /// A credential of at least eight bytes is replaced by `[redacted]` in the errors and log messages
    /// of the server, in results of tools that report a failure, and in what an error quotes of
    /// standard error. It is known by the [name](bowline_proto::secrets::names_a_credential) of the
    /// variable, or is the password in a URL, or follows the word `Bearer`.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Passes on this process's whole environment, secrets included.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.inherits = true;
        self
    }

    /// Sets the working directory; this process's own, unless set.
    #[must_use]
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets where standard error goes.
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// Sets how long the child may take for each step of its shutdown: to exit after its input
    /// ended, and to exit after `SIGTERM`. Two seconds, unless set.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Restarts the server when it ends by itself; by default it is not restarted. See [`Restart`].
    #[must_use]
    pub fn restart(mut self, restart: Restart) -> Self {
        self.restart = Some(restart);
        self
    }

    /// Starts the server.
    ///
    /// Must be called inside a Tokio runtime with I/O enabled.
    ///
    /// # Errors
    ///
    /// If the program cannot be started; the text says what to check.
    pub fn spawn(self) -> Result<Child, Error> {
        let mut child = self.start()?;
        child.respawn = self.restart.map(|restart| Respawn::new(self, restart));
        Ok(child)
    }

    /// Starts the server once.
    fn start(&self) -> Result<Child, Error> {
        // Checked first: without a runtime the pipes would fail after the process has started.
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(self.failed("this is no Tokio runtime"));
        }
        #[cfg(unix)]
        watchdog::start();
        let child = self.prepare().spawn().map_err(|error| self.failed(&self.reason(&error)))?;
        self.adopt(child).map_err(|error| self.failed(&error.to_string()))
    }

    /// The child leads a group of its own, so that a signal reaches the processes that it starts
    /// too, and Ctrl-C in a terminal reaches only this process.
    fn prepare(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(match self.stderr {
            Stderr::Capture | Stderr::Lines(_) => Stdio::piped(),
            Stderr::Inherit => Stdio::inherit(),
            Stderr::Null => Stdio::null(),
        });
        if !self.inherits {
            command.env_clear().envs(environment::passed_on());
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        ProcessGroup::separate(&mut command);
        command
    }

    /// Makes a [`Child`] of a process that was just started. If this fails, the process is shut
    /// down.
    fn adopt(&self, mut child: std::process::Child) -> io::Result<Child> {
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stderr = child.stderr.take();
        let program = self.program.to_string_lossy().into_owned();
        let mut process = Process::new(program, child, self.grace, self.secrets());
        let missing = || io::Error::other("a pipe is missing");
        let stdin = ChildStdin::from_std(stdin.ok_or_else(missing)?)?;
        let stdout = ChildStdout::from_std(stdout.ok_or_else(missing)?)?;
        if let Some(stderr) = stderr {
            let lines = match self.stderr {
                Stderr::Lines(function) => StderrLines::to(function.0),
                _ => StderrLines::default(),
            };
            process.capture_stderr(ChildStderr::from_std(stderr)?, lines);
        }
        Ok(Child { stdin, stdout, process: Arc::new(process), respawn: None })
    }

    /// The credentials that the server was given, and that its errors must not show.
    fn secrets(&self) -> Secrets {
        let given = self.environment.iter();
        let given = given.flat_map(|(name, value)| environment::credentials(name, value));
        let inherited = self.inherits.then(std::env::vars_os).into_iter().flatten();
        let inherited = inherited.flat_map(|(name, value)| environment::credentials(&name, &value));
        Secrets::new(given.chain(inherited))
    }

    fn failed(&self, reason: &str) -> Error {
        Error::start(format!("cannot start `{}`: {reason}", self.program.to_string_lossy()))
    }

    /// Errors of the system do not say what is wrong with the command.
    fn reason(&self, error: &io::Error) -> String {
        // The error of a missing directory is the same as that of a missing program.
        if let Some(directory) = self.directory.as_deref().filter(|path| !path.is_dir()) {
            return format!("`{}` is no directory", directory.display());
        }
        match error.kind() {
            io::ErrorKind::NotFound => {
                "No such file or directory (is it installed and on PATH?)".to_owned()
            }
            io::ErrorKind::PermissionDenied => {
                "Permission denied (is it a program, and executable?)".to_owned()
            }
            _ => error.to_string(),
        }
    }
}

/// The program and all its arguments on one line, to ask a user whether it may run. Nothing is left
/// out, and words with spaces or unusual characters are quoted.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_word(f, &self.program)?;
        self.arguments.iter().try_for_each(|argument| {
            f.write_str(" ")?;
            write_word(f, argument)
        })
    }
}

/// Writes a plain word as it is, any other word in quotes with invisible characters escaped.
fn write_word(f: &mut fmt::Formatter<'_>, word: &OsStr) -> fmt::Result {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.bytes().all(is_plain) => f.write_str(text),
        _ => write!(f, "{word:?}"),
    }
}

/// Environment variables are shown by name only, since their values may be API keys.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.environment.iter().map(|(name, _)| name).collect();
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("arguments", &self.arguments)
            .field("environment", &names)
            .field("inherits", &self.inherits)
            .field("directory", &self.directory)
            .field("stderr", &self.stderr)
            .field("grace", &self.grace)
            .field("restart", &self.restart)
            .finish()
    }
}

/// A running server.
///
/// It is shut down when its [`Writer`] is closed, or when this value (or both of its halves) is
/// dropped. Its input ends first. If any process of its group still runs after the grace period, the
/// group gets `SIGTERM`, and after another one `SIGKILL`. Closing waits for that; after a drop it
/// happens on a thread. Outside Unix only the process itself is ended, after the first period.
#[derive(Debug)]
pub struct Child {
    stdin: ChildStdin,
    stdout: ChildStdout,
    process: Arc<Process>,
    /// How to restart it, if it is to be restarted.
    respawn: Option<Respawn>,
}

impl Child {
    /// The process id, which on Unix is also the id of the process group.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// The last 64 KiB that the server wrote to standard error, if that is captured.
    pub fn stderr(&self) -> Option<StderrTail> {
        self.process.stderr().cloned()
    }
}

impl Transport for Child {
    type Reader = ChildReader;
    type Writer = ChildWriter;

    fn renewal(&self) -> Option<Box<dyn Renewal<Self>>> {
        let respawn = self.respawn.clone()?;
        Some(Box::new(respawn))
    }

    fn destination(&self) -> Destination {
        Destination::over("pipe")
    }

    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer) {
        let lines = LinesReader::new(self.stdout, limits);
        let process = Arc::clone(&self.process);
        let reader = ChildReader { lines, process, exit: ExitWatch::new(), ended: false };
        let writer = ChildWriter { lines: LinesWriter::new(self.stdin), process: self.process };
        (reader, writer)
    }
}

/// The receiving half of a [`Child`]. The end of the output starts the shutdown: a server without
/// output is of no use. So does a failure of the server, even if a process that it started holds
/// the output open.
#[derive(Debug)]
pub struct ChildReader {
    lines: LinesReader<ChildStdout>,
    process: Arc<Process>,
    exit: ExitWatch,
    /// Whether the end of the server was reported.
    ended: bool,
}

impl Reader for ChildReader {
    type Item = Received;

    /// Reads the next message; `None` when the server ended without a failure.
    ///
    /// # Errors
    ///
    /// If the server failed, or ended before its first message; the text then holds its exit status
    /// and the end of its standard error.
    async fn read(&mut self) -> Result<Option<Received>, Error> {
        let received = if self.ended && self.exit.has_failed() {
            None
        } else {
            tokio::select! {
                biased;
                // First, because output may be ready all the time.
                () = self.exit.failed(&self.process) => None,
                received = self.lines.read() => received?,
            }
        };
        match &received {
            Some(Received::Message(text)) => self.process.note_output(text),
            Some(Received::TooLong(_)) => {}
            None if self.ended => {}
            None => {
                let end = self.process.end().await;
                self.ended = true;
                end?;
            }
        }
        Ok(received.map(|received| self.process.redact(received)))
    }
}

/// The sending half of a [`Child`]. Closing it is the orderly end of the server: first its input
/// ends (LIFE-20), then come the signals (LIFE-21, LIFE-22).
#[derive(Debug)]
pub struct ChildWriter {
    lines: LinesWriter<ChildStdin>,
    process: Arc<Process>,
}

impl Writer for ChildWriter {
    async fn write(&mut self, queue: &mut VecDeque<Transmit>) -> Result<(), Error> {
        match self.lines.write(queue).await {
            Err(error) if error.is_closed() => {
                self.process.end().await?;
                Err(error)
            }
            result => result,
        }
    }

    async fn close(&mut self) {
        self.lines.close().await;
        self.process.close().await;
    }
}
