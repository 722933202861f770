//! The log of a stream's events, for a client that resumes the stream.
//!
//! There is one log per stream. The server appends each event before it sends it, and the client
//! resumes after the position of the last event that it received. If the events after a position
//! are no longer stored, the replay fails with [`ReplayError::Gap`]; events are never skipped
//! silently.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

use crate::backend::{Backend, BoxStream, Error, Key, LogItem, NewItem, Position};

/// The most items of one read from the backend.
const PAGE: usize = 64;

/// How long the log of an open stream is kept after its newest event. It is long, because a stream
/// may be silent for a long time and its positions must not start again at 1. If the session ends
/// first, it [deletes](EventLog::delete) the log.
const WHILE_OPEN: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The log of one stream. Cheap to clone.
///
/// Any endpoint with the same backend can make a handle for the same stream; all see the same
/// events.
///
/// ```
/// # use std::sync::Arc;
/// # use std::time::Duration;
/// # use bowline_store::MemoryBackend;
/// # use bowline_store::events::EventLog;
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let backend = Arc::new(MemoryBackend::default());
/// let log = EventLog::new(backend, "session", 1, Duration::from_secs(60));
/// let first = log.append(b"one", false).await?;
/// log.append(b"two", true).await?;
///
/// // A client that received the first event resumes after it.
/// let mut replay = log.replay(first).await.map_err(|_| "gap")?;
/// let next = replay.next().await.map_err(|_| "gap")?;
/// assert!(next.message == "two" && next.is_last);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct EventLog {
    backend: Arc<dyn Backend>,
    log: Key,
    topic: Key,
    kept_after_end: Duration,
}

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    /// The position in the stream.
    pub position: Position,
    /// The message.
    pub message: Bytes,
    /// Whether it is the last event of the stream.
    pub is_last: bool,
}

/// The reason why a replay cannot continue.
#[derive(Debug)]
pub enum ReplayError {
    /// Events after the position are no longer stored, or the position was never given to an event.
    Gap,
    /// The backend failed.
    Backend(Error),
}

impl EventLog {
    /// The log of one stream of a session. Once the stream has ended, it expires after
    /// `kept_after_end`.
    pub fn new(
        backend: Arc<dyn Backend>,
        session: &str,
        stream: u64,
        kept_after_end: Duration,
    ) -> Self {
        let stream = stream.to_string();
        Self {
            backend,
            log: Key::new(["events", session, &stream]),
            topic: Key::new(["news", session, &stream]),
            kept_after_end,
        }
    }

    /// The backend that stores the log.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Appends an event, and wakes all replays of the stream.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn append(&self, message: &[u8], is_last: bool) -> Result<Position, Error> {
        let mut value = BytesMut::with_capacity(message.len() + 1);
        value.put_u8(u8::from(is_last));
        value.put_slice(message);
        let kept = if is_last { self.kept_after_end } else { WHILE_OPEN };
        let item = NewItem::new(value, kept).tell(self.topic.clone(), Bytes::new());
        let appended = self.backend.append(&self.log, item).await?;
        appended.position().ok_or_else(|| Error::new("an item without a mark was fenced"))
    }

    /// Wakes all replays of the stream, so that they read the log again.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn wake_readers(&self) -> Result<(), Error> {
        self.backend.publish(&self.topic, Bytes::new()).await
    }

    /// Whether the event at a position is the last of the stream, and still stored.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn is_last_at(&self, position: Position) -> Result<bool, Error> {
        let Some(before) = position.0.checked_sub(1) else { return Ok(false) };
        let read = self.backend.read(&self.log, Position(before), 1).await?;
        let is_it = |item: &LogItem| item.position == position && is_last(&item.value);
        Ok(read.items.first().is_some_and(is_it))
    }

    /// Deletes the log.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn delete(&self) -> Result<(), Error> {
        self.backend.delete(&self.log).await.map(|_| ())
    }

    /// Replays the events after a position: first the stored ones, then new ones as they come.
    ///
    /// # Errors
    ///
    /// [`ReplayError::Gap`] if the events after the position are no longer stored, or if no event had
    /// that position yet. [`ReplayError::Backend`] if the backend fails.
    pub async fn replay(&self, after: Position) -> Result<Replay, ReplayError> {
        // Listens before it reads, so that no event between the two is missed.
        let mut replay = self.start_after(after).await.map_err(ReplayError::Backend)?;
        replay.read().await?;
        Ok(replay)
    }

    /// Replays only the events that come from now on.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn follow(&self) -> Result<Replay, Error> {
        let mut replay = self.start_after(Position(0)).await?;
        let read = self.backend.read(&self.log, Position(0), 0).await?;
        replay.after = Position(read.next.0.saturating_sub(1));
        Ok(replay)
    }

    async fn start_after(&self, after: Position) -> Result<Replay, Error> {
        let news = self.backend.listen(&self.topic).await?;
        Ok(Replay { log: self.clone(), news, after, ready: Vec::new().into_iter() })
    }
}

/// Reads the events of a stream in order, and waits for new ones. Made by [`EventLog::replay`] or
/// [`EventLog::follow`]. It reads pages and holds one at a time. Dropping it ends the listening.
pub struct Replay {
    log: EventLog,
    news: BoxStream<'static, Bytes>,
    after: Position,
    ready: std::vec::IntoIter<LogItem>,
}

impl Replay {
    /// The log of the stream.
    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// The position of the last event that was read.
    pub fn position(&self) -> Position {
        self.after
    }

    /// Skips the events up to a position.
    pub fn skip_to(&mut self, position: Position) {
        while self.ready.as_slice().first().is_some_and(|item| item.position <= position) {
            self.ready.next();
        }
        self.after = self.after.max(position);
    }

    /// Whether events were read from the backend and not returned yet. Right after
    /// [`EventLog::replay`]: whether any event follows.
    pub fn has_buffered(&self) -> bool {
        !self.ready.as_slice().is_empty()
    }

    /// The next event if it is stored already. Does not wait for new ones.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub async fn next_stored(&mut self) -> Result<Option<StoredEvent>, ReplayError> {
        if self.ready.as_slice().is_empty() {
            self.read().await?;
        }
        Ok(self.take())
    }

    /// The next event; waits until there is one. Do not call it after the last event.
    ///
    /// # Errors
    ///
    /// If events were dropped before they were read, or the backend fails.
    pub async fn next(&mut self) -> Result<StoredEvent, ReplayError> {
        loop {
            if let Some(event) = self.next_stored().await? {
                return Ok(event);
            }
            self.wait_for_news().await.map_err(ReplayError::Backend)?;
        }
    }

    /// Waits until [`next_stored`](Self::next_stored) may return an event. Cancel-safe.
    ///
    /// # Errors
    ///
    /// If the backend closes the topic of the stream.
    pub async fn wait_for_news(&mut self) -> Result<(), Error> {
        let news = std::future::poll_fn(|cx| self.news.as_mut().poll_next(cx)).await;
        news.map(|_| ()).ok_or_else(|| Error::new("the topic of a stream has ended"))
    }

    /// Reads the next page, and checks that it continues where the last one ended.
    async fn read(&mut self) -> Result<(), ReplayError> {
        let backend = &self.log.backend;
        let read = backend.read(&self.log.log, self.after, PAGE).await;
        let read = read.map_err(ReplayError::Backend)?;
        let were_dropped = self.after.0.saturating_add(1) < read.oldest.0;
        // No event ever had this position, or the log expired and a new one began at 1. The new log
        // is noticed only until it grows past the position.
        let is_beyond_end = read.next <= self.after;
        if were_dropped || is_beyond_end {
            return Err(ReplayError::Gap);
        }
        self.ready = read.items.into_iter();
        Ok(())
    }

    /// The next event of the page. Its position is where the next read begins.
    fn take(&mut self) -> Option<StoredEvent> {
        let item = self.ready.next()?;
        self.after = item.position;
        let message = item.value.slice(item.value.len().min(1)..);
        Some(StoredEvent { position: item.position, message, is_last: is_last(&item.value) })
    }
}

/// Whether an item is the last event of its stream. Its first byte says so.
fn is_last(value: &Bytes) -> bool {
    value.first() == Some(&1)
}
