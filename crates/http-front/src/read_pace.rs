//! Whether a client reads what waits for it fast enough.
//!
//! Used by the socket of a connection and by each HTTP/2 stream. A limit on silence alone would not
//! do: a client that takes one byte every few seconds would hold its answer forever.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep};

use crate::config::FrontLimits;

/// How much a client has to read at minimum: so many bytes within so much time. From
/// `FrontLimits::pace` and `FrontLimits::stall`: by default 20 KiB within 10 s. At least one byte.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinimumPace {
    pub(crate) bytes: usize,
    pub(crate) within: Duration,
}

impl MinimumPace {
    pub(crate) fn new(limits: &FrontLimits) -> Self {
        let bytes = limits.pace as u128 * limits.stall.as_millis() / 1000;
        Self { bytes: usize::try_from(bytes).unwrap_or(usize::MAX).max(1), within: limits.stall }
    }
}

/// Measures how fast a client reads. Time counts only while bytes wait for it. It looks once per
/// `within`, not at each byte. So a client that stalls is noticed after one to two of these times.
pub(crate) struct ReadPace {
    minimum: MinimumPace,
    /// Runs while bytes wait.
    waiting: Option<Pin<Box<Sleep>>>,
    /// Bytes that the client has read since `waiting` began.
    taken: usize,
}

impl ReadPace {
    pub(crate) fn new(minimum: MinimumPace) -> Self {
        Self { minimum, waiting: None, taken: 0 }
    }

    /// Notes that the client has read so many bytes.
    pub(crate) fn take(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_add(bytes);
    }

    /// Notes that no bytes wait any more.
    pub(crate) fn rest(&mut self) {
        self.waiting = None;
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Notes that bytes wait. Ready when the client has read too few of them for too long.
    pub(crate) fn poll_stalled(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let MinimumPace { bytes, within } = self.minimum;
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
