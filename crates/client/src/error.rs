//! What can go wrong between a client and its server, and whether trying again may help.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use bowline_proto::client::{CallError, NegotiationError};
use bowline_proto::transmit::FailureKind;
use bowline_transport::connect::ConnectError;
use bowline_transport::error::Error as ChannelError;
use bowline_types::elicitation::UrlElicitationRequired;
use bowline_types::error::{ErrorObject, ResourceNotFound, code};
use bowline_types::read::ReadError;

use crate::page::Page;

/// What the functions of this crate return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why there is no connection, or a call has no result.
///
/// Opaque, so that causes can be added; ask the predicates. The text is a fragment without a
/// capital or a full stop that names the call and quotes the server where it said something.
///
/// A tool that ran and failed is not among these, unless asked for by
/// [`ToolOutcome::into_result`](crate::ToolOutcome::into_result).
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    /// What was called: a tool or a method. `None` while connecting.
    subject: Option<String>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// There is no channel.
    Start(ChannelError),
    /// What the caller gave leads to no server.
    #[cfg(feature = "http")]
    Address(String),
    /// There is a channel, but no agreement.
    Connect(ConnectError),
    /// The channel is gone. Whether the call was sent before it went, and what is known of why.
    Closed { sent: bool, cause: Option<Arc<ChannelError>> },
    /// The call ended in any other way.
    Call(CallError),
    /// What the caller gave cannot be sent.
    Input(String),
    /// Whoever watches over tool calls did not allow it.
    Denied(String),
    /// What the caller gave cannot be roots.
    Roots(String),
    /// The tool ran and failed, and said this.
    Failed(String),
    /// The result is not what the tool's output schema says.
    Output(String),
    /// The result is not of the type that the caller wants.
    Shape(ReadError),
    /// The pages of a list do not end.
    Endless(String),
}

impl Error {
    /// Whether no answer came in time. The call may have run all the same.
    pub fn is_timeout(&self) -> bool {
        matches!(
            self.0.kind,
            Kind::Call(CallError::TimedOut(_))
                | Kind::Connect(ConnectError::Negotiation(NegotiationError::TimedOut))
        )
    }

    /// Whether the connection is gone, closed by either side or broken.
    pub fn is_closed(&self) -> bool {
        matches!(self.0.kind, Kind::Closed { .. } | Kind::Connect(ConnectError::Closed(_)))
    }

    /// Whether there is no connection: the server could not be started, was gone before it
    /// answered, or speaks no revision that we speak.
    pub fn is_connect(&self) -> bool {
        match self.0.kind {
            Kind::Start(_) | Kind::Connect(_) => true,
            #[cfg(feature = "http")]
            Kind::Address(_) => true,
            _ => false,
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

    /// Whether the call was not sent because the server does not offer what it needs.
    pub fn is_not_offered(&self) -> bool {
        matches!(self.0.kind, Kind::Call(CallError::NotOffered { .. }))
    }

    /// The pages that the user must visit before the call can be made again, if that is why it was
    /// refused (2025-11-25 only); those that no browser should open are left out.
    ///
    /// Treat each as [`Page`] says. When the user is done, and
    /// [`on_elicitation_complete`](crate::ClientBuilder::on_elicitation_complete) may tell, call
    /// again.
    pub fn url_elicitations(&self) -> Vec<Page> {
        let Some(error) = self.rpc().filter(|it| it.code == code::URL_ELICITATION_REQUIRED) else {
            return Vec::new();
        };
        let required: Option<UrlElicitationRequired> = error.parse_data();
        let pages = required.into_iter().flat_map(|required| required.elicitations);
        pages.filter_map(|page| Page::new(page).ok()).collect()
    }

    /// Whether the call was not made because [`on_call`](crate::ClientBuilder::on_call) denied it.
    pub fn is_denied(&self) -> bool {
        matches!(self.0.kind, Kind::Denied(_))
    }

    /// Whether the server asked something first and got no answer, for a reason on our side: the
    /// user refused, a handler failed, there were too many questions. Up to 2025-11-25 the server
    /// is told and decides what becomes of the call.
    pub fn is_unanswered(&self) -> bool {
        matches!(self.0.kind, Kind::Call(CallError::Unanswered(_)))
    }

    /// Whether the tool ran and failed; only from
    /// [`ToolOutcome::into_result`](crate::ToolOutcome::into_result) and
    /// [`ToolOutcome::parse`](crate::ToolOutcome::parse).
    pub fn is_tool_failure(&self) -> bool {
        matches!(self.0.kind, Kind::Failed(_))
    }

    /// Whether the server's answer is one that the protocol does not allow, not what the tool's
    /// own output schema says, or not of the type that the caller wants.
    pub fn is_invalid_answer(&self) -> bool {
        match &self.0.kind {
            Kind::Call(error) => matches!(error, CallError::Invalid(_)),
            kind => matches!(kind, Kind::Output(_) | Kind::Shape(_) | Kind::Endless(_)),
        }
    }

    /// Whether the server has no such resource, in the words of any revision.
    pub fn is_not_found(&self) -> bool {
        self.rpc().is_some_and(|error| match error.code {
            code::RESOURCE_NOT_FOUND => true,
            // The code says only that something is wrong; the URI says that it is the resource.
            code::INVALID_PARAMS => error.parse_data::<ResourceNotFound>().is_some(),
            _ => false,
        })
    }

    /// Whether doing the same again is safe and may help, if need be over a new connection: the
    /// call certainly did not run, and what stood in its way may have passed.
    ///
    /// A call that was sent and not answered may have run, so this is `false` for time-outs and for
    /// connections that broke in the middle of a call. Whether it is harmless to run twice only the
    /// caller knows.
    pub fn may_retry(&self) -> bool {
        match &self.0.kind {
            Kind::Closed { sent, .. } => !sent,
            Kind::Connect(ConnectError::Closed(_)) => true,
            Kind::Connect(_) => self.is_timeout(),
            Kind::Call(CallError::Failed { kind, .. }) => match kind {
                FailureKind::NotSent | FailureKind::SessionLost => true,
                FailureKind::Refused(status) => matches!(status, 408 | 425 | 429 | 503),
                FailureKind::Lost => false,
            },
            _ => false,
        }
    }

    /// The HTTP status by which the server refused the call, if it said nothing else.
    pub fn http_status(&self) -> Option<u16> {
        match self.0.kind {
            Kind::Call(CallError::Failed { kind: FailureKind::Refused(status), .. }) => {
                Some(status)
            }
            _ => None,
        }
    }

    /// Whether a server that was started may get on with the other era: it died of a probe, or what
    /// was remembered of it is wrong.
    pub(crate) fn speaks_for_another_era(&self, remembered: bool) -> bool {
        match &self.0.kind {
            Kind::Connect(ConnectError::Closed(_)) => true,
            Kind::Connect(_) => remembered && !self.is_timeout(),
            _ => false,
        }
    }

    pub(crate) fn start(error: ChannelError) -> Self {
        Self::new(None, Kind::Start(error))
    }

    #[cfg(feature = "http")]
    pub(crate) fn address(reason: impl fmt::Display) -> Self {
        Self::new(None, Kind::Address(reason.to_string()))
    }

    pub(crate) fn connect(error: ConnectError) -> Self {
        Self::new(None, Kind::Connect(error))
    }

    /// The call was not sent, because the connection was gone already.
    pub(crate) fn unsent(subject: &str, cause: Option<Arc<ChannelError>>) -> Self {
        Self::new(Some(subject), Kind::Closed { sent: false, cause })
    }

    /// The connection went while the call was in flight.
    pub(crate) fn cut_off(subject: &str, cause: Option<Arc<ChannelError>>) -> Self {
        Self::new(Some(subject), Kind::Closed { sent: true, cause })
    }

    pub(crate) fn call(subject: &str, error: CallError) -> Self {
        Self::new(Some(subject), Kind::Call(error))
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

    fn new(subject: Option<&str>, kind: Kind) -> Self {
        Self(Box::new(Inner { subject: subject.map(str::to_owned), kind }))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0.subject, &self.0.kind) {
            (_, Kind::Roots(reason)) => write!(f, "setting roots: {reason}"),
            (Some(subject), kind) => write!(f, "calling `{subject}`: {kind}"),
            (None, kind) => write!(f, "connecting: {kind}"),
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(error) => error.fmt(f),
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
            Self::Call(error) => error.fmt(f),
            Self::Input(reason) => write!(f, "it was not sent: {reason}"),
            Self::Denied(reason) => write!(f, "it was not allowed: {reason}"),
            Self::Roots(reason) => f.write_str(reason),
            Self::Failed(text) if text.is_empty() => {
                f.write_str("the tool failed and said nothing")
            }
            Self::Failed(text) => write!(f, "the tool failed: {text}"),
            Self::Output(reason) => {
                write!(f, "the result is not what `tools/list` says of the tool: {reason}")
            }
            Self::Shape(error) => write!(f, "the result is not of the type wanted: {error}"),
            Self::Endless(reason) => f.write_str(reason),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("subject", &self.0.subject)
            .field("kind", &self.0.kind)
            .finish()
    }
}

impl StdError for Error {
    /// The cause of what the text tells already, never a part of the text.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        match &self.0.kind {
            Kind::Start(error) => error.source(),
            Kind::Connect(error) => error.source(),
            Kind::Closed { cause, .. } => cause.as_ref()?.source(),
            #[cfg(feature = "http")]
            Kind::Address(_) => None,
            Kind::Call(_)
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
