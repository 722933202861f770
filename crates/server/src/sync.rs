//! A signal that several tasks wait for.

use std::future::poll_fn;
use std::sync::Mutex;
use std::task::{Poll, Waker};

use bowline_proto::sync::lock;

/// An event that happens at most once, and that any number of tasks may wait for. Allocates only
/// while a task waits.
#[derive(Debug, Default)]
pub(crate) struct Signal(Mutex<Waiting>);

#[derive(Debug, Default)]
struct Waiting {
    is_raised: bool,
    wakers: Vec<Waker>,
}

impl Signal {
    /// Makes it happen.
    pub(crate) fn raise(&self) {
        let wakers = {
            let mut waiting = lock(&self.0);
            waiting.is_raised = true;
            std::mem::take(&mut waiting.wakers)
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn is_raised(&self) -> bool {
        lock(&self.0).is_raised
    }

    /// Waits until it has happened.
    pub(crate) async fn raised(&self) {
        poll_fn(|cx| {
            let mut waiting = lock(&self.0);
            if waiting.is_raised {
                return Poll::Ready(());
            }
            if !waiting.wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
                waiting.wakers.push(cx.waker().clone());
            }
            Poll::Pending
        })
        .await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_task_that_waits_after_the_signal_was_raised_wakes_too() {
        let signal = Signal::default();
        assert!(!signal.is_raised());
        let ((), ()) = tokio::join!(signal.raised(), async { signal.raise() });
        signal.raised().await;
        assert!(signal.is_raised());
    }
}
