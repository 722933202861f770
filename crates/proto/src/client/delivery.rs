//! What reaches a client: messages of the server, and reports on messages of its own.

use bytes::Bytes;

use crate::codec::Received;
use crate::frame::ResponseMessage;
use crate::transmit::SendFailure;

/// What a transport delivers to a client. Most transports deliver only what they
/// [received](Received); the other variants are for those whose messages are requests of their own,
/// as over HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// A message from the channel.
    Received(Received),
    /// The text of a message that came on the stream of the request with this id, and does not
    /// answer it.
    Within(i64, Bytes),
    /// A response that the transport has parsed already, with its text. The HTTP client parses it
    /// to recognize the answer that it waits for.
    Parsed(Bytes, Box<ResponseMessage>),
    /// What became of a message of the client.
    Report(Report),
}

/// What became of a message of the client, whose channel is still open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Report {
    /// The message was not delivered or not answered.
    Failed(Box<SendFailure>),
    /// The request with this id waits for a credential, perhaps for the user to log in. Its timeout
    /// stops.
    Held(i64),
    /// The request with this id was sent again with another credential. Its timeout starts anew,
    /// and results that were stored under an earlier credential do not count any more.
    Granted(i64),
}

impl Delivery {
    /// The text of the message, as far as it was received; `None` for a report.
    pub fn text(&self) -> Option<&Bytes> {
        match self {
            Self::Received(received) => Some(received.text()),
            Self::Within(_, text) | Self::Parsed(text, _) => Some(text),
            Self::Report(_) => None,
        }
    }
}

impl From<Received> for Delivery {
    fn from(received: Received) -> Self {
        Self::Received(received)
    }
}

impl From<Report> for Delivery {
    fn from(report: Report) -> Self {
        Self::Report(report)
    }
}
