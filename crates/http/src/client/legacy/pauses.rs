//! The pauses between attempts to reconnect, and their number.
//!
//! Many clients lose their streams at the same moment when a server restarts. Random pauses that
//! grow keep them from coming back all at once.

use std::time::Duration;

use super::super::limits::HttpClientLimits;

/// Exponential backoff with jitter and a bounded number of attempts.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// Attempts since the last success.
    attempts: u32,
}

impl Pauses {
    /// Begins anew after a success.
    pub(super) fn restart(&mut self) {
        self.attempts = 0;
    }

    /// Grants at least one more attempt. For a stream that the server reports as taken (409): it
    /// exists, and waiting helps.
    pub(super) fn persist(&mut self, limits: &HttpClientLimits) {
        self.attempts = self.attempts.min(limits.reconnects.saturating_sub(1));
    }

    /// The pause before the next attempt; `None` after the last one. It is at least the pause that
    /// the server asked for, which is raised to
    /// [`shortest_pause`](HttpClientLimits::shortest_pause) if it is shorter.
    pub(super) fn next(
        &mut self,
        asked: Option<Duration>,
        limits: &HttpClientLimits,
    ) -> Option<Duration> {
        if self.attempts >= limits.reconnects {
            return None;
        }
        let doubled = limits.shortest_pause.saturating_mul(1 << self.attempts.min(16));
        self.attempts += 1;
        let drawn = doubled.min(limits.longest_pause).mul_f64(random());
        let least = limits.shortest_pause.min(limits.asked_pause);
        let asked = asked.map(|asked| asked.clamp(least, limits.asked_pause));
        Some(drawn.max(asked.unwrap_or_default()))
    }
}

/// A random number from 0 to 1; 1 if the system has no randomness.
fn random() -> f64 {
    getrandom::u32().map_or(1.0, |drawn| f64::from(drawn) / f64::from(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_and_end() {
        let limits = HttpClientLimits::default();
        let mut pauses = Pauses::default();
        let drawn: Vec<_> = std::iter::from_fn(|| pauses.next(None, &limits)).collect();
        assert_eq!(drawn.len(), 10);
        for (attempt, pause) in drawn.iter().enumerate() {
            let most = Duration::from_millis(500 << attempt).min(Duration::from_secs(30));
            assert!(*pause <= most, "{attempt}: {pause:?}");
        }
        pauses.restart();
        assert!(pauses.next(None, &limits).is_some());
    }

    // spec: HTTP-20
    #[test]
    fn a_server_may_ask_for_longer_pauses_but_not_for_endless_ones() {
        let limits = HttpClientLimits::default();
        let mut pauses = Pauses::default();
        let minute = Duration::from_secs(60);
        assert_eq!(pauses.next(Some(minute), &limits), Some(minute));
        let asked = pauses.next(Some(Duration::from_secs(1 << 40)), &limits);
        assert_eq!(asked, Some(Duration::from_secs(300)));
    }
}
