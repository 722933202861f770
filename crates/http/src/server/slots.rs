//! A bounded number of things that may be under way at the same time.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts what is under way and refuses what exceeds the bound.
pub(super) struct Slots {
    taken: AtomicUsize,
    most: usize,
}

impl Slots {
    pub(super) fn new(most: usize) -> Self {
        Self { taken: AtomicUsize::new(0), most }
    }

    /// Takes `count` slots, all or none. The caller returns them with [`give_back`](Self::give_back).
    pub(super) fn take(&self, count: usize) -> bool {
        let before = self.taken.fetch_add(count, Ordering::Relaxed);
        let is_free = before + count <= self.most;
        if !is_free {
            self.give_back(count);
        }
        is_free
    }

    /// Returns slots that were taken.
    pub(super) fn give_back(&self, count: usize) {
        self.taken.fetch_sub(count, Ordering::Relaxed);
    }
}
