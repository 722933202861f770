//! What a connection wants written, and where it belongs.

use bytes::Bytes;

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
