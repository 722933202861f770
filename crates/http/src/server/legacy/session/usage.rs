//! Whether a session is in use, and since when it is not.
//!
//! A session may be closed when it is idle: no request is being answered and no stream is open.
//! Uses are counted by guards, so that a session is in use for exactly as long as something of it
//! runs, wherever the future is dropped.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use super::super::super::clock::now;
use super::super::super::places::Places;
use super::HttpSession;

/// An answer or a stream under way. It keeps its session from being idle, and holds the slots of
/// its calls. The driver of a POST holds one, and so does every stream. While one exists, neither
/// the sweep nor a full table closes the session.
pub(in super::super) struct SessionUse {
    pub(in super::super) session: Arc<HttpSession>,
    /// Freed with the use.
    calls: Option<Places>,
}

impl SessionUse {
    pub(in super::super) fn new(session: Arc<HttpSession>) -> Self {
        session.uses.fetch_add(1, Ordering::Relaxed);
        Self { session, calls: None }
    }

    /// A use that holds the slots of its calls.
    pub(in super::super) fn with_calls(session: Arc<HttpSession>, calls: Places) -> Self {
        let mut session_use = Self::new(session);
        session_use.calls = Some(calls);
        session_use
    }

    /// Gives the slots back before the use ends.
    pub(in super::super) fn free_calls(&mut self) {
        self.calls = None;
    }

    /// A second use of the same session, which takes over the slots. For the task that drives calls
    /// to their end after the client hung up.
    pub(in super::super) fn successor(&mut self) -> Self {
        let mut successor = Self::new(self.session.clone());
        successor.calls = self.calls.take();
        successor
    }
}

impl Drop for SessionUse {
    fn drop(&mut self) {
        self.session.uses.fetch_sub(1, Ordering::Relaxed);
    }
}

impl HttpSession {
    /// Notes that a message has come, so that the session is not closed as idle before it is in use.
    pub(in super::super) fn note_use(&self) {
        self.lock().used = now();
    }

    /// Whether an answer or a stream is under way.
    pub(in super::super) fn is_in_use(&self) -> bool {
        self.uses.load(Ordering::Relaxed) > 0
    }

    /// Whether the session has been idle for `idle`, or for `opening` while the client has not sent
    /// `notifications/initialized`. The sweep asks.
    pub(in super::super) fn is_idle(
        &self,
        now: Instant,
        idle: Duration,
        opening: Duration,
    ) -> bool {
        let mut state = self.lock();
        let is_in_use = self.is_in_use();
        if is_in_use {
            // Noted at each sweep, so that the end of a use need not lock the session.
            state.used = now;
        }
        let allowed = if state.is_initialized { idle } else { opening };
        !is_in_use && allowed <= now.saturating_duration_since(state.used)
    }

    /// The time of the last use, `None` while in use. The table of sessions evicts by it.
    pub(in super::super) fn idle_since(&self) -> Option<Instant> {
        let state = self.lock();
        (!self.is_in_use()).then_some(state.used)
    }
}
