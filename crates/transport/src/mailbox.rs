//! Carries what handlers send (progress, logs, questions) to the driver of their connection.
//!
//! The queue is bounded. A full mailbox makes a sender wait, or drops what may be dropped; it never
//! blocks a thread.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use bowline_proto::request::{ExchangeId, Outgoing, Sink};
use bowline_proto::sync::lock;

/// The end that the driver reads. After it is dropped, every send fails. One for each connection.
/// The driver empties it before it completes a call, so that notifications of a call come before
/// its answer.
pub struct Mailbox(Arc<SharedMailbox>);

/// The end that the outboxes of handlers write to. Wakers are called after the lock is released.
pub struct MailboxSender(Arc<SharedMailbox>);

struct SharedMailbox {
    state: Mutex<MailboxState>,
    capacity: usize,
}

/// Never locked across an await; senders on other threads hold it for a moment.
#[derive(Default)]
struct MailboxState {
    queue: VecDeque<(ExchangeId, Outgoing)>,
    closed: bool,
    /// The driver, if it waits for a message.
    driver: Option<Waker>,
    /// The senders that wait for room.
    waiting: Vec<Waker>,
}

/// Makes a mailbox that holds at most `capacity` messages, and its sender.
pub fn mailbox(capacity: usize) -> (Mailbox, Arc<MailboxSender>) {
    let shared = Arc::new(SharedMailbox { state: Mutex::default(), capacity });
    (Mailbox(shared.clone()), Arc::new(MailboxSender(shared)))
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

    /// Polls for the next message; the task is woken when there is one. Looks again after it has
    /// registered, since a message may have come in between.
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

impl Sink for MailboxSender {
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

impl SharedMailbox {
    fn lock(&self) -> MutexGuard<'_, MailboxState> {
        lock(&self.state)
    }
}
