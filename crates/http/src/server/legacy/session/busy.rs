//! What is under way in a session.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::super::super::places::Places;
use super::Session;

/// An answer or a stream under way: keeps its session from being idle, and has the places of its
/// calls among those of the endpoint.
pub(in super::super) struct Busy {
    pub(in super::super) session: Arc<Session>,
    calls: Option<Places>,
}

impl Busy {
    pub(in super::super) fn new(session: Arc<Session>) -> Self {
        session.busy.fetch_add(1, Ordering::Relaxed);
        Self { session, calls: None }
    }

    /// With the places of its calls.
    pub(in super::super) fn with_calls(session: Arc<Session>, calls: Places) -> Self {
        let mut busy = Self::new(session);
        busy.calls = Some(calls);
        busy
    }

    /// One that takes over from this one.
    pub(in super::super) fn successor(&mut self) -> Self {
        let mut successor = Self::new(self.session.clone());
        successor.calls = self.calls.take();
        successor
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.session.busy.fetch_sub(1, Ordering::Relaxed);
    }
}
