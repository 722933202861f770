//! Whether a client takes what waits for it, and fast enough.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use super::limits::HttpLimits;

/// The least that a client has to take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    pub(super) bytes: usize,
    pub(super) within: Duration,
}

impl Least {
    pub(super) fn new(limits: &HttpLimits) -> Self {
        let bytes = limits.pace as u128 * limits.stall.as_millis() / 1000;
        Self { bytes: usize::try_from(bytes).unwrap_or(usize::MAX).max(1), within: limits.stall }
    }
}

/// How fast a client takes what waits for it. Nothing is measured while nothing waits.
pub(super) struct Pace {
    least: Least,
    /// Runs while something waits.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Bytes that were taken since it runs.
    taken: usize,
}

impl Pace {
    pub(super) fn new(least: Least) -> Self {
        Self { least, waiting: None, taken: 0 }
    }

    /// Notes that so many bytes were taken.
    pub(super) fn take(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_add(bytes);
    }

    /// Notes that nothing waits any more.
    pub(super) fn rest(&mut self) {
        self.waiting = None;
    }

    pub(super) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Notes that something waits. Ready when too little of it was taken for too long.
    pub(super) fn poll_stalled(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Least { bytes, within } = self.least;
        if self.waiting.is_none() {
            self.taken = 0;
        }
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(within)));
        while waiting.as_mut().poll(cx).is_ready() {
            waiting.as_mut().reset(Instant::now() + within);
            if std::mem::take(&mut self.taken) < bytes {
                return Poll::Ready(());
            }
        }
        Poll::Pending
    }
}
