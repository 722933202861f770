//! Bytes of a channel to pieces of text and back, fed in pieces and bounded.
//!
//! A codec knows separators and lengths, and nothing of JSON but where the id of a message stands that
//! is too long. It keeps the rest between two reads, and its memory is bounded by the limit of one
//! message whatever the peer sends.

pub mod lines;
pub mod skipped;
pub mod sse;

use self::skipped::Skipped;
use bytes::Bytes;

/// What a channel delivers: one message, or the report that one was too long. The connections of
/// both sides take it in `receive`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// The whole text of one message, without the separator. Not yet checked to be UTF-8 or JSON.
    Message(Bytes),
    /// The first and last bytes of a message that is too long, and why. The rest was skipped. The
    /// connection answers it, or fails the call that it was meant for, if the id is among these bytes.
    TooLong(Box<Skipped>),
}

impl Received {
    /// The text of the message; of one that is too long, its first bytes.
    pub fn text(&self) -> &Bytes {
        match self {
            Self::Message(text) => text,
            Self::TooLong(skipped) => &skipped.head,
        }
    }
}
