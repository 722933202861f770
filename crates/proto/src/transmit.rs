//! Messages that a connection wants written, and the stream that each belongs to.
//!
//! A connection does not know what carries its messages. It says which stream each belongs to and
//! what it does there; the driver of stdio ignores both and writes lines in order, the HTTP server
//! picks the answer or stream by them, and the HTTP client opens or closes a request.

use bowline_types::error::ErrorObject;
use bytes::Bytes;

use crate::limits::long::Oversize;
use crate::mirror::Mirror;
use crate::request::ExchangeId;

/// One message to write. Taken from `poll_transmit` of a connection, in the order in which they
/// must be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// The stream that the message belongs to. Ordered channels ignore it; HTTP chooses by it.
    pub route: Route,
    /// What the message does to its exchange.
    pub role: Role,
    /// The message, without a line end.
    pub frame: Bytes,
    /// The headers in which HTTP repeats parts of the message. Only set by clients whose transport
    /// needs them.
    pub mirror: Option<Box<Mirror>>,
}

/// Why a message of the client was not delivered or not answered, although the channel is open.
///
/// Reported by a transport whose messages are requests of their own (HTTP), as
/// [`Report::Failed`](crate::client::Report::Failed). On other channels a failed write is the end of the
/// connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendFailure {
    /// The id that the message had on the wire, if it was a request.
    pub id: Option<i64>,
    /// What happened to it.
    pub kind: FailureKind,
    /// The JSON-RPC error in the body of the refusal, if there was one.
    pub error: Option<ErrorObject>,
    /// One sentence for people: what failed, where, with which status, and the text of the body.
    pub reason: String,
}

impl SendFailure {
    /// The HTTP status with which the server refused the message, if it did.
    pub fn http_status(&self) -> Option<u16> {
        match self.kind {
            FailureKind::Refused(status) => Some(status),
            FailureKind::Unauthorized => Some(401),
            FailureKind::NotSent
            | FailureKind::Unreachable(_)
            | FailureKind::SessionLost
            | FailureKind::Lost
            | FailureKind::NoAnswer
            | FailureKind::TooLong(_) => None,
        }
    }
}

/// What happened to a message that failed. It answers one question: may the message be sent again
/// without running a call twice?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The message never reached the server, so it can be sent again.
    NotSent,
    /// No connection to the server could be opened, so the message can be sent again.
    Unreachable(ConnectFailure),
    /// The server refused the message with this HTTP status and did not process it.
    Refused(u16),
    /// The server demands a credential that the client could not obtain (HTTP status 401). It did not
    /// process the message.
    Unauthorized,
    /// The server does not know the session any more and did not process the message.
    SessionLost,
    /// The connection broke after sending. The server may have processed the message.
    Lost,
    /// The server answered with success, but not with the answer to the message. It may have processed
    /// the message.
    NoAnswer,
    /// The answer of the server was skipped, because it is too long. The server has processed the
    /// message.
    TooLong(Oversize),
}

/// Why no connection to a server could be opened, as far as a user can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConnectFailure {
    /// The name of the host has no address.
    UnknownHost,
    /// The server answered the TLS handshake with something else: it speaks plain HTTP.
    NoTls,
    /// This system does not trust the certificate of the server.
    UntrustedCertificate,
    /// Another reason, such as a port at which nothing listens.
    Other,
}

/// The stream that a message belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// The stream of one call, by the number of the call; never by the id on the wire.
    Exchange(ExchangeId),
    /// No call: the channel itself, or the GET stream of an HTTP session.
    Standalone,
}

/// What a message does to its exchange. Over HTTP, [`Ends`](Self::Ends) is the message after which
/// a stream ends (HTTP-26).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Opens it: a request.
    Opens,
    /// Belongs to it: a notification or a question.
    Within,
    /// Ends it: the answer.
    Ends,
    /// Cancels it. Not sent where closing the stream has the same meaning.
    Cancels,
}
