//! Why a server could not be checked.

use std::fmt;

use bowline_proto::transmit::ConnectFailure;
use bowline_types::revision::Revision;
use serde_json::Value;

use crate::message::excerpt;

/// Why a check ended without a report: no session could be opened in any revision.
///
/// Opaque, so that kinds can be added; the predicates tell them apart. The text names the address of
/// a server over HTTP, and quotes what the server sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    kind: Kind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The process could not be started, or the URL is wrong.
    Start,
    /// There is no connection.
    Unreachable(ConnectFailure),
    /// The process ended.
    Ended,
    /// HTTP answered with this status, and without a message.
    Status(u16),
    /// No answer came in time.
    Silent,
    /// What came is no answer of MCP.
    Invalid,
    /// The server named another revision, or answered with an error.
    Refused,
}

impl CheckError {
    pub(super) fn start(text: impl Into<String>) -> Self {
        Self::new(Kind::Start, text)
    }

    pub(super) fn unreachable(cause: ConnectFailure, text: impl Into<String>) -> Self {
        Self::new(Kind::Unreachable(cause), text)
    }

    pub(super) fn ended(text: impl Into<String>) -> Self {
        Self::new(Kind::Ended, text)
    }

    pub(super) fn status(status: u16, text: impl Into<String>) -> Self {
        Self::new(Kind::Status(status), text)
    }

    pub(super) fn silent() -> Self {
        Self::new(Kind::Silent, "no answer came in time")
    }

    pub(super) fn invalid(text: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, text)
    }

    pub(super) fn refused(text: impl Into<String>) -> Self {
        Self::new(Kind::Refused, text)
    }

    /// Why a server does not speak a revision: the version that it agreed to instead, or its error.
    pub(super) fn refusal(answer: &Value, agreed: Option<&str>) -> Self {
        match (agreed, answer.pointer("/error/message").and_then(Value::as_str)) {
            (Some(agreed), _) => Self::refused(format!("it answers with {agreed}")),
            (None, Some(message)) => Self::refused(excerpt(message)),
            (None, None) => Self::invalid("its answer names no version"),
        }
    }

    /// What the check of a server that speaks none of the revisions ends with.
    pub(super) fn of_all(reasons: &[(Revision, Self)]) -> Self {
        let told = |kind: fn(Kind) -> bool| reasons.iter().find(|(_, it)| kind(it.kind));
        let first = told(|kind| matches!(kind, Kind::Status(_)))
            .or_else(|| told(|kind| kind == Kind::Invalid))
            .or_else(|| told(|kind| kind != Kind::Silent))
            .or_else(|| reasons.first());
        let Some((_, first)) = first else { return Self::silent() };
        let text = match reasons.iter().all(|(_, it)| it.text == first.text) {
            true => format!("the server speaks none of the revisions: {first}"),
            false => {
                let listed = reasons.iter().map(|(revision, it)| format!("{revision}: {it}"));
                let listed = listed.collect::<Vec<_>>().join("; ");
                format!("the server speaks none of the revisions ({listed})")
            }
        };
        Self::new(first.kind, text)
    }

    /// Whether the server demands a credential.
    pub fn is_unauthorized(&self) -> bool {
        self.kind == Kind::Status(401)
    }

    /// The HTTP status of an answer without a message.
    pub fn http_status(&self) -> Option<u16> {
        match self.kind {
            Kind::Status(status) => Some(status),
            _ => None,
        }
    }

    /// Why there is no connection to the server, if there is none.
    pub fn connect_failure(&self) -> Option<ConnectFailure> {
        match self.kind {
            Kind::Unreachable(cause) => Some(cause),
            _ => None,
        }
    }

    /// Whether the process of the server ended by itself.
    pub fn is_ended(&self) -> bool {
        self.kind == Kind::Ended
    }

    /// Whether no answer came in time.
    pub fn is_timeout(&self) -> bool {
        self.kind == Kind::Silent
    }

    /// Whether the server answered with something that is no message of MCP.
    pub fn is_invalid_answer(&self) -> bool {
        self.kind == Kind::Invalid
    }

    /// Whether the server answered that it does not speak the revisions.
    pub fn is_refused(&self) -> bool {
        self.kind == Kind::Refused
    }

    /// Whether the other revisions would fail in the same way.
    pub(super) fn is_final(&self) -> bool {
        self.is_out_of_reach() || self.is_unauthorized()
    }

    /// Whether there is no server to talk to, whatever the revision.
    pub(super) fn is_out_of_reach(&self) -> bool {
        matches!(self.kind, Kind::Start | Kind::Unreachable(_))
    }

    fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for CheckError {}
