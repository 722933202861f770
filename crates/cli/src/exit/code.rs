//! How a process of this command ends. The codes are a contract: scripts rely on them.

use std::process::ExitCode;

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The command did what it was for, or a command that serves was asked to stop.
    Done = 0,
    /// The tool failed, the server answered with an error, or a file could not be written.
    Refused = 1,
    /// The command line is wrong; clap uses the same code.
    Usage = 2,
    /// The server was not found, could not be started, could not be reached, or went away too early.
    Unreachable = 3,
    /// The server demands authorization.
    Unauthorized = 4,
    /// No answer came in time, or a check did not end in time.
    Timeout = 5,
    /// The server broke the protocol.
    Violation = 6,
    /// The user pressed Ctrl-C.
    Interrupted = 130,
    /// The reader of standard output went away, as for programs that SIGPIPE ends.
    Unread = 141,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
