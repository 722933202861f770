//! What waits on a line of a session for the driver that reads the line.

use std::time::Duration;

use bowline_proto::request::{ExchangeId, Request};
use bowline_proto::transmit::Role;
use bytes::Bytes;

use super::super::line::{self, Weigh};

/// The queue between a session and the reader of one answer or stream.
pub(super) type Line = line::Line<Item>;

/// One thing for the reader of a line to do. The session decides, the reader acts. Only messages
/// take room on the line.
#[derive(Debug)]
pub(super) enum Item {
    /// Start a call. The reader polls it in place.
    Call(Box<Request>),
    /// Stop a call. The reader drops its future.
    Cancelled(ExchangeId),
    /// Send a message to the client.
    Message(Role, Bytes),
    /// End the stream and ask the client to reconnect after this time.
    Pause(Duration),
}

impl Weigh for Item {
    fn bytes(&self) -> usize {
        match self {
            Self::Message(_, message) => message.len(),
            Self::Call(_) | Self::Cancelled(_) | Self::Pause(_) => 0,
        }
    }
}
