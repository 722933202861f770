//! How long to wait before a store that failed is asked again.

use std::time::Duration;

/// The first pause.
const SHORTEST: Duration = Duration::from_millis(100);

/// No pause is longer. A client waits for what could not be stored, so it must be stored soon after the
/// store works again, however long it failed.
const LONGEST: Duration = Duration::from_secs(2);

/// Pauses that grow: each is twice as long as the one before.
pub(super) struct Pauses {
    next: Duration,
}

impl Pauses {
    pub(super) fn new() -> Self {
        Self { next: SHORTEST }
    }

    /// The next pause.
    pub(super) fn take(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(LONGEST);
        pause
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_up_to_a_longest() {
        let mut pauses = Pauses::new();
        let taken: Vec<_> = (0..12).map(|_| pauses.take()).collect();
        assert_eq!(taken[..3], [SHORTEST, SHORTEST * 2, SHORTEST * 4]);
        assert_eq!(taken[11], LONGEST);
    }
}
