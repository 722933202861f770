//! The marks of writers in the memory backend.

use std::time::{Duration, Instant};

use super::{MemoryState, size_of_value};
use crate::backend::{Mark, MarkStep};

impl MemoryState {
    /// Whether the writer has lost its mark. What has expired is gone already.
    pub(super) fn is_fenced(&self, mark: &Mark) -> bool {
        let is_its_own = || self.values.get(&mark.key).is_some_and(|it| it.value == mark.owner);
        mark.step != MarkStep::Begin && !is_its_own()
    }

    /// The bytes that a mark adds.
    pub(super) fn growth_of(&self, mark: &Mark) -> usize {
        match mark.step {
            MarkStep::Begin => {
                size_of_value(&mark.key, &mark.owner).saturating_sub(self.size_of(&mark.key))
            }
            MarkStep::Continue | MarkStep::End => 0,
        }
    }

    /// Sets, prolongs or removes a mark.
    pub(super) fn step_mark(&mut self, mark: Mark, expiry: Duration, now: Instant) {
        match mark.step {
            MarkStep::Begin => {
                self.set(&mark.key, mark.owner, expiry, now);
            }
            MarkStep::Continue => self.prolong(&mark.key, expiry, now),
            MarkStep::End => {
                self.remove(&mark.key);
            }
        }
    }
}
