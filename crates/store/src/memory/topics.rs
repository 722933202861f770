//! The listeners of topics in the memory backend.
//!
//! Listeners are held weakly by their topic and removed when their stream is dropped, so a topic
//! without listeners takes no memory.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;

use super::{MemoryState, lock};
use crate::backend::Key;
use crate::inbox::Inbox;

/// The stream of one listener. Dropping it removes the listener from its topic.
pub(super) struct TopicStream {
    pub(super) inbox: Arc<Inbox>,
    pub(super) topic: Key,
    pub(super) state: Arc<Mutex<MemoryState>>,
}

impl Stream for TopicStream {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.inbox.poll(cx)
    }
}

impl Drop for TopicStream {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        let own = Arc::downgrade(&self.inbox);
        if let Some(listeners) = state.topics.get_mut(&self.topic) {
            listeners.retain(|listener| !listener.ptr_eq(&own));
            if listeners.is_empty() {
                state.topics.remove(&self.topic);
            }
        }
    }
}
