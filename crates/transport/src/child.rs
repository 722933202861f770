//! Servers started as child processes, for clients.
//!
//! A child is told to go by closing its standard input; one that lingers gets a signal, and one
//! that ignores the signal is killed, with everything it started. That happens on close, on drop
//! with or without a runtime, and through a watchdog even when we are killed ourselves.

mod group;
mod process;
mod restart;
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

use bowline_proto::codec::lines::Unit;
use bowline_proto::limits::Limits;
use bowline_proto::transmit::Transmit;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use self::group::Group;
use self::process::Process;
use self::restart::Respawn;
pub use self::restart::Restart;
pub use self::tail::StderrTail;
use crate::error::Error;
use crate::lines::{LinesReader, LinesWriter};
use crate::transport::{Reader, Renewal, Transport, Writer};

/// How long a child may take for each step of its shutdown, unless told otherwise.
const GRACE: Duration = Duration::from_secs(2);

/// What every program may need and no secret hides in.
#[cfg(not(windows))]
const ENVIRONMENT: [&str; 9] =
    ["HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "USER"];

/// What every program may need and no secret hides in.
#[cfg(windows)]
const ENVIRONMENT: [&str; 15] = [
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// How to start a server.
///
/// The program is started as it is, with its arguments as they are; there is no shell in between.
/// It gets a process group of its own, and of our environment only what hardly ever holds a
/// secret: `HOME`, `LANG`, `LC_ALL`, `LOGNAME`, `PATH`, `SHELL`, `TERM`, `TMPDIR` and `USER` (on
/// Windows their counterparts).
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

/// What becomes of a child's standard error.
///
/// Whatever is written there is never taken as a failure: servers log to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Stderr {
    /// It is read all the time and its last 64 KiB are kept, to be read through
    /// [`Child::stderr`] and quoted when the child dies.
    #[default]
    Capture,
    /// It goes where ours goes.
    Inherit,
    /// It goes nowhere.
    Null,
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

    /// Sets a variable of the environment.
    #[must_use]
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.as_ref().to_owned(), value.as_ref().to_owned()));
        self
    }

    /// Hands on our whole environment, secrets included.
    #[must_use]
    pub fn inherit_env(mut self) -> Self {
        self.inherits = true;
        self
    }

    /// Sets the directory to start in; ours, unless set.
    #[must_use]
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets what becomes of standard error.
    #[must_use]
    pub fn stderr(mut self, stderr: Stderr) -> Self {
        self.stderr = stderr;
        self
    }

    /// Sets how long the child may take for each step of its shutdown: to exit by itself after its
    /// input ended, and after it was asked to by a signal. Two seconds, unless set.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Starts the server again when it ends by itself; it is not, unless set. See [`Restart`].
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
    /// If the program cannot be started; the text tells what to check.
    pub fn spawn(self) -> Result<Child, Error> {
        let mut child = self.start()?;
        child.respawn = self.restart.map(|restart| Respawn::new(self, restart));
        Ok(child)
    }

    /// Starts the server once.
    fn start(&self) -> Result<Child, Error> {
        // Asked first, so that no process is left behind when its pipes find no runtime.
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(self.failed("this is no Tokio runtime"));
        }
        #[cfg(unix)]
        watchdog::start();
        let child = self.prepare().spawn().map_err(|error| self.failed(&self.reason(&error)))?;
        self.adopt(child).map_err(|error| self.failed(&error.to_string()))
    }

    fn prepare(&self) -> std::process::Command {
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(match self.stderr {
            Stderr::Capture => Stdio::piped(),
            Stderr::Inherit => Stdio::inherit(),
            Stderr::Null => Stdio::null(),
        });
        if !self.inherits {
            let kept = ENVIRONMENT.iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
            command.env_clear().envs(kept);
        }
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        Group::separate(&mut command);
        command
    }

    /// Takes over a process that was just started. It is shut down if anything fails.
    fn adopt(&self, mut child: std::process::Child) -> io::Result<Child> {
        let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
        let stderr = child.stderr.take();
        let program = self.program.to_string_lossy().into_owned();
        let mut process = Process::new(program, child, self.grace);
        let missing = || io::Error::other("a pipe is missing");
        let stdin = ChildStdin::from_std(stdin.ok_or_else(missing)?)?;
        let stdout = ChildStdout::from_std(stdout.ok_or_else(missing)?)?;
        if let Some(stderr) = stderr {
            process.keep_words(ChildStderr::from_std(stderr)?);
        }
        Ok(Child { stdin, stdout, process: Arc::new(process), respawn: None })
    }

    fn failed(&self, reason: &str) -> Error {
        Error::start(format!("cannot start `{}`: {reason}", self.program.to_string_lossy()))
    }

    fn reason(&self, error: &io::Error) -> String {
        // The system says "not found" of the directory in the same words as of the program.
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

/// The program and all of its arguments in one line, to be shown to a user who is asked whether it
/// may run: nothing is left out, and a word that could be mistaken for another is quoted.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_word(f, &self.program)?;
        self.arguments.iter().try_for_each(|argument| {
            f.write_str(" ")?;
            write_word(f, argument)
        })
    }
}

/// Writes a word as it is if it is plain, or else in quotes with what cannot be seen escaped.
fn write_word(f: &mut fmt::Formatter<'_>, word: &OsStr) -> fmt::Result {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:=@%+,".contains(&byte);
    match word.to_str() {
        Some(text) if !text.is_empty() && text.bytes().all(is_plain) => f.write_str(text),
        _ => write!(f, "{word:?}"),
    }
}

/// Variables are shown by name only, since their values are where API keys are kept.
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
/// It lives until its [`Writer`] is closed, or until this value (or both of its halves) is dropped.
/// Then its input ends; if it, or anything it started, still runs after the grace period, the
/// process group gets `SIGTERM`, and `SIGKILL` after another. Closing waits for that; after a drop
/// it happens on a thread. (Outside Unix the process itself is terminated after the first period.)
#[derive(Debug)]
pub struct Child {
    stdin: ChildStdin,
    stdout: ChildStdout,
    process: Arc<Process>,
    /// How it is started again, if it is.
    respawn: Option<Respawn>,
}

impl Child {
    /// The process id, which on Unix is also the id of the process group.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// What the server wrote to standard error lately, if that is captured.
    pub fn stderr(&self) -> Option<StderrTail> {
        self.process.words().cloned()
    }
}

impl Transport for Child {
    type Reader = ChildReader;
    type Writer = ChildWriter;

    fn renewal(&self) -> Option<Box<dyn Renewal<Self>>> {
        let respawn = self.respawn.clone()?;
        Some(Box::new(respawn))
    }

    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer) {
        let lines = LinesReader::new(self.stdout, limits);
        let reader = ChildReader { lines, process: Arc::clone(&self.process), ended: false };
        let writer = ChildWriter { lines: LinesWriter::new(self.stdin), process: self.process };
        (reader, writer)
    }
}

/// The receiving half of a [`Child`].
#[derive(Debug)]
pub struct ChildReader {
    lines: LinesReader<ChildStdout>,
    process: Arc<Process>,
    /// Whether the end of the server has been told.
    ended: bool,
}

impl Reader for ChildReader {
    /// The next unit of text, or `None` when the server ended as it should.
    ///
    /// # Errors
    ///
    /// If the server failed, or ended before it said anything; the text then holds its status and
    /// its last words.
    async fn read(&mut self) -> Result<Option<Unit>, Error> {
        let unit = self.lines.read().await?;
        match &unit {
            Some(Unit::Text(text) | Unit::Read(text, _)) => self.process.hear(text),
            Some(Unit::TooLong(_) | Unit::Failed(_)) => {}
            None if self.ended => {}
            None => {
                let end = self.process.end().await;
                self.ended = true;
                end?;
            }
        }
        Ok(unit)
    }
}

/// The sending half of a [`Child`].
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
