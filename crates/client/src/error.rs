//! The errors of a client, and whether a retry may help.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::{CallError, NegotiationError};
use bowline_proto::limits::long::Oversize;
use bowline_proto::transmit::{ConnectFailure, FailureKind};
use bowline_transport::child::StderrTail;
use bowline_transport::connect::ConnectError;
use bowline_transport::error::Error as ChannelError;
use bowline_types::elicitation::UrlElicitationRequired;
use bowline_types::error::{ErrorObject, MissingCapability, ResourceNotFound, code};
use bowline_types::ext::tasks;
use bowline_types::json::RawJson;
use bowline_types::read::ReadError;
use bowline_types::text::with_causes;

use crate::web_page::WebPage;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a client could not connect, or a call failed.
///
/// Opaque, so that kinds of errors can be added; use the predicates to tell them apart. The text
/// names the call and quotes the server's error. `Debug` prints the same text with all causes, so
/// `fn main() -> Result<(), Error>` ends with a readable sentence.
///
/// A tool that ran and failed is not an error, unless
/// [`ToolOutcome::into_result`](crate::ToolOutcome::into_result) makes it one.
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    /// What was called: a tool or a method. `None` while connecting.
    subject: Option<String>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// The channel could not be opened.
    Start(ChannelError),
    /// The server did not answer in this time; holds the last that it wrote to standard error.
    SlowStart(Duration, String),
    /// The URL or a header is invalid.
    #[cfg(feature = "http")]
    Address(String),
    /// The channel is open, but negotiation failed.
    Connect(ConnectError),
    /// The channel closed: whether the call was sent before, and the cause if it is known.
    Closed { sent: bool, cause: Option<Arc<ChannelError>> },
    /// The call failed in another way.
    Call(CallError),
    /// The server requires input that the caller of a relay gives; holds its result.
    Asks(RawJson),
    /// The caller's input is invalid, so nothing was sent.
    Input(String),
    /// The hook `on_call` denied the call, or it came from a view that may not make it.
    Denied(String),
    /// The roots are invalid.
    Roots(String),
    /// The login could not be ended.
    #[cfg(feature = "auth")]
    Logout(String),
    /// The tool ran and failed with this text.
    Failed(String),
    /// The result does not fit the tool's output schema.
    Output(String),
    /// The result does not have the type that the caller wants.
    Shape(ReadError),
    /// The pages of a list do not end.
    Endless(String),
    /// A skill is not what its entry describes.
    #[cfg(feature = "skills")]
    Skill(bowline_skills::SkillMismatch),
}

impl Error {
    /// Whether no answer came in time. The call may have run.
    pub fn is_timeout(&self) -> bool {
        matches!(
            self.0.kind,
            Kind::Call(CallError::TimedOut(_))
                | Kind::SlowStart(..)
                | Kind::Connect(ConnectError::Negotiation(NegotiationError::TimedOut))
        )
    }

    /// Whether the connection closed or broke.
    pub fn is_closed(&self) -> bool {
        matches!(self.0.kind, Kind::Closed { .. } | Kind::Connect(ConnectError::Closed(_)))
    }

    /// Whether the client could not connect: the server could not be started, ended before it
    /// answered, or speaks no revision that the client speaks.
    pub fn is_connect(&self) -> bool {
        match self.0.kind {
            Kind::Start(_) | Kind::SlowStart(..) | Kind::Connect(_) => true,
            #[cfg(feature = "http")]
            Kind::Address(_) => true,
            _ => false,
        }
    }

    /// Why no connection to a server over HTTP could be opened, if that is what failed. Local
    /// servers fail in other ways ([`is_connect`](Self::is_connect), [`is_closed`](Self::is_closed)).
    pub fn connect_failure(&self) -> Option<ConnectFailure> {
        match self.0.kind {
            Kind::Call(CallError::Failed { kind: FailureKind::Unreachable(cause), .. }) => {
                Some(cause)
            }
            Kind::Connect(ConnectError::Negotiation(NegotiationError::Unreachable {
                cause,
                ..
            })) => cause,
            _ => None,
        }
    }

    /// Whether client and server have no revision in common, as far as the server tells: with other
    /// [`revisions`](crate::ClientBuilder::revisions) the client may be able to connect.
    pub fn is_other_revision(&self) -> bool {
        matches!(
            self.0.kind,
            Kind::Connect(ConnectError::Negotiation(
                NegotiationError::NoCommonRevision(_) | NegotiationError::Legacy(_)
            ))
        )
    }

    /// Whether the server demands a credential that the client could not obtain
    /// ([`ClientBuilder::auth`](crate::ClientBuilder::auth)): for example, the user did not log in.
    pub fn is_unauthorized(&self) -> bool {
        matches!(
            self.0.kind,
            Kind::Call(CallError::Failed { kind: FailureKind::Unauthorized, .. })
                | Kind::Connect(ConnectError::Negotiation(NegotiationError::Unauthorized(_)))
        )
    }

    /// The result that requires input of the caller of a relay.
    pub(crate) fn questions(&self) -> Option<&RawJson> {
        match &self.0.kind {
            Kind::Asks(result) => Some(result),
            _ => None,
        }
    }

    /// Whether the server answered with an error; [`rpc`](Self::rpc) gives it.
    pub fn is_refused(&self) -> bool {
        self.rpc().is_some()
    }

    /// The error that the server answered with.
    pub fn rpc(&self) -> Option<&ErrorObject> {
        match &self.0.kind {
            Kind::Call(CallError::Refused(error))
            | Kind::Connect(ConnectError::Negotiation(NegotiationError::Refused {
                error, ..
            })) => Some(error),
            _ => None,
        }
    }

    /// Whether the call was not sent, because the server does not declare the capability for it.
    pub fn is_not_offered(&self) -> bool {
        matches!(self.0.kind, Kind::Call(CallError::NotOffered { .. }))
    }

    /// The web pages that the user must visit before the call can be repeated, if that is why the
    /// server refused it (2025-11-25 only). Pages that no browser should open are left out.
    ///
    /// Handle each as [`WebPage`] says. Repeat the call when the user has finished, which
    /// [`on_elicitation_complete`](crate::ClientBuilder::on_elicitation_complete) may report.
    pub fn url_elicitations(&self) -> Vec<WebPage> {
        let Some(error) = self.rpc().filter(|it| it.code == code::URL_ELICITATION_REQUIRED) else {
            return Vec::new();
        };
        let required: Option<UrlElicitationRequired> = error.parse_data();
        let pages = required.into_iter().flat_map(|required| required.elicitations);
        pages.filter_map(|page| WebPage::new(page).ok()).collect()
    }

    /// Whether the call was not sent, because [`on_call`](crate::ClientBuilder::on_call) denied it, or
    /// because a [view](crate::View) asked for a tool that is not for views.
    pub fn is_denied(&self) -> bool {
        matches!(self.0.kind, Kind::Denied(_))
    }

    /// Whether the server asked a question first and the client could not answer it: a handler
    /// failed, or there were too many questions. Up to 2025-11-25 the server gets an error for the
    /// question instead, and decides how the call ends.
    pub fn is_unanswered(&self) -> bool {
        self.unanswered().is_some()
    }

    /// Why a question of the server was not answered, if that ended the call.
    pub(crate) fn unanswered(&self) -> Option<&ErrorObject> {
        match &self.0.kind {
            Kind::Call(CallError::Unanswered(why)) => Some(why),
            _ => None,
        }
    }

    /// Whether the call became a task that was cancelled, by this program or another one.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0.kind, Kind::Call(CallError::TaskCancelled(_)))
    }

    /// Whether the tool ran and failed; only from
    /// [`ToolOutcome::into_result`](crate::ToolOutcome::into_result) and
    /// [`ToolOutcome::parse`](crate::ToolOutcome::parse).
    pub fn is_tool_failure(&self) -> bool {
        matches!(self.0.kind, Kind::Failed(_))
    }

    /// Whether the server's answer breaks the protocol, does not fit the tool's output schema, or
    /// does not have the type that the caller wants. Also true while connecting, if something else
    /// than MCP answers.
    pub fn is_invalid_answer(&self) -> bool {
        match &self.0.kind {
            Kind::Call(CallError::Failed { kind, .. }) => *kind == FailureKind::NoAnswer,
            Kind::Call(error) => matches!(error, CallError::Invalid(_)),
            Kind::Connect(ConnectError::Negotiation(error)) => {
                matches!(error, NegotiationError::Invalid(_) | NegotiationError::Noise(_))
            }
            kind => matches!(kind, Kind::Output(_) | Kind::Shape(_) | Kind::Endless(_)),
        }
    }

    /// Whether the answer was skipped because of its length: it is longer than
    /// [`Limits::frame`](bowline_proto::limits::Limits::frame), or there was no room for it beside
    /// other long messages. The call has run.
    pub fn is_too_long(&self) -> bool {
        self.oversize().is_some()
    }

    /// Why the answer is too long.
    pub(crate) fn oversize(&self) -> Option<Oversize> {
        match self.0.kind {
            Kind::Call(CallError::TooLong(why)) => Some(why),
            _ => None,
        }
    }

    /// What is wrong with an answer that could be read as a message.
    pub(crate) fn fault_of_answer(&self) -> Option<String> {
        match &self.0.kind {
            Kind::Call(CallError::Invalid(reason)) => Some(reason.clone()),
            Kind::Shape(error) => Some(error.to_string()),
            _ => None,
        }
    }

    /// Why a skill, or a file of it, cannot be used: it is not what the entry of the skill describes.
    #[cfg(feature = "skills")]
    pub fn skill_mismatch(&self) -> Option<&bowline_skills::SkillMismatch> {
        match &self.0.kind {
            Kind::Skill(mismatch) => Some(mismatch),
            _ => None,
        }
    }

    /// Whether the server has no such resource; knows the error codes of all revisions.
    pub fn is_not_found(&self) -> bool {
        self.rpc().is_some_and(|error| match error.code {
            code::RESOURCE_NOT_FOUND => true,
            // This code has many meanings; only for a missing resource does the data hold its URI.
            code::INVALID_PARAMS => error.parse_data::<ResourceNotFound>().is_some(),
            _ => false,
        })
    }

    /// Whether a retry is safe and may help, if necessary over a new connection: the call certainly
    /// did not run, and the failure may be temporary.
    ///
    /// A call that was sent and not answered may have run, so this is `false` for timeouts and for
    /// connections that broke during a call. Only the caller knows whether it may run twice.
    pub fn may_retry(&self) -> bool {
        match &self.0.kind {
            Kind::Closed { sent, .. } => !sent,
            Kind::Connect(ConnectError::Closed(_)) | Kind::SlowStart(..) => true,
            Kind::Connect(_) => self.is_timeout(),
            Kind::Call(CallError::Failed { kind, .. }) => match kind {
                FailureKind::NotSent | FailureKind::Unreachable(_) | FailureKind::SessionLost => {
                    true
                }
                FailureKind::Refused(status) => matches!(status, 408 | 425 | 429 | 503),
                FailureKind::Lost
                | FailureKind::NoAnswer
                | FailureKind::TooLong(_)
                | FailureKind::Unauthorized => false,
            },
            _ => false,
        }
    }

    /// Whether the server may have run the call. `false` only if it certainly did not: the call was not
    /// sent, or the server did not take it. A status of the 500s may come from a proxy whose server
    /// ran the call, except for 503.
    pub(crate) fn may_have_run(&self) -> bool {
        match &self.0.kind {
            Kind::Closed { sent, .. } => *sent,
            Kind::Call(CallError::NotOffered { .. }) | Kind::Input(_) | Kind::Denied(_) => false,
            Kind::Call(CallError::Failed { kind, .. }) => match kind {
                FailureKind::NotSent
                | FailureKind::Unreachable(_)
                | FailureKind::SessionLost
                | FailureKind::Unauthorized => false,
                FailureKind::Refused(status) => *status >= 500 && *status != 503,
                FailureKind::Lost | FailureKind::NoAnswer | FailureKind::TooLong(_) => true,
            },
            _ => true,
        }
    }

    /// The HTTP status with which the server refused the call, unless it sent a JSON-RPC error, or
    /// with which it refused to begin.
    pub fn http_status(&self) -> Option<u16> {
        match &self.0.kind {
            Kind::Call(CallError::Failed { kind: FailureKind::Refused(status), .. }) => {
                Some(*status)
            }
            Kind::Call(CallError::Failed { kind: FailureKind::Unauthorized, .. }) => Some(401),
            Kind::Connect(ConnectError::Negotiation(error)) => error.http_status(),
            _ => None,
        }
    }

    /// Whether a request that changes nothing may succeed if it is made again later: it got lost on its
    /// way, or the server cannot answer now.
    pub(crate) fn may_pass(&self) -> bool {
        if let Some(rpc) = self.rpc() {
            return matches!(rpc.code, code::TOO_MANY_REQUESTS | code::UNAVAILABLE);
        }
        let Kind::Call(CallError::Failed { kind, .. }) = self.0.kind else { return false };
        match kind {
            FailureKind::NotSent
            | FailureKind::Unreachable(_)
            | FailureKind::Lost
            | FailureKind::NoAnswer => true,
            FailureKind::Refused(status) => matches!(status, 408 | 425 | 429 | 502 | 503 | 504),
            FailureKind::SessionLost | FailureKind::Unauthorized | FailureKind::TooLong(_) => false,
        }
    }

    /// Whether connecting may succeed with the other era: the server exited on the probe, or its
    /// remembered era was wrong.
    pub(crate) fn speaks_for_another_era(&self, remembered: bool) -> bool {
        match &self.0.kind {
            Kind::Connect(ConnectError::Closed(_)) => true,
            // A user who did not log in is not asked again.
            Kind::Connect(_) => remembered && !self.is_timeout() && !self.is_unauthorized(),
            _ => false,
        }
    }

    pub(crate) fn start(error: ChannelError) -> Self {
        Self::new(None, Kind::Start(error))
    }

    /// The server did not answer in this time.
    pub(crate) fn slow_start(longest: Duration, stderr: Option<&StderrTail>) -> Self {
        let said = stderr.map(StderrTail::quoted).unwrap_or_default();
        Self::new(None, Kind::SlowStart(longest, said))
    }

    #[cfg(feature = "http")]
    pub(crate) fn address(reason: impl fmt::Display) -> Self {
        Self::new(None, Kind::Address(reason.to_string()))
    }

    pub(crate) fn connect(error: ConnectError) -> Self {
        Self::new(None, Kind::Connect(error))
    }

    /// The call was not sent, because the connection had closed before.
    pub(crate) fn unsent(subject: &str, cause: Option<Arc<ChannelError>>) -> Self {
        Self::new(Some(subject), Kind::Closed { sent: false, cause })
    }

    /// The connection closed while the call was in flight.
    pub(crate) fn cut_off(subject: &str, cause: Option<Arc<ChannelError>>) -> Self {
        Self::new(Some(subject), Kind::Closed { sent: true, cause })
    }

    pub(crate) fn call(subject: &str, error: CallError) -> Self {
        Self::new(Some(subject), Kind::Call(error))
    }

    pub(crate) fn asks(subject: &str, result: RawJson) -> Self {
        Self::new(Some(subject), Kind::Asks(result))
    }

    pub(crate) fn input(subject: &str, reason: impl fmt::Display) -> Self {
        Self::new(Some(subject), Kind::Input(reason.to_string()))
    }

    pub(crate) fn denied(subject: &str, reason: String) -> Self {
        Self::new(Some(subject), Kind::Denied(reason))
    }

    pub(crate) fn roots(reason: impl fmt::Display) -> Self {
        Self::new(None, Kind::Roots(reason.to_string()))
    }

    #[cfg(feature = "auth")]
    pub(crate) fn logout(cause: &(dyn StdError + 'static)) -> Self {
        Self::new(None, Kind::Logout(with_causes(cause)))
    }

    pub(crate) fn failed(subject: &str, text: String) -> Self {
        Self::new(Some(subject), Kind::Failed(text))
    }

    pub(crate) fn output(subject: &str, reason: String) -> Self {
        Self::new(Some(subject), Kind::Output(reason))
    }

    pub(crate) fn shape(subject: &str, error: ReadError) -> Self {
        Self::new(Some(subject), Kind::Shape(error))
    }

    pub(crate) fn endless(subject: &str, reason: String) -> Self {
        Self::new(Some(subject), Kind::Endless(reason))
    }

    #[cfg(feature = "skills")]
    pub(crate) fn skill(subject: &str, mismatch: bowline_skills::SkillMismatch) -> Self {
        Self::new(Some(subject), Kind::Skill(mismatch))
    }

    fn new(subject: Option<&str>, kind: Kind) -> Self {
        Self(Box::new(Inner { subject: subject.map(str::to_owned), kind }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.subject, &self.0.kind) {
            #[cfg(feature = "skills")]
            (Some(subject), Kind::Skill(mismatch)) => write!(f, "reading `{subject}`: {mismatch}"),
            (_, Kind::Roots(reason)) => write!(f, "setting roots: {reason}"),
            #[cfg(feature = "auth")]
            (_, Kind::Logout(reason)) => write!(f, "logging out: {reason}"),
            (Some(subject), kind) => write!(f, "calling `{subject}`: {kind}"),
            (None, kind) => write!(f, "connecting: {kind}"),
        }
    }
}

/// How a program gets what the server demands.
const TURN_ON_TASKS: &str = "; turn tasks on with `ClientBuilder::tasks`";

/// Whether a server refused a call because the client does not declare tasks.
fn requires_tasks(error: &ErrorObject) -> bool {
    let required = error.parse_data::<MissingCapability>();
    required.is_some_and(|it| it.required_capabilities.supports_extension(tasks::IDENTIFIER))
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => error.fmt(f),
            Self::SlowStart(longest, said) => {
                write!(f, "the server did not answer within {} s", longest.as_secs_f64())?;
                if said.is_empty() { Ok(()) } else { write!(f, "; standard error: {said}") }
            }
            #[cfg(feature = "http")]
            Self::Address(reason) => f.write_str(reason),
            Self::Connect(error) => error.fmt(f),
            Self::Closed { sent, cause } => {
                f.write_str(match sent {
                    true => "the connection closed before the answer came",
                    false => "it was not sent, because the connection is closed",
                })?;
                cause.as_ref().map_or(Ok(()), |cause| write!(f, ": {cause}"))
            }
            Self::Call(error) => {
                error.fmt(f)?;
                match error {
                    CallError::Refused(error) if requires_tasks(error) => {
                        f.write_str(TURN_ON_TASKS)
                    }
                    _ => Ok(()),
                }
            }
            Self::Asks(_) => f.write_str("the server asks for input first"),
            Self::Input(reason) => write!(f, "it was not sent: {reason}"),
            Self::Denied(reason) => write!(f, "it was not allowed: {reason}"),
            Self::Roots(reason) => f.write_str(reason),
            #[cfg(feature = "auth")]
            Self::Logout(reason) => f.write_str(reason),
            Self::Failed(text) if text.is_empty() => {
                f.write_str("the tool failed and said nothing")
            }
            Self::Failed(text) => write!(f, "the tool failed: {text}"),
            Self::Output(reason) => {
                write!(f, "the result is not what `tools/list` says of the tool: {reason}")
            }
            Self::Shape(error) => write!(f, "the result is not of the type wanted: {error}"),
            Self::Endless(reason) => f.write_str(reason),
            #[cfg(feature = "skills")]
            Self::Skill(mismatch) => mismatch.fmt(f),
        }
    }
}

impl fmt::Debug for Error {
    /// The text with all causes: what a `main` that returns it prints.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&with_causes(self))
    }
}

impl StdError for Error {
    /// The cause of the error that the text describes. It is not part of the text.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.kind {
            Kind::Start(error) => error.source(),
            Kind::Connect(error) => error.source(),
            Kind::Closed { cause, .. } => cause.as_ref()?.source(),
            Kind::SlowStart(..) => None,
            #[cfg(feature = "http")]
            Kind::Address(_) => None,
            #[cfg(feature = "auth")]
            Kind::Logout(_) => None,
            #[cfg(feature = "skills")]
            Kind::Skill(_) => None,
            Kind::Call(_)
            | Kind::Asks(_)
            | Kind::Input(_)
            | Kind::Denied(_)
            | Kind::Roots(_)
            | Kind::Failed(_)
            | Kind::Output(_)
            | Kind::Shape(_)
            | Kind::Endless(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `main` prints the `Debug` of the error that it returns.
    #[test]
    fn an_error_that_main_returns_is_printed_as_a_sentence() {
        let refused = CallError::Refused(ErrorObject::invalid_params("`city`: missing"));
        let error = Error::call("forecast", refused);
        assert_eq!(format!("{error:?}"), error.to_string());
        assert!(error.to_string().starts_with("calling `forecast`: "), "{error}");
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn the_causes_of_an_error_are_printed_after_it() {
        let missing = bowline_transport::socket::UnixTransport::connect("/missing/server.sock");
        let error = Error::start(missing.await.unwrap_err());
        assert_eq!(error.to_string(), "connecting: cannot connect to `/missing/server.sock`");
        assert!(format!("{error:?}").starts_with(&format!("{error}: No such file")), "{error:?}");
    }
}
