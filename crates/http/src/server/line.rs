//! What waits to be sent on one stream, or in one answer: a queue that is bounded in bytes.
//!
//! Writers push under the lock of their session, and a reader takes. Both are woken outside of the
//! line's lock.
//!
//! A line connects the code that sends to a client (handlers, the state machine of a session) with
//! the code that writes one HTTP answer. The bound is soft: what the state machine of a session
//! sends, such as an answer, is always queued. While the line is full, progress and logs are
//! dropped, and a handler waits for [room](Line::poll_room) before it sends anything else. So what
//! waits is the bound and a little more.
//!
//! In a session the line also counts the calls that may still send ([`Line::open`],
//! [`Line::release`]). The reader knows from that when the answer is complete.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};

use bowline_proto::sync::lock;

/// Something that takes room on a line.
pub(super) trait Weigh {
    /// How many bytes count against the bound of the line.
    fn bytes(&self) -> usize;
}

/// A queue from the calls that send on it to the reader of one answer or stream.
///
/// A POST in a session has one, a modern call has one, and each session has one for standalone
/// messages. `T` is an item that the reader acts on.
pub(super) struct Line<T> {
    state: Mutex<State<T>>,
    /// Bytes that may wait before writers have to wait.
    most: usize,
}

/// What the lock of a line guards. Wakers are called after it is released.
struct State<T> {
    items: Queue<T>,
    /// The sum of what the items weigh.
    bytes: usize,
    /// How many calls may still send here.
    open: usize,
    /// Whether the reader is gone.
    is_closed: bool,
    /// The tasks that read; more than one only while one takes over from another.
    readers: Vec<Waker>,
    /// The tasks that wait for room.
    blocked: Vec<Waker>,
}

/// A queue that most often holds one item, and then allocates nothing.
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
    /// A line that holds `most` bytes before writers have to wait.
    pub(super) fn new(most: usize) -> Self {
        Self::opened(most, 0)
    }

    /// The same, on which `open` calls may send.
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

    /// Lets one more call send here.
    pub(super) fn open(&self) {
        self.lock().open += 1;
    }

    /// Notes that a call sends no more. The last one ends the line. The reader is woken, so that
    /// it can see [`is_over`](Self::is_over).
    pub(super) fn release(&self) {
        self.update_and_wake_readers(|state| state.open = state.open.saturating_sub(1));
    }

    /// Adds an item, even if the line is full. Writers of what can wait ask [`poll_room`] first.
    ///
    /// [`poll_room`]: Self::poll_room
    pub(super) fn push(&self, item: T) {
        self.update_and_wake_readers(|state| {
            state.bytes += item.bytes();
            state.items.push_back(item);
        });
    }

    /// Puts back, to the front, an item that was taken and not sent. For a reader that is dropped
    /// between taking a message and recording it: the next reader gets the message, and order is
    /// kept.
    pub(super) fn put_back(&self, item: T) {
        self.update_and_wake_readers(|state| {
            state.bytes += item.bytes();
            state.items.push_front(item);
        });
    }

    /// Wakes the readers, so that they look at the state of the session again.
    pub(super) fn wake_readers(&self) {
        self.update_and_wake_readers(|_| ());
    }

    /// Drops the oldest items until there is room. For a line without a reader. Standalone messages
    /// wait there until the client opens a GET stream, which it may never do.
    pub(super) fn drop_oldest(&self) {
        self.update_and_wake_blocked(|state| {
            while state.is_full(self.most)
                && let Some(item) = state.items.pop_front()
            {
                state.bytes -= item.bytes();
            }
        });
    }

    /// Takes the next item, if there is one.
    pub(super) fn take(&self) -> Option<T> {
        self.update_and_wake_blocked(|state| {
            let item = state.items.pop_front()?;
            state.bytes -= item.bytes();
            Some(item)
        })
    }

    /// Notes that the reader is gone. Writers that wait for room go on. What waits is dropped, and
    /// a closed line is never full again.
    pub(super) fn close(&self) {
        let items = self.update_and_wake_blocked(|state| {
            state.is_closed = true;
            state.bytes = 0;
            std::mem::take(&mut state.items)
        });
        // Dropped after the lock: an item may hold a call that sends on this line.
        drop(items);
    }

    /// Wakes this reader at the next change. The reader looks for items after it has registered:
    /// an item that came before has woken no reader.
    pub(super) fn register(&self, cx: &Context<'_>) {
        add(&mut self.lock().readers, cx);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().items.is_empty()
    }

    /// Whether nothing waits and no call may send any more.
    ///
    /// The reader then ends its answer. A line that never had a call is over at once when it is
    /// empty, which is how a POST without requests is recognized.
    pub(super) fn is_over(&self) -> bool {
        let state = self.lock();
        state.items.is_empty() && state.open == 0
    }

    /// Whether the reader is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Whether writers have to wait.
    pub(super) fn is_full(&self) -> bool {
        self.lock().is_full(self.most)
    }

    /// Ready when there is room, or the reader is gone.
    pub(super) fn poll_room(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.lock();
        if !state.is_full(self.most) {
            return Poll::Ready(());
        }
        add(&mut state.blocked, cx);
        Poll::Pending
    }

    /// Changes the state, then wakes the readers. Wakers run after the lock is released: a woken
    /// task may poll the line at once.
    fn update_and_wake_readers(&self, change: impl FnOnce(&mut State<T>)) {
        let readers = {
            let mut state = self.lock();
            change(&mut state);
            std::mem::take(&mut state.readers)
        };
        readers.into_iter().for_each(Waker::wake);
    }

    /// Changes the state, then wakes the tasks that wait for room if there is some.
    fn update_and_wake_blocked<R>(&self, change: impl FnOnce(&mut State<T>) -> R) -> R {
        let (changed, blocked) = {
            let mut state = self.lock();
            let changed = change(&mut state);
            let is_full = state.is_full(self.most);
            (changed, if is_full { Vec::new() } else { std::mem::take(&mut state.blocked) })
        };
        blocked.into_iter().for_each(Waker::wake);
        changed
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        lock(&self.state)
    }
}

impl<T> State<T> {
    /// A closed line takes everything, because no reader will ever make room.
    fn is_full(&self, most: usize) -> bool {
        !self.is_closed && self.bytes >= most
    }
}

/// Adds a task to be woken, once.
fn add(wakers: &mut Vec<Waker>, cx: &Context<'_>) {
    if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
        wakers.push(cx.waker().clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for usize {
        fn bytes(&self) -> usize {
            *self
        }
    }

    /// A line of exactly its bound is full: the next item would be refused.
    #[test]
    fn a_line_without_a_reader_keeps_less_than_its_bound() {
        for (items, kept) in [(&[5, 4][..], 2), (&[5, 5], 1), (&[5, 4, 1], 2), (&[10], 0)] {
            let line = Line::new(10);
            items.iter().for_each(|item| line.push(*item));
            line.drop_oldest();
            assert!(!line.is_full(), "{items:?}");
            assert_eq!(std::iter::from_fn(|| line.take()).count(), kept, "{items:?}");
        }
    }
}
