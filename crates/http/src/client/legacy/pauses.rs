//! How long to wait before coming back, and when to give up.

use std::time::Duration;

use super::super::limits::HttpClientLimits;

/// Pauses between attempts: longer and longer, drawn at random, and not for ever.
#[derive(Debug, Default)]
pub(super) struct Pauses {
    /// Attempts since something came of one.
    attempts: u32,
}

impl Pauses {
    /// Something came of an attempt.
    pub(super) fn restart(&mut self) {
        self.attempts = 0;
    }

    /// The next attempt is not the last one, whatever came of those before.
    pub(super) fn persist(&mut self, limits: &HttpClientLimits) {
        self.attempts = self.attempts.min(limits.reconnects.saturating_sub(1));
    }

    /// The pause before the next attempt, no shorter than what the server asked for, which cannot
    /// be nothing; `None` after the last one.
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

/// A number from 0 to 1. Without randomness, the longest pause is as good as any.
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
