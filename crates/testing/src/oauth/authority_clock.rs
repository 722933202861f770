//! The time of the authorization server.

use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bowline_proto::sync::lock;

/// The system's time plus what a test added, or a time that moves only when the test moves it.
#[derive(Default)]
pub(super) struct AuthorityClock {
    /// The time at the start, if the clock stands still.
    fixed: Option<SystemTime>,
    added: Mutex<Duration>,
}

impl AuthorityClock {
    pub(super) fn new(fixed: Option<SystemTime>) -> Self {
        Self { fixed, added: Mutex::default() }
    }

    pub(super) fn now(&self) -> SystemTime {
        self.fixed.unwrap_or_else(SystemTime::now) + *lock(&self.added)
    }

    pub(super) fn advance(&self, time: Duration) {
        *lock(&self.added) += time;
    }
}

/// Whole seconds since 1970, as tokens count them.
pub(super) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
