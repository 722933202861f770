//! Exit codes, and failures with their hints.

mod code;

use std::fmt;
use std::process::ExitCode;

use bowline::client::{ConnectFailure, Error};
use bowline_ops::{hints, suggest};
use bowline_types::text::with_causes;

pub(crate) use self::code::Exit;
use crate::print;
use crate::print::{TerminalText, line, lines};
use bowline_gateway::config::ConfigError;

/// Why a command failed, and what the user can do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    text: TerminalText,
    hint: Option<TerminalText>,
    /// The HTTP status with which a server refused a request, if one did.
    http_status: Option<u16>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, text: impl Into<TerminalText>) -> Self {
        Self { exit, text: text.into(), hint: None, http_status: None }
    }

    /// Wrong arguments, noticed after clap has read them.
    pub(crate) fn usage(text: impl Into<TerminalText>) -> Self {
        Self::new(Exit::Usage, text)
    }

    /// The user pressed Ctrl-C.
    pub(crate) fn interrupted() -> Self {
        Self::new(Exit::Interrupted, "interrupted")
    }

    /// Adds what the user can do.
    pub(crate) fn hint(mut self, hint: impl Into<TerminalText>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds something that was seen, to the cause.
    pub(crate) fn with_detail(mut self, detail: impl Into<TerminalText>) -> Self {
        self.text += "; ";
        self.text += detail;
        self
    }

    /// Adds the names that the user could have meant, if the name is not among them.
    pub(crate) fn suggesting(self, name: &str, names: &[&str]) -> Self {
        match suggest::hint(name, names).filter(|_| !names.contains(&name)) {
            Some(hint) => self.hint(line(hint)),
            None => self,
        }
    }

    /// Replaces how the process ends because of it.
    pub(crate) fn with_exit(mut self, exit: Exit) -> Self {
        self.exit = exit;
        self
    }

    /// The HTTP status with which a server refused a request, if one did.
    pub(crate) fn http_status(&self) -> Option<u16> {
        self.http_status
    }

    /// What failed, and why.
    pub(crate) fn text(&self) -> &TerminalText {
        &self.text
    }

    /// How the process ends because of it.
    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    /// What the user can do.
    pub(crate) fn advice(&self) -> Option<&TerminalText> {
        self.hint.as_ref()
    }

    /// Prints the failure to standard error.
    pub(crate) fn report(&self) -> ExitCode {
        print::error(&self.text);
        if let Some(hint) = &self.hint {
            print::hint(hint);
        }
        self.exit.into()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.as_str())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let mut failure = Self::new(code(&error), lines(with_causes(&error)));
        failure.http_status = error.http_status();
        match hint(&error) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        let failure = Self::new(Exit::Unreachable, line(error.without_advice()));
        error.advice().map(line).into_iter().fold(failure, Self::hint)
    }
}

fn code(error: &Error) -> Exit {
    match error {
        _ if error.is_unauthorized() || error.http_status() == Some(401) => Exit::Unauthorized,
        _ if error.is_timeout() => Exit::Timeout,
        // No MCP server has this address; the body of the answer says nothing about that.
        _ if error.is_connect() && matches!(error.http_status(), Some(404 | 405 | 410)) => {
            Exit::Unreachable
        }
        _ if error.is_refused() || error.is_tool_failure() || error.is_cancelled() => Exit::Refused,
        _ if error.is_invalid_answer() => Exit::Violation,
        // A limit of this command, which the user can raise.
        _ if error.is_too_long() => Exit::Refused,
        _ if error.is_connect() || error.is_closed() || error.http_status().is_some() => {
            Exit::Unreachable
        }
        _ if error.is_not_offered() || error.is_unanswered() || error.is_denied() => Exit::Refused,
        _ if error.may_retry() => Exit::Unreachable,
        _ => Exit::Refused,
    }
}

fn hint(error: &Error) -> Option<TerminalText> {
    let hint = match code(error) {
        _ if error.is_too_long() => hints::SIZE,
        Exit::Timeout => hints::TIME,
        // A target that uses a login knows more (`TargetLogin::explain`).
        Exit::Unauthorized => "the server refuses the credential that it was sent",
        Exit::Unreachable if error.is_closed() => hints::OUTPUT,
        Exit::Unreachable => of_connection(error.connect_failure()?),
        Exit::Violation if error.is_connect() => hints::SERVER,
        _ => return None,
    };
    Some(hint.into())
}

/// The hint for a connection to a URL that failed.
pub(crate) fn of_connection(cause: ConnectFailure) -> &'static str {
    match cause {
        ConnectFailure::NoTls => hints::NO_TLS,
        ConnectFailure::UntrustedCertificate => hints::CERTIFICATE,
        ConnectFailure::UnknownHost => hints::NAME,
        _ => hints::PORT,
    }
}
