//! The part of a rate limit that one of several processes grants.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many processes serve the same callers. A balancer spreads the requests of a caller over them,
/// so each grants a part of a rate, and together they grant the whole. Clones share the number.
///
/// ```
/// use bowline_proto::rate_share::RateShare;
///
/// let share = RateShare::default();
/// assert_eq!(share.of(10), 10);
/// share.divide_by(3);
/// assert_eq!((share.of(10), share.of(2), share.of(0)), (3, 1, 0));
/// ```
#[derive(Clone, Debug)]
pub struct RateShare(Arc<AtomicUsize>);

impl Default for RateShare {
    /// One process, which grants the whole.
    fn default() -> Self {
        Self(Arc::new(AtomicUsize::new(1)))
    }
}

impl RateShare {
    /// Sets how many processes there are. None counts as one.
    pub fn divide_by(&self, processes: usize) {
        self.0.store(processes.max(1), Ordering::Relaxed);
    }

    /// How many processes there are.
    pub fn processes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// The part of a limit that this process grants: at least one, unless the limit is zero.
    pub fn of(&self, most: usize) -> usize {
        (most / self.processes()).max(most.min(1))
    }
}
