//! What an endpoint counts, for metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use super::core::Core;
use super::legacy::OpenSessions;

/// The counts of an endpoint. They do not keep it alive.
#[derive(Clone)]
pub struct EndpointCounts {
    core: Weak<Core>,
    sessions: Weak<OpenSessions>,
    refused: Arc<AtomicU64>,
}

impl EndpointCounts {
    pub(super) fn of(core: &Arc<Core>, sessions: &Arc<OpenSessions>) -> Self {
        Self {
            core: Arc::downgrade(core),
            sessions: Arc::downgrade(sessions),
            refused: core.refused.clone(),
        }
    }

    /// As [`Endpoint::sessions`](super::Endpoint::sessions).
    pub fn sessions(&self) -> usize {
        self.sessions.upgrade().map_or(0, |sessions| sessions.count())
    }

    /// How many streams wait for changes: GET streams of sessions, and subscriptions since
    /// 2026-07-28. Sessions of 2024-11-05 are streams themselves, and are not counted here.
    pub fn streams(&self) -> usize {
        let count =
            |core: Arc<Core>| core.session_streams.load(Ordering::Relaxed) + core.streams.taken();
        self.core.upgrade().map_or(0, count)
    }

    /// How many requests were answered with an HTTP status of 400 or above.
    pub fn refused(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }
}
