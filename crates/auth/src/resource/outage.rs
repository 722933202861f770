//! Pauses while the authorization server does not answer.
//!
//! After a question without an answer, none is asked for a while. Then one is asked, and until it has
//! an answer, requests that need another are refused with 503. Without that, every request with a new token would wait for a server that
//! is down, and load it when it comes back.

use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use bowline_proto::sync::lock;

/// How long no question is asked after one that got no answer. It is the time after which callers may
/// try again, according to their 503.
pub const QUESTION_PAUSE: Duration = Duration::from_secs(5);

/// Whether the authorization server answers.
#[derive(Default)]
pub(super) struct Outage(Mutex<State>);

#[derive(Default)]
struct State {
    /// When a question got no answer last, unless a later one did.
    failed: Option<SystemTime>,
    /// Whether the question is under way that shows if the server is back.
    is_probing: bool,
}

/// A question that may be asked. Dropped without an outcome, it counts as never asked: a caller that
/// hangs up says nothing about the server.
pub(super) struct Question<'a> {
    outage: &'a Outage,
    is_probe: bool,
}

impl Outage {
    /// Lets a question be asked, unless the server is paused.
    pub(super) fn begin(&self, now: SystemTime) -> Option<Question<'_>> {
        let mut state = lock(&self.0);
        let Some(failed) = state.failed else {
            return Some(Question { outage: self, is_probe: false });
        };
        if state.is_probing || is_recent(failed, QUESTION_PAUSE, now) {
            return None;
        }
        state.is_probing = true;
        Some(Question { outage: self, is_probe: true })
    }
}

impl Question<'_> {
    pub(super) fn answered(self) {
        lock(&self.outage.0).failed = None;
    }

    pub(super) fn failed(self, now: SystemTime) {
        lock(&self.outage.0).failed = Some(now);
    }
}

impl Drop for Question<'_> {
    fn drop(&mut self) {
        if self.is_probe {
            lock(&self.outage.0).is_probing = false;
        }
    }
}

/// Whether a time is less than a pause ago. A clock that was set back must not prolong the pause by
/// much.
pub(super) fn is_recent(at: SystemTime, pause: Duration, now: SystemTime) -> bool {
    now < at + pause && at < now + pause
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1000 + seconds)
    }

    #[test]
    fn after_a_failure_one_question_is_asked_when_the_pause_is_over() {
        let outage = Outage::default();
        let (first, second) = (outage.begin(at(0)).unwrap(), outage.begin(at(0)).unwrap());
        first.failed(at(1));
        assert!(outage.begin(at(1)).is_none());
        assert!(outage.begin(at(5)).is_none());
        let probe = outage.begin(at(6)).unwrap();
        assert!(outage.begin(at(6)).is_none() && outage.begin(at(100)).is_none());
        probe.failed(at(7));
        assert!(outage.begin(at(11)).is_none());
        let probe = outage.begin(at(12)).unwrap();
        probe.answered();
        assert!(outage.begin(at(12)).is_some() && outage.begin(at(12)).is_some());
        // A question of before the outage that is answered late shows that the server is back.
        outage.begin(at(13)).unwrap().failed(at(13));
        second.answered();
        assert!(outage.begin(at(13)).is_some());
    }

    #[test]
    fn a_probe_that_is_dropped_makes_way_for_the_next() {
        let outage = Outage::default();
        outage.begin(at(0)).unwrap().failed(at(0));
        drop(outage.begin(at(5)).unwrap());
        assert!(outage.begin(at(5)).is_some());
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_prolong_the_pause() {
        let outage = Outage::default();
        outage.begin(at(500)).unwrap().failed(at(500));
        assert!(outage.begin(at(496)).is_none());
        assert!(outage.begin(at(495)).is_some());
    }
}
