//! What waits to be sent on one stream, or in one answer: bounded in bytes.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bowline_proto::request::{ExchangeId, Request};
use bowline_proto::transmit::Role;
use bytes::Bytes;

/// One thing that whoever drives a stream has to do.
#[derive(Debug)]
pub(super) enum Item {
    /// Start a call.
    Call(Box<Request>),
    /// Stop a call.
    Cancelled(ExchangeId),
    /// Send a message.
    Message(Role, Bytes),
    /// Send the client away for a while.
    Pause(Duration),
}

/// A queue with one reader.
pub(super) struct Line {
    state: Mutex<State>,
    most: usize,
}

#[derive(Default)]
struct State {
    items: VecDeque<Item>,
    bytes: usize,
    /// Calls that may still say something here.
    open: usize,
    reader: Option<Waker>,
    /// Who waits for room.
    blocked: Vec<Waker>,
}

impl Line {
    /// A line that holds so many bytes before whoever speaks has to wait.
    pub(super) fn new(most: usize) -> Self {
        Self { state: Mutex::default(), most }
    }

    /// One more call may speak here.
    pub(super) fn open(&self) {
        self.lock().open += 1;
    }

    /// One call less may.
    pub(super) fn release(&self) {
        let reader = {
            let mut state = self.lock();
            state.open = state.open.saturating_sub(1);
            state.reader.take()
        };
        reader.into_iter().for_each(Waker::wake);
    }

    /// Adds something, whether or not there is room: what must be said is.
    pub(super) fn push(&self, item: Item) {
        let reader = {
            let mut state = self.lock();
            state.bytes += item.bytes();
            state.items.push_back(item);
            state.reader.take()
        };
        reader.into_iter().for_each(Waker::wake);
    }

    /// Drops the oldest messages until there is room: nobody reads them.
    pub(super) fn drop_oldest(&self) {
        let mut state = self.lock();
        while state.bytes > self.most {
            let Some(item) = state.items.pop_front() else { return };
            state.bytes -= item.bytes();
        }
    }

    /// The next item, if there is one.
    pub(super) fn take(&self) -> Option<Item> {
        let (item, blocked) = {
            let mut state = self.lock();
            let item = state.items.pop_front()?;
            state.bytes -= item.bytes();
            let has_room = state.bytes < self.most;
            (item, if has_room { std::mem::take(&mut state.blocked) } else { Vec::new() })
        };
        blocked.into_iter().for_each(Waker::wake);
        Some(item)
    }

    /// Promises to wake the reader at the next item, unless there is one already.
    pub(super) fn register(&self, cx: &mut Context<'_>) -> bool {
        let mut state = self.lock();
        if !state.items.is_empty() {
            return false;
        }
        state.reader = Some(cx.waker().clone());
        true
    }

    /// Wakes the reader, so that it looks around.
    pub(super) fn nudge(&self) {
        let reader = self.lock().reader.take();
        reader.into_iter().for_each(Waker::wake);
    }

    /// Whether nothing waits and nobody may speak any more.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.items.is_empty() && state.open == 0
    }

    /// Whether whoever speaks has to wait.
    pub(super) fn is_full(&self) -> bool {
        self.lock().bytes >= self.most
    }

    /// Ready when there is room.
    pub(super) fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if state.bytes < self.most {
            return Poll::Ready(());
        }
        if !state.blocked.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.blocked.push(cx.waker().clone());
        }
        Poll::Pending
    }

    /// Nothing that runs under the lock can panic half-way, so a poisoned state is a good one.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Item {
    fn bytes(&self) -> usize {
        match self {
            Self::Message(_, message) => message.len(),
            Self::Call(_) | Self::Cancelled(_) | Self::Pause(_) => 0,
        }
    }
}
