//! The queue between running calls and a connection that a test drives by hand.
//!
//! It stands in for the mailbox of a driver, which would need a task to empty it. The same rules
//! hold: a full queue drops progress and logs, and makes handlers wait with everything else.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use bowline_proto::request::{ExchangeId, Outgoing, Sink};
use bowline_proto::sync::lock;

/// Holds the messages of calls until [`take`](Self::take) passes them to the connection.
pub(crate) struct OutgoingQueue {
    state: Mutex<State>,
    capacity: usize,
}

/// Handlers may send from any thread.
#[derive(Default)]
struct State {
    messages: VecDeque<(ExchangeId, Outgoing)>,
    /// Calls that wait for room.
    waiting: Vec<Waker>,
}

impl OutgoingQueue {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { state: Mutex::default(), capacity }
    }

    /// Removes all messages and wakes the calls that wait for room.
    pub(crate) fn take(&self) -> VecDeque<(ExchangeId, Outgoing)> {
        let (messages, waiting) = {
            let mut state = self.lock();
            (std::mem::take(&mut state.messages), std::mem::take(&mut state.waiting))
        };
        waiting.into_iter().for_each(Waker::wake);
        messages
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Sink for OutgoingQueue {
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.messages.len() < self.capacity {
            return Poll::Ready(());
        }
        state.waiting.push(cx.waker().clone());
        Poll::Pending
    }

    fn emit(&self, exchange: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        let mut state = self.lock();
        if state.messages.len() < self.capacity {
            state.messages.push_back((exchange, outgoing));
            return Ok(());
        }
        if outgoing.is_droppable() { Ok(()) } else { Err(outgoing) }
    }
}
