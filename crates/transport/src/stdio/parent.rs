//! Detects the death of the parent process.
//!
//! The end of the pipe is not enough: a sibling process that inherited the other end keeps it open.
//! Linux can send a signal when the parent dies, but sends it already when the *thread* that
//! spawned the child ends. So the parent's process id is checked every second: an orphan gets
//! another parent.

#[cfg(unix)]
use std::time::Duration;

#[cfg(unix)]
use tokio::task::yield_now;
#[cfg(unix)]
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

/// How often the parent's id is checked.
#[cfg(unix)]
const PERIOD: Duration = Duration::from_secs(1);

/// The parent process at the start. Read as early as possible: a parent that dies before that would
/// go unnoticed.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Parent {
    id: u32,
    /// Started on first use, because the parent's id is read before there is a runtime. Kept between
    /// uses, because a read that is dropped must not restart the interval.
    interval: Option<Interval>,
}

#[cfg(unix)]
impl Parent {
    pub(super) fn now() -> Self {
        Self { id: std::os::unix::process::parent_id(), interval: None }
    }

    /// Waits until the parent has died. Cancel-safe; the driver drops it after each message.
    pub(super) async fn gone(&mut self) {
        if self.interval.is_none() {
            // The first timer wakes a runtime that is parked in its I/O driver. Yielding first
            // keeps that cost away from messages that are ready to be handled.
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

/// Whether this process now has another parent.
#[cfg(unix)]
fn is_other_than(id: u32) -> bool {
    std::os::unix::process::parent_id() != id
}

/// Outside Unix an orphan gets no other parent, and pipes end with their process.
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
