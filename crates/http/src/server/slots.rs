//! A bounded number of things that may be under way at the same time.
//!
//! A refused request costs two atomic additions and takes no lock. Waiting is never an option here:
//! a request without a slot is answered at once (429 or 503), so that a crowded server holds no
//! queue of requests in memory.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts what is under way and refuses what exceeds the bound. Counts calls, subscriptions or
/// units of bodies, of one caller or of the whole endpoint.
pub(super) struct Slots {
    taken: AtomicUsize,
    most: usize,
}

impl Slots {
    pub(super) fn new(most: usize) -> Self {
        Self { taken: AtomicUsize::new(0), most }
    }

    /// Takes `count` slots, all or none. The caller returns them with [`give_back`](Self::give_back).
    ///
    /// A refusal is taken back in a second step. A request that comes between the two steps may be
    /// refused although a slot is free; the bound is never exceeded.
    pub(super) fn take(&self, count: usize) -> bool {
        let before = self.taken.fetch_add(count, Ordering::Relaxed);
        let is_free = before + count <= self.most;
        if !is_free {
            self.give_back(count);
        }
        is_free
    }

    /// How many are taken. For a moment it may count requests that are being refused.
    pub(super) fn taken(&self) -> usize {
        self.taken.load(Ordering::Relaxed)
    }

    /// Returns slots that were taken.
    pub(super) fn give_back(&self, count: usize) {
        self.taken.fetch_sub(count, Ordering::Relaxed);
    }
}
