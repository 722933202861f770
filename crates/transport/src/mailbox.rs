//! What handlers say on its way to whoever drives their connection: bounded, never blocking.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bowline_proto::request::{ExchangeId, Outgoing, Sink};

/// The end that the driver empties. Dropping it tells every handler that nobody listens.
pub struct Mailbox(Arc<Shared>);

/// The end that outboxes fill.
pub struct Slit(Arc<Shared>);

struct Shared {
    state: Mutex<State>,
    capacity: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<(ExchangeId, Outgoing)>,
    closed: bool,
    driver: Option<Waker>,
    waiting: Vec<Waker>,
}

/// A mailbox that holds so many messages, and its slit.
pub fn mailbox(capacity: usize) -> (Mailbox, Arc<Slit>) {
    let shared = Arc::new(Shared { state: Mutex::default(), capacity });
    (Mailbox(shared.clone()), Arc::new(Slit(shared)))
}

impl Mailbox {
    /// The next message, if there is one.
    pub fn take(&mut self) -> Option<(ExchangeId, Outgoing)> {
        let (message, waiting) = {
            let mut state = self.0.lock();
            let message = state.queue.pop_front()?;
            (message, std::mem::take(&mut state.waiting))
        };
        waiting.into_iter().for_each(Waker::wake);
        Some(message)
    }

    /// Waits for the next message. Cancel-safe.
    pub async fn next(&mut self) -> (ExchangeId, Outgoing) {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// The next message, or a promise to be woken when there is one.
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<(ExchangeId, Outgoing)> {
        if let Some(message) = self.take() {
            return Poll::Ready(message);
        }
        let mut state = self.0.lock();
        if state.queue.is_empty() {
            state.driver = Some(cx.waker().clone());
        } else {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let (waiting, queue) = {
            let mut state = self.0.lock();
            state.closed = true;
            (std::mem::take(&mut state.waiting), std::mem::take(&mut state.queue))
        };
        drop(queue);
        waiting.into_iter().for_each(Waker::wake);
    }
}

impl Sink for Slit {
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.0.lock();
        if state.closed || state.queue.len() < self.0.capacity {
            return Poll::Ready(());
        }
        if !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    fn emit(&self, exchange: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        let driver = {
            let mut state = self.0.lock();
            if state.closed {
                return Err(outgoing);
            }
            if state.queue.len() >= self.0.capacity {
                // A client that reads too slowly misses progress and logs, nothing else.
                return if outgoing.is_droppable() { Ok(()) } else { Err(outgoing) };
            }
            state.queue.push_back((exchange, outgoing));
            state.driver.take()
        };
        driver.into_iter().for_each(Waker::wake);
        Ok(())
    }
}

impl Shared {
    /// Nothing that runs under the lock can panic half-way, so a poisoned state is a good one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
