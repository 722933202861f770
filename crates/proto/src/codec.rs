//! Bytes of a channel to pieces of text and back, fed in pieces and bounded.
//!
//! A codec knows separators and lengths, and nothing of JSON but where the id of a message stands that
//! is too long. It keeps the rest between two reads, and its memory is bounded by the limit of one
//! message whatever the peer sends.

pub mod lines;
pub mod skipped;
pub mod sse;

use bytes::Bytes;

use self::skipped::Skipped;
use crate::frame::ResponseMessage;
use crate::transmit::SendFailure;

/// What a channel delivers: one piece of text that should hold a message, or the report that there
/// will be none. The connections of both sides take it in `receive`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The whole text of one message, without the separator. Not yet checked to be UTF-8 or JSON.
    Text(Bytes),
    /// The same for a message that came on the stream of the request with this id, and does not
    /// answer it. Only where each request has a stream of its own, as over HTTP.
    Within(i64, Bytes),
    /// A response that the transport has parsed already, with its text. The HTTP client parses it
    /// to recognize the answer that it waits for.
    Read(Bytes, Box<ResponseMessage>),
    /// The first and last bytes of a message that is too long, and why. The rest was skipped. The
    /// connection answers it, or fails the call that it was meant for, if the id is among these bytes.
    TooLong(Box<Skipped>),
    /// A message of the client was not delivered or not answered, although the channel is still
    /// open. Happens only where each message is a request of its own, as over HTTP.
    Failed(Box<SendFailure>),
    /// The request with this id waits for a credential, perhaps for the user to log in. Its timeout
    /// stops. Only where requests are authorized, as over HTTP.
    Held(i64),
    /// The request with this id was sent again with another credential. Its timeout starts anew,
    /// and results that were stored under an earlier credential do not count any more.
    Granted(i64),
}
