//! Notices the death of the process that started us.
//!
//! The end of the pipe is not enough: a sibling that inherited its other end keeps it open. Linux
//! can send a signal when the parent dies, but sends it when the parent's *thread* ends, which for
//! a parent with a thread pool is any time. So the parent's id is looked at every second: an
//! orphan is given to another parent.

#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
use tokio::task::yield_now;
#[cfg(unix)]
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// How often to look.
#[cfg(unix)]
const PERIOD: Duration = Duration::from_secs(1);

/// The parent as it was in the beginning.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Parent {
    id: u32,
    /// Started on first use, because the parent is noted before there is a runtime. Kept between
    /// uses, because a read that is given up must not restart the second.
    interval: Option<Interval>,
}

#[cfg(unix)]
impl Parent {
    pub(super) fn now() -> Self {
        Self { id: std::os::unix::process::parent_id(), interval: None }
    }

    /// Waits for the parent's death.
    pub(super) async fn gone(&mut self) {
        if self.interval.is_none() {
            // A runtime that sleeps is woken to hear of its first timer. What is to be said is said
            // before that: this begins when there is nothing else to do.
            yield_now().await;
            if is_other_than(self.id) {
                return;
            }
        }
        let interval = self.interval.get_or_insert_with(|| {
            let mut interval = interval_at(Instant::now() + PERIOD, PERIOD);
            interval.set_missed_tick_behavior(MissedTickBehavior::Delay);
            interval
        });
        loop {
            interval.tick().await;
            if is_other_than(self.id) {
                return;
            }
        }
    }
}

/// Whether we have been given to another parent than this.
#[cfg(unix)]
fn is_other_than(id: u32) -> bool {
    std::os::unix::process::parent_id() != id
}

/// Elsewhere processes are not given to another parent, and pipes end with their process.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Parent;

#[cfg(not(unix))]
impl Parent {
    pub(super) fn now() -> Self {
        Self
    }

    pub(super) async fn gone(&mut self) {
        std::future::pending().await
    }
}
