//! Bytes of a channel to units of text and back, fed in pieces and bounded.

pub mod lines;
pub mod sse;

use bytes::Bytes;

use crate::frame::ResponseMessage;
use crate::transmit::SendFailure;

/// What a channel brings: one piece of text that should hold a message, or the news that there
/// will be none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A whole piece without what separates it from others, not yet known to be UTF-8 or JSON.
    Text(Bytes),
    /// A response, and the piece that it was read from by somebody who had to know what it is.
    Read(Bytes, Box<ResponseMessage>),
    /// The first bytes of a piece that was longer than the limit.
    TooLong(Bytes),
    /// A message of ours came to nothing, although the channel stands. Only clients hear this, and
    /// only where each message has a fate of its own, as over HTTP.
    Failed(Box<SendFailure>),
}
