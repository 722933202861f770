//! What is under way in a session.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::Session;

/// An answer or a stream under way: keeps its session from being idle, and has the places of its
/// calls among those of the endpoint.
pub(in super::super) struct Busy {
    pub(in super::super) session: Arc<Session>,
    calls: usize,
}

impl Busy {
    pub(in super::super) fn new(session: Arc<Session>) -> Self {
        session.busy.fetch_add(1, Ordering::Relaxed);
        Self { session, calls: 0 }
    }

    /// With places for so many calls, if they are free.
    pub(in super::super) fn with_calls(session: Arc<Session>, calls: usize) -> Option<Self> {
        let has_places = calls == 0 || session.core.calls.take(calls);
        has_places.then(|| {
            let mut busy = Self::new(session);
            busy.calls = calls;
            busy
        })
    }

    /// One that takes over from this one.
    pub(in super::super) fn successor(&mut self) -> Self {
        let mut successor = Self::new(self.session.clone());
        successor.calls = std::mem::take(&mut self.calls);
        successor
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if self.calls > 0 {
            self.session.core.calls.give_back(self.calls);
        }
        self.session.busy.fetch_sub(1, Ordering::Relaxed);
    }
}
