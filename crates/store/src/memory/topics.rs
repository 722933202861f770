//! The listeners of topics in the memory backend.
//!
//! Listeners are held weakly by their topic and removed when their stream is dropped, so a topic
//! without listeners takes no memory.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_core::Stream;

use super::{MemoryState, lock};
use crate::backend::Key;

/// The most values that wait for one listener. Beyond that the oldest are dropped.
pub(super) const WAITING: usize = 64;

/// The values that wait for one listener, and its waker.
#[derive(Default)]
pub(super) struct TopicListener {
    waiting: Mutex<(VecDeque<Bytes>, Option<Waker>)>,
}

impl TopicListener {
    /// Never waits. A value that is dropped for lack of room is a lost message, which readers of
    /// topics must survive.
    pub(super) fn push(&self, value: Bytes) {
        let waker = {
            let mut waiting = lock(&self.waiting);
            if waiting.0.len() >= WAITING {
                waiting.0.pop_front();
            }
            waiting.0.push_back(value);
            waiting.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }
}

/// The stream of one listener. Dropping it removes the listener from its topic.
pub(super) struct TopicStream {
    pub(super) listener: Arc<TopicListener>,
    pub(super) topic: Key,
    pub(super) state: Arc<Mutex<MemoryState>>,
}

impl Stream for TopicStream {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let mut waiting = lock(&self.listener.waiting);
        if let Some(value) = waiting.0.pop_front() {
            return Poll::Ready(Some(value));
        }
        waiting.1 = Some(cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for TopicStream {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        let own = Arc::downgrade(&self.listener);
        if let Some(listeners) = state.topics.get_mut(&self.topic) {
            listeners.retain(|listener| !listener.ptr_eq(&own));
            if listeners.is_empty() {
                state.topics.remove(&self.topic);
            }
        }
    }
}
