//! A rate limit in constant memory: so many events per period.
//!
//! Used for requests of a caller, for log messages of a call and for questions to a user. The
//! caller passes the time, so tests need no clock.

use std::time::{Duration, Instant};

/// The period of most limits.
const MINUTE: Duration = Duration::from_secs(60);

/// Admits up to `most` events per period, all at once or spread over it.
///
/// It works like a token bucket that starts full and refills steadily. Only the time at which it
/// will be full again is stored.
///
/// ```
/// use std::time::{Duration, Instant};
/// use bowline_proto::pace::Pace;
///
/// let (mut pace, now) = (Pace::per_minute(2), Instant::now());
/// assert!(pace.admits(2, now) && !pace.admits(1, now));
/// assert!(pace.admits(1, now + Duration::from_secs(30)));
/// ```
#[derive(Clone, Debug)]
pub struct Pace {
    most: u32,
    per: Duration,
    /// `None` before the first event.
    full_at: Option<Instant>,
}

impl Pace {
    /// Admits `most` events per period.
    pub fn new(most: usize, per: Duration) -> Self {
        Self { most: u32::try_from(most).unwrap_or(u32::MAX), per, full_at: None }
    }

    /// Admits `most` events per minute.
    pub fn per_minute(most: usize) -> Self {
        Self::new(most, MINUTE)
    }

    /// Changes how many events a period admits. The part of them that has happened stays the same.
    pub fn set_most(&mut self, most: usize) {
        self.most = u32::try_from(most).unwrap_or(u32::MAX);
    }

    /// Whether `count` events may happen now, together. If so, they are counted. All or none: a
    /// batch that does not fit is not counted at all. A count above the limit never fits.
    pub fn admits(&mut self, count: usize, now: Instant) -> bool {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        if count > self.most {
            return false;
        }
        let cost = self.per.checked_mul(count).and_then(|cost| cost.checked_div(self.most));
        let Some(cost) = cost else { return count == 0 };
        let full_at = self.full_at.map_or(now, |at| at.max(now)).checked_add(cost);
        let Some(full_at) = full_at.filter(|at| at.duration_since(now) <= self.per) else {
            return false;
        };
        self.full_at = Some(full_at);
        true
    }

    /// How long until one more event may happen.
    pub fn wait(&self, now: Instant) -> Duration {
        self.wait_for(1, now)
    }

    /// How long until `count` more events may happen together. Counts above the limit are cut to
    /// it.
    pub fn wait_for(&self, count: usize, now: Instant) -> Duration {
        let count = u32::try_from(count).unwrap_or(u32::MAX).min(self.most);
        let cost = self.per.checked_mul(count).and_then(|cost| cost.checked_div(self.most));
        let Some(cost) = cost else { return self.per };
        let owed = self.full_at.map_or(Duration::ZERO, |at| at.saturating_duration_since(now));
        owed.saturating_add(cost).saturating_sub(self.per)
    }

    /// Whether the full number of events may happen, as with a new value.
    pub fn is_full(&self, now: Instant) -> bool {
        self.full_at.is_none_or(|at| at <= now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[allow(clippy::disallowed_methods, reason = "a test needs some instant to count from")]
    fn start() -> Instant {
        Instant::now()
    }

    fn admitted(pace: &mut Pace, now: Instant) -> usize {
        (0..1000).take_while(|_| pace.admits(1, now)).count()
    }

    // spec: ELIC-54, SAMP-23
    #[test]
    fn the_limit_of_a_minute_may_be_used_at_once_and_refills_steadily() {
        let (mut pace, start) = (Pace::per_minute(6), start());
        assert_eq!(admitted(&mut pace, start), 6);
        assert_eq!(admitted(&mut pace, start + Duration::from_secs(9)), 0);
        assert_eq!(admitted(&mut pace, start + Duration::from_secs(10)), 1);
        assert_eq!(admitted(&mut pace, start + Duration::from_secs(30)), 2);
        assert_eq!(admitted(&mut pace, start + Duration::from_secs(3600)), 6);
    }

    #[test]
    fn events_that_come_together_are_admitted_together_or_not_at_all() {
        let (mut pace, start) = (Pace::per_minute(6), start());
        assert!(!pace.admits(7, start));
        assert!(pace.admits(4, start));
        assert!(!pace.admits(3, start));
        assert!(pace.admits(2, start));
        assert!(pace.admits(0, start));
        assert!(!pace.admits(1, start));
        assert!(!Pace::per_minute(6).admits(usize::MAX, start));
    }

    #[test]
    fn an_event_after_the_given_wait_is_admitted() {
        let (mut pace, mut now) = (Pace::per_minute(6), start());
        assert_eq!(pace.wait(now), Duration::ZERO);
        assert_eq!(admitted(&mut pace, now), 6);
        assert_eq!(pace.wait(now), Duration::from_secs(10));
        assert!(!pace.is_full(now));
        now += Duration::from_secs(10);
        assert_eq!((pace.wait(now), admitted(&mut pace, now)), (Duration::ZERO, 1));
        assert!(pace.is_full(now + MINUTE));
    }

    #[test]
    fn events_together_after_the_given_wait_are_admitted() {
        let (mut pace, mut now) = (Pace::per_minute(6), start());
        assert_eq!(admitted(&mut pace, now), 6);
        assert_eq!(pace.wait_for(4, now), Duration::from_secs(40));
        assert!(!pace.admits(4, now + Duration::from_secs(39)));
        now += Duration::from_secs(40);
        assert!(pace.admits(4, now));
        assert_eq!(pace.wait_for(usize::MAX, now), MINUTE, "more never may");
    }

    #[test]
    fn a_limit_that_changes_keeps_the_part_that_was_used() {
        let (mut pace, start) = (Pace::per_minute(12), start());
        assert!(pace.admits(6, start));
        pace.set_most(4);
        assert_eq!(admitted(&mut pace, start), 2);
        assert_eq!(admitted(&mut pace, start + Duration::from_secs(15)), 1);
    }

    #[test]
    fn a_limit_of_zero_admits_nothing() {
        let (mut pace, start) = (Pace::per_minute(0), start());
        assert_eq!(admitted(&mut pace, start + MINUTE), 0);
        assert_eq!(pace.wait(start), MINUTE);
    }

    #[test]
    fn the_longest_period_does_not_overflow() {
        let (mut pace, start) = (Pace::new(2, Duration::MAX), start());
        assert_eq!(admitted(&mut pace, start), 0);
    }
}
