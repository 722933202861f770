//! Pauses between attempts to reach a database that does not answer.
//!
//! Otherwise each request of each client would wait for its timeout, and all servers would connect at
//! the same instant when the database is back.

use std::time::{Duration, Instant};

/// As many failures in a row begin a pause.
const FAILURES: u32 = 3;

/// The first pause. Each further one is twice as long, up to [`LONGEST`].
const FIRST: Duration = Duration::from_millis(250);

/// Short enough that a store works again within two seconds after an outage, together with a last
/// attempt that had to fail.
const LONGEST: Duration = Duration::from_millis(750);

/// Counts failures in a row.
#[derive(Debug, Default)]
pub(crate) struct Breaker {
    failures: u32,
    pauses: u32,
    until: Option<Instant>,
    reason: String,
}

/// The database is left alone for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pause {
    /// How long it lasts.
    pub(crate) left: Duration,
    /// The last failure.
    pub(crate) reason: String,
}

impl Breaker {
    /// The pause, if one lasts.
    pub(crate) fn pause(&self, now: Instant) -> Option<Pause> {
        let left = self.until?.checked_duration_since(now).filter(|left| !left.is_zero())?;
        Some(Pause { left, reason: self.reason.clone() })
    }

    pub(crate) fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Records a failure. `jitter` is between 0 and 1. Returns whether a pause begins. What fails during
    /// a pause began before it, and changes nothing.
    pub(crate) fn failed(&mut self, now: Instant, reason: &str, jitter: f64) -> bool {
        if self.pause(now).is_some() {
            return false;
        }
        self.failures += 1;
        // After a pause, one more failure is enough.
        if self.failures < FAILURES && self.pauses == 0 {
            return false;
        }
        let pause = FIRST.saturating_mul(1 << self.pauses.min(8)).min(LONGEST);
        self.pauses += 1;
        self.failures = 0;
        self.until = Some(now + pause.mul_f64(0.5 + jitter / 2.0));
        reason.clone_into(&mut self.reason);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_failures_begin_a_pause_and_pauses_grow_to_a_limit() {
        let (mut breaker, mut now) = (Breaker::default(), Instant::now());
        assert!(!breaker.failed(now, "one", 1.0) && !breaker.failed(now, "two", 1.0));
        assert_eq!(breaker.pause(now), None);
        let mut pauses = Vec::new();
        for _ in 0..4 {
            breaker.failed(now, "three", 1.0);
            let pause = breaker.pause(now).expect("a pause");
            assert_eq!(pause.reason, "three");
            assert!(!breaker.failed(now, "late", 1.0), "it began before the pause");
            assert_eq!(breaker.pause(now), Some(pause.clone()));
            now += pause.left;
            assert_eq!(breaker.pause(now), None, "the pause is over");
            pauses.push(pause.left.as_millis());
            if pauses.len() == 1 {
                assert_eq!(pauses, [250]);
            }
        }
        assert_eq!(pauses, [250, 500, 750, 750]);
    }

    #[test]
    fn a_success_forgets_all_failures() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for _ in 0..3 {
            breaker.failed(now, "", 0.0);
        }
        assert_eq!(breaker.pause(now).unwrap().left, FIRST / 2, "the jitter halves it at most");
        breaker.succeeded();
        assert_eq!(breaker.pause(now), None);
        assert!(!breaker.failed(now, "", 0.0) && !breaker.failed(now, "", 0.0));
        assert!(breaker.failed(now, "", 0.0), "again three");
    }
}
