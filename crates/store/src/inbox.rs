//! The messages that wait for one listener of a topic, for backends.
//!
//! A backend holds an [`Inbox`] for each listener and pushes messages into it. The stream that
//! [`Backend::listen`](crate::Backend::listen) returns takes them out again. A slow listener costs
//! bounded memory: beyond [`MOST_WAITING`] messages the older ones are dropped, and it gets an empty
//! message, which asks it to read again what the topic reports on.
//!
//! ```
//! use std::task::{Context, Poll, Waker};
//!
//! use bowline_store::inbox::{Inbox, MOST_WAITING};
//!
//! let (inbox, mut cx) = (Inbox::default(), Context::from_waker(Waker::noop()));
//! let _ = inbox.push("news".into());
//! assert_eq!(inbox.poll(&mut cx), Poll::Ready(Some("news".into())));
//!
//! for _ in 0..=MOST_WAITING {
//!     let _ = inbox.push("more".into());
//! }
//! assert_eq!(inbox.poll(&mut cx), Poll::Ready(Some("".into())));
//! assert_eq!(inbox.poll(&mut cx), Poll::Ready(Some("more".into())));
//! ```

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;

/// The most messages that wait for one listener. Beyond that the older half is dropped, and the listener
/// gets an empty message before the rest.
///
/// Some backends pass on at once what others have published for a while, such as 50 ms, so that many
/// messages wait even for a listener that is fast.
pub const MOST_WAITING: usize = 256;

/// The messages that wait for one listener, and its waker.
#[derive(Debug, Default)]
pub struct Inbox(Mutex<InboxState>);

#[derive(Debug, Default)]
struct InboxState {
    waiting: VecDeque<Bytes>,
    /// Whether messages were dropped since the last one was taken.
    has_dropped: bool,
    waker: Option<Waker>,
    is_closed: bool,
}

impl Inbox {
    /// Adds a message. Never waits, and may drop older ones. Returns the waker of the listener, to be
    /// woken when the backend holds no lock.
    #[must_use = "the listener sleeps until its waker is woken"]
    pub fn push(&self, message: Bytes) -> Option<Waker> {
        let mut state = self.lock();
        if state.waiting.len() >= MOST_WAITING {
            // Half of them, so that a slow listener need not read again after each message.
            state.waiting.drain(..MOST_WAITING / 2);
            state.has_dropped = true;
        }
        state.waiting.push_back(message);
        state.waker.take()
    }

    /// Ends the stream after the messages that wait. Returns the waker as [`push`](Self::push)
    /// does.
    #[must_use = "the listener sleeps until its waker is woken"]
    pub fn close(&self) -> Option<Waker> {
        let mut state = self.lock();
        state.is_closed = true;
        state.waker.take()
    }

    /// Takes the next message, for the `poll_next` of a stream. It is empty if messages before the next
    /// one were dropped.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut state = self.lock();
        if std::mem::take(&mut state.has_dropped) {
            return Poll::Ready(Some(Bytes::new()));
        }
        if let Some(message) = state.waiting.pop_front() {
            return Poll::Ready(Some(message));
        }
        if state.is_closed {
            return Poll::Ready(None);
        }
        state.waker = Some(cx.waker().clone());
        Poll::Pending
    }

    /// No code under the lock can panic halfway, so the state is valid even if the lock is
    /// poisoned.
    fn lock(&self) -> MutexGuard<'_, InboxState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
