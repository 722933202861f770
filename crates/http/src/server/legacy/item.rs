//! What a session hands to whoever drives one of its streams.

use std::time::Duration;

use bowline_proto::request::{ExchangeId, Request};
use bowline_proto::transmit::Role;
use bytes::Bytes;

use super::super::line::{self, Weigh};

/// What waits on a stream of a session.
pub(super) type Line = line::Line<Item>;

/// One thing that whoever drives a stream has to do.
#[derive(Debug)]
pub(super) enum Item {
    /// Start a call.
    Call(Box<Request>),
    /// Stop a call.
    Cancelled(ExchangeId),
    /// Send a message.
    Message(Role, Bytes),
    /// Send the client away for a while.
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
