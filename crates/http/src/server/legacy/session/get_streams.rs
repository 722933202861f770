//! The GET streams of a session: the newest listens, and each event of their log is sent by one.
//!
//! All GET streams of a session write into one log. When a newer stream takes over, this file sets the
//! position that divides the two: the older one sends events up to it, the newer one those after.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bowline_store::backend::Position;

use super::super::item::Line;

/// Which GET stream listens, and which events of the log it may send.
#[derive(Default)]
pub(super) struct GetStreams {
    /// The count of GET streams opened so far, which is also the `opening` of the newest. An older one
    /// ends itself.
    openings: u64,
    /// Whether the newest stream is open at this endpoint.
    is_open: bool,
    /// The last event that the newest stream may send. Set when another takes over.
    until: Arc<AtomicU64>,
    /// The last event that any of them has sent.
    sent: u64,
    /// Streams that are about to be opened ([`announce`](Self::announce)).
    announced: usize,
}

/// Where a GET stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Start {
    /// With the messages from now on. The position is that of the last event in the log.
    Fresh(Position),
    /// With what the client missed after this event.
    Resumed(Position),
}

/// A GET stream that has been opened.
pub(in super::super) struct OpenedGetStream {
    /// The standalone line of the session.
    pub(in super::super) line: Arc<Line>,
    /// The count of GET streams opened so far, this one included. It tells a stream from a newer one.
    pub(in super::super) opening: u64,
    /// The last event that it may send; lowered when a newer stream takes over.
    pub(in super::super) until: Arc<AtomicU64>,
    /// The last event before those that it sends.
    pub(in super::super) after: Position,
}

impl GetStreams {
    /// For a session whose one stream lasts as long as the session (2024-11-05).
    pub(super) fn always_open() -> Self {
        Self { is_open: true, ..Self::default() }
    }

    /// Opens a stream, which takes over from the one before.
    pub(super) fn open(&mut self, start: Start, line: Arc<Line>) -> OpenedGetStream {
        let after = match start {
            Start::Fresh(Position(after)) => after.max(self.sent),
            Start::Resumed(Position(after)) => after,
        };
        let until = Arc::new(AtomicU64::new(u64::MAX));
        let before = std::mem::replace(&mut self.until, until.clone());
        before.fetch_min(after, Ordering::Relaxed);
        self.openings += 1;
        self.is_open = true;
        OpenedGetStream { line, opening: self.openings, until, after: Position(after) }
    }

    /// Ends the listening of a stream. Returns whether it was the newest.
    pub(super) fn close(&mut self, opening: u64) -> bool {
        let is_newest = self.is_newest(opening);
        self.is_open &= !is_newest;
        is_newest
    }

    /// Ends the listening of every stream here: another endpoint has the GET stream.
    pub(super) fn close_all(&mut self) {
        self.is_open = false;
    }

    /// Counts a stream that is about to be opened.
    pub(super) fn announce(&mut self) {
        self.announced += 1;
    }

    /// An announced stream has been opened, or will not be.
    pub(super) fn unannounce(&mut self) {
        self.announced -= 1;
    }

    /// Notes that an event has been sent.
    pub(super) fn note_sent(&mut self, position: u64) {
        self.sent = self.sent.max(position);
    }

    pub(super) fn is_newest(&self, opening: u64) -> bool {
        self.openings == opening
    }

    pub(super) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Whether a stream is open, or is about to be.
    pub(super) fn is_wanted(&self) -> bool {
        self.is_open || self.announced > 0
    }

    /// Whether there ever was a stream, and so a log.
    pub(super) fn has_log(&self) -> bool {
        self.openings > 0
    }
}
