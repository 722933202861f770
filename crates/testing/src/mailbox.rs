//! What calls say on its way to a connection that is driven by hand.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bowline_proto::request::{ExchangeId, Outgoing, Sink};

/// Holds what calls say until somebody takes it; no more than it was made for.
pub(crate) struct Mailbox {
    state: Mutex<State>,
    capacity: usize,
}

#[derive(Default)]
struct State {
    said: VecDeque<(ExchangeId, Outgoing)>,
    waiting: Vec<Waker>,
}

impl Mailbox {
    pub(crate) fn new(capacity: usize) -> Self {
        Self { state: Mutex::default(), capacity }
    }

    /// Takes all that was said.
    pub(crate) fn take(&self) -> VecDeque<(ExchangeId, Outgoing)> {
        let (said, waiting) = {
            let mut state = self.lock();
            (std::mem::take(&mut state.said), std::mem::take(&mut state.waiting))
        };
        waiting.into_iter().for_each(Waker::wake);
        said
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sink for Mailbox {
    fn poll_ready(&self, _: ExchangeId, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.said.len() < self.capacity {
            return Poll::Ready(());
        }
        state.waiting.push(cx.waker().clone());
        Poll::Pending
    }

    fn emit(&self, exchange: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        let mut state = self.lock();
        if state.said.len() < self.capacity {
            state.said.push_back((exchange, outgoing));
            return Ok(());
        }
        if outgoing.is_droppable() { Ok(()) } else { Err(outgoing) }
    }
}
