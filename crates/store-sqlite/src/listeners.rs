//! The listeners of topics, and the thread that looks for messages of other processes.
//!
//! The writer passes each message of this handle to its listeners after the commit. Messages of
//! other processes are found by polling, while there are listeners: SQLite can tell at little cost
//! whether another connection has written to the file, but it cannot wake a process.
//!
//! A listener gets the messages whose numbers are greater than the last one that was used when it
//! was registered. That number is read under the lock under which messages are passed on, so a
//! message is either older than the listener or passed to it.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use bowline_store::backend::{BoxStream, Error, Key, Result};
use bowline_store::inbox::Inbox;
use bytes::Bytes;
use futures_core::Stream;
use rusqlite::Connection;

use crate::file::StoreFile;
use crate::messages::published_after;
use crate::values::last_number;

/// How often the file is asked whether another process has written to it.
const POLL: Duration = Duration::from_millis(50);

/// The most messages of one read from the file.
const PAGE: usize = 64;

/// The listeners of one handle and its clones.
pub(crate) struct Listeners {
    file: StoreFile,
    /// Tells the messages of this handle from those of others.
    origin: i64,
    state: Mutex<ListenersState>,
}

#[derive(Default)]
struct ListenersState {
    topics: HashMap<Key, Vec<Listener>>,
    /// The thread that polls, while there are listeners.
    poller: Option<Thread>,
    is_closed: bool,
}

/// A listener as its topic knows it.
struct Listener {
    /// The last number that was used when it was registered.
    after: u64,
    inbox: Weak<Inbox>,
}

impl Listeners {
    pub(crate) fn new(file: StoreFile, origin: i64) -> Self {
        Self { file, origin, state: Mutex::default() }
    }

    /// Registers a listener and starts the thread that polls, unless it runs.
    pub(crate) fn listen(
        self: &Arc<Self>,
        connection: &Connection,
        topic: &Key,
    ) -> Result<BoxStream<'static, Bytes>> {
        let mut state = lock(&self.state);
        let after = last_number(connection).map_err(|error| self.file.error("listen", error))?;
        if state.poller.is_none() {
            state.poller = Some(self.start_polling(after)?);
        }
        let inbox = Arc::new(Inbox::default());
        let listener = Listener { after, inbox: Arc::downgrade(&inbox) };
        state.topics.entry(topic.clone()).or_default().push(listener);
        Ok(Box::pin(TopicStream { inbox, topic: topic.clone(), listeners: self.clone() }))
    }

    /// Passes a message to the listeners that are older than it.
    pub(crate) fn deliver(&self, number: u64, topic: &Key, value: &Bytes) {
        let wakers: Vec<_> = {
            let state = lock(&self.state);
            let listeners = state.topics.get(topic).into_iter().flatten();
            let inboxes = listeners.filter(|listener| listener.after < number);
            inboxes.filter_map(|it| it.inbox.upgrade()?.push(value.clone())).collect()
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Ends the streams of all listeners, and the thread that polls.
    pub(crate) fn close(&self) {
        let wakers: Vec<_> = {
            let mut state = lock(&self.state);
            state.is_closed = true;
            state.poller.iter().for_each(Thread::unpark);
            let topics = std::mem::take(&mut state.topics);
            let listeners = topics.into_values().flatten();
            listeners.filter_map(|it| it.inbox.upgrade()?.close()).collect()
        };
        wakers.into_iter().for_each(Waker::wake);
    }

    fn start_polling(self: &Arc<Self>, after: u64) -> Result<Thread> {
        let failed = |error: &dyn std::fmt::Display| {
            Error::new(format!("cannot start to poll the store: {error}"))
        };
        let connection =
            self.file.connect_to_read().map_err(|error| self.file.error("listen", error))?;
        let listeners = self.clone();
        let thread = thread::Builder::new()
            .name("sqlite-poll".to_owned())
            .spawn(move || listeners.poll_until_idle(&connection, after))
            .map_err(|error| failed(&error))?;
        Ok(thread.thread().clone())
    }

    /// Polls until there is no listener. A failure is not reported: the next poll may succeed, and
    /// readers of topics must survive a lost message.
    fn poll_until_idle(&self, connection: &Connection, mut after: u64) {
        let mut version = None;
        loop {
            {
                let mut state = lock(&self.state);
                if state.is_closed || state.topics.is_empty() {
                    state.poller = None;
                    return;
                }
            }
            let now = connection.pragma_query_value(None, "data_version", |row| row.get(0)).ok();
            if now.is_none_or(|now: i64| version != Some(now)) {
                let is_read = self.deliver_after(connection, &mut after).is_ok();
                version = now.filter(|_| is_read);
            }
            thread::park_timeout(POLL);
        }
    }

    /// Passes on what other processes have published after a number.
    fn deliver_after(&self, connection: &Connection, after: &mut u64) -> rusqlite::Result<()> {
        loop {
            let messages = published_after(connection, *after, self.origin, PAGE)?;
            for message in &messages {
                self.deliver(message.number, &message.topic, &message.value);
                *after = message.number;
            }
            if messages.len() < PAGE {
                return Ok(());
            }
        }
    }
}

/// The stream of one listener. Dropping it removes the listener from its topic.
struct TopicStream {
    inbox: Arc<Inbox>,
    topic: Key,
    listeners: Arc<Listeners>,
}

impl Stream for TopicStream {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.inbox.poll(cx)
    }
}

impl Drop for TopicStream {
    fn drop(&mut self) {
        let mut state = lock(&self.listeners.state);
        let own = Arc::downgrade(&self.inbox);
        if let Some(listeners) = state.topics.get_mut(&self.topic) {
            listeners.retain(|listener| !listener.inbox.ptr_eq(&own));
            if listeners.is_empty() {
                state.topics.remove(&self.topic);
            }
        }
    }
}

/// No code under these locks can panic halfway, so the state is valid even if a lock is poisoned.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
