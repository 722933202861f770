//! The ids of events: `<stream>.<position>`, such as `3.17`.
//!
//! The stream is part of the id, so a client that resumes one stream never gets events of another
//! (RESUME-2).

use std::fmt;

use bowline_store::backend::Position;

/// The number of the GET stream, "stream 0" in other comments. It carries the standalone messages:
/// those that belong to no call. The streams of POSTs have the numbers after it.
pub(super) const GET_STREAM: u64 = 0;

/// The id of an event; in `Last-Event-ID`, of the last event that the client has seen. Clients
/// treat it as opaque, so the form may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EventId {
    pub(super) stream: u64,
    /// The event's position in the log of its stream. Position 0 is before the first event.
    pub(super) position: Position,
}

impl EventId {
    pub(super) fn new(stream: u64, position: Position) -> Self {
        Self { stream, position }
    }

    /// Reads a `Last-Event-ID`. `None` if we cannot have written it. That the event exists is
    /// another question, which the log answers.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (stream, position) = id.split_once('.')?;
        Some(Self { stream: digits(stream)?, position: Position(digits(position)?) })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.stream, self.position.0)
    }
}

/// A number without sign: `u64::from_str` would take `+7` too.
fn digits(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_read_as_it_was_written_and_nothing_else_is() {
        let id = EventId::new(3, Position(17));
        assert_eq!(id.to_string(), "3.17");
        assert_eq!(EventId::parse("3.17"), Some(id));
        for other in ["", "3", "3.", ".17", "+3.17", "3.-1", "3.1.7", "three.17"] {
            assert_eq!(EventId::parse(other), None, "{other}");
        }
    }
}
