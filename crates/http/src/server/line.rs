//! What waits to be sent on one stream, or in one answer: bounded in bytes.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Something that takes room.
pub(super) trait Weigh {
    /// How many bytes of it the sender had in hand.
    fn bytes(&self) -> usize;
}

/// A queue.
pub(super) struct Line<T> {
    state: Mutex<State<T>>,
    most: usize,
}

struct State<T> {
    items: Queue<T>,
    bytes: usize,
    /// Calls that may still say something here.
    open: usize,
    /// Nobody reads any more.
    is_closed: bool,
    /// Who reads; more than one only while one takes over from another.
    readers: Vec<Waker>,
    /// Who waits for room.
    blocked: Vec<Waker>,
}

/// What is left on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// Something waits.
    Items,
    /// Nothing waits, but calls may still speak.
    Calls,
    /// Nothing waits, and nobody may speak any more.
    Nothing,
}

/// A queue that most often holds one thing, and then takes no memory of its own.
struct Queue<T> {
    first: Option<T>,
    /// Empty unless there is a first.
    others: VecDeque<T>,
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self { first: None, others: VecDeque::new() }
    }
}

impl<T> Queue<T> {
    fn push_back(&mut self, item: T) {
        match self.first {
            None => self.first = Some(item),
            Some(_) => self.others.push_back(item),
        }
    }

    fn push_front(&mut self, item: T) {
        if let Some(second) = self.first.replace(item) {
            self.others.push_front(second);
        }
    }

    fn pop_front(&mut self) -> Option<T> {
        std::mem::replace(&mut self.first, self.others.pop_front())
    }

    fn is_empty(&self) -> bool {
        self.first.is_none()
    }
}

impl<T: Weigh> Line<T> {
    /// A line that holds so many bytes before whoever speaks has to wait.
    pub(super) fn new(most: usize) -> Self {
        Self::opened(most, 0)
    }

    /// The same, on which so many calls may speak.
    pub(super) fn opened(most: usize, open: usize) -> Self {
        let state = State {
            items: Queue::default(),
            bytes: 0,
            open,
            is_closed: false,
            readers: Vec::new(),
            blocked: Vec::new(),
        };
        Self { state: Mutex::new(state), most }
    }

    /// One more call may speak here.
    pub(super) fn open(&self) {
        self.lock().open += 1;
    }

    /// One call less may; gives what is left.
    pub(super) fn release(&self) -> Left {
        self.wake_readers(|state| {
            state.open = state.open.saturating_sub(1);
            match (state.items.is_empty(), state.open) {
                (false, _) => Left::Items,
                (true, 0) => Left::Nothing,
                (true, _) => Left::Calls,
            }
        })
    }

    /// Adds something, whether or not there is room: what must be said is.
    pub(super) fn push(&self, item: T) {
        self.wake_readers(|state| {
            state.bytes += item.bytes();
            state.items.push_back(item);
        });
    }

    /// Puts back what was taken and came to nothing.
    pub(super) fn put_back(&self, item: T) {
        self.wake_readers(|state| {
            state.bytes += item.bytes();
            state.items.push_front(item);
        });
    }

    /// Wakes the readers, so that they look around.
    pub(super) fn nudge(&self) {
        self.wake_readers(|_| ());
    }

    /// Drops the oldest messages until there is room: nobody reads them.
    pub(super) fn drop_oldest(&self) {
        self.wake_blocked(|state| {
            while state.bytes > self.most
                && let Some(item) = state.items.pop_front()
            {
                state.bytes -= item.bytes();
            }
        });
    }

    /// The next item, if there is one.
    pub(super) fn take(&self) -> Option<T> {
        self.wake_blocked(|state| {
            let item = state.items.pop_front()?;
            state.bytes -= item.bytes();
            Some(item)
        })
    }

    /// Nobody will read any more: whoever waits for room need not.
    pub(super) fn close(&self) {
        let items = self.wake_blocked(|state| {
            state.is_closed = true;
            state.bytes = 0;
            std::mem::take(&mut state.items)
        });
        drop(items);
    }

    /// Promises to wake the reader when anything changes. Look for items afterwards: what came
    /// before woke nobody.
    pub(super) fn register(&self, cx: &Context<'_>) {
        add(&mut self.lock().readers, cx);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().items.is_empty()
    }

    /// Whether nothing waits and nobody may speak any more.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.items.is_empty() && state.open == 0
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Whether whoever speaks has to wait.
    pub(super) fn is_full(&self) -> bool {
        self.lock().is_full(self.most)
    }

    /// Ready when there is room, or nobody reads any more.
    pub(super) fn poll_room(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if !state.is_full(self.most) {
            return Poll::Ready(());
        }
        add(&mut state.blocked, cx);
        Poll::Pending
    }

    /// Changes the state, and wakes whoever reads.
    fn wake_readers<R>(&self, change: impl FnOnce(&mut State<T>) -> R) -> R {
        let (changed, readers) = {
            let mut state = self.lock();
            let changed = change(&mut state);
            (changed, std::mem::take(&mut state.readers))
        };
        readers.into_iter().for_each(Waker::wake);
        changed
    }

    /// Changes the state, and wakes whoever waits for room if there is some.
    fn wake_blocked<R>(&self, change: impl FnOnce(&mut State<T>) -> R) -> R {
        let (changed, blocked) = {
            let mut state = self.lock();
            let changed = change(&mut state);
            let is_full = state.is_full(self.most);
            (changed, if is_full { Vec::new() } else { std::mem::take(&mut state.blocked) })
        };
        blocked.into_iter().for_each(Waker::wake);
        changed
    }

    /// Nothing that runs under the lock can panic half-way, so a poisoned state is a good one.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    fn is_full(&self, most: usize) -> bool {
        !self.is_closed && self.bytes >= most
    }
}

fn add(wakers: &mut Vec<Waker>, cx: &Context<'_>) {
    if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
        wakers.push(cx.waker().clone());
    }
}
