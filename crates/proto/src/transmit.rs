//! What a connection wants written, and where it belongs.

use bowline_types::error::ErrorObject;
use bytes::Bytes;

use crate::mirror::Mirror;
use crate::request::ExchangeId;

/// One message on its way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Where it belongs. Ordered channels ignore it; HTTP picks the stream by it.
    pub route: Route,
    /// What it does to its exchange.
    pub role: Role,
    /// The message, without a line end.
    pub frame: Bytes,
    /// What HTTP repeats of it in headers; given by clients whose transport wants it.
    pub mirror: Option<Box<Mirror>>,
}

/// Why a message of ours came to nothing although the channel stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SendFailure {
    /// The id that the message had on the wire, if it was a request.
    pub id: Option<i64>,
    /// What happened to it.
    pub kind: FailureKind,
    /// The JSON-RPC error in the body of the refusal, if there was one.
    pub error: Option<ErrorObject>,
    /// One sentence for people: what failed, where, with which status, and what the body said.
    pub reason: String,
}

/// What happened to a message that came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// It never reached the server, so it can be sent again.
    NotSent,
    /// The server refused it with this HTTP status, and did nothing with it.
    Refused(u16),
    /// The server does not know our session any more, and did nothing with the message.
    SessionLost,
    /// The connection broke afterwards; the server may have done what was asked.
    Lost,
}

/// Where a message belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Route {
    /// To one call, by the number its side gave it; never by the id on the wire.
    Exchange(ExchangeId),
    /// To no call in particular.
    Standalone,
}

/// What a message does to the exchange it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Opens it: a request.
    Opens,
    /// Belongs to it: a notification or a question.
    Within,
    /// Ends it: the answer.
    Ends,
    /// Gives it up: a cancellation. Where closing a stream says the same, the text is not sent.
    Cancels,
}
