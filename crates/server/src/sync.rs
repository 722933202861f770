//! What several tasks share: a signal, and locks that outlive panics.

use std::future::poll_fn;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Something that happens at most once, and that any number of tasks may wait for. Costs nothing
/// while nobody waits.
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

/// Locks what no panic leaves half-changed, so that a handler that panicked harms nobody else.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn whoever_waits_for_a_signal_hears_it_even_if_late() {
        let signal = Signal::default();
        assert!(!signal.is_raised());
        let ((), ()) = tokio::join!(signal.raised(), async { signal.raise() });
        signal.raised().await;
        assert!(signal.is_raised());
    }
}
