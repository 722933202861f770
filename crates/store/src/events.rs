//! What a stream has said, kept for a client that comes back.
//!
//! One log per stream. Each event is appended before it is sent, and its position is the cursor that
//! the client returns with. A client whose cursor is older than what is kept is told so: a gap is
//! an error, never a silence.

use std::sync::Arc;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

use crate::backend::{Backend, BoxStream, Error, Item, Key, Position};

/// Items that are read at once.
const PAGE: usize = 64;

/// How long the log of a stream is kept that has not ended. It may be silent for very long, and must
/// not begin to count anew meanwhile; whoever gives a stream up [deletes](EventLog::delete) its log.
const WHILE_OPEN: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The log of one stream. Cheap to clone.
#[derive(Clone)]
pub struct EventLog {
    backend: Arc<dyn Backend>,
    log: Key,
    topic: Key,
    kept: Duration,
}

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Where it stands in its stream.
    pub position: Position,
    /// What it says.
    pub message: Bytes,
    /// Whether the stream ends with it.
    pub is_last: bool,
}

/// Why there is no next event.
#[derive(Debug)]
pub enum ReplayError {
    /// Events after the cursor are not kept any more; the oldest that is.
    Gap(Position),
    /// The backend failed.
    Backend(Error),
}

impl EventLog {
    /// The log of a stream of a session, kept for a time after the event with which it ends.
    pub fn new(backend: Arc<dyn Backend>, session: &str, stream: u64, kept: Duration) -> Self {
        let stream = stream.to_string();
        Self {
            backend,
            log: Key::new(["events", session, &stream]),
            topic: Key::new(["news", session, &stream]),
            kept,
        }
    }

    /// Where the log is kept.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Appends an event, and tells whoever replays the stream.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn append(&self, message: &[u8], is_last: bool) -> Result<Position, Error> {
        let mut value = BytesMut::with_capacity(message.len() + 1);
        value.put_u8(u8::from(is_last));
        value.put_slice(message);
        let kept = if is_last { self.kept } else { WHILE_OPEN };
        let position = self.backend.append(&self.log, value.freeze(), kept).await?;
        self.nudge().await?;
        Ok(position)
    }

    /// Makes everybody who replays the stream look at it again.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn nudge(&self) -> Result<(), Error> {
        self.backend.publish(&self.topic, Bytes::new()).await
    }

    /// Whether the event at a position is the last of the stream, and still kept.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn ends_at(&self, position: Position) -> Result<bool, Error> {
        let Some(before) = position.0.checked_sub(1) else { return Ok(false) };
        let read = self.backend.read(&self.log, Position(before), 1).await?;
        let is_there = |item: &Item| item.position == position && is_last(&item.value);
        Ok(read.items.first().is_some_and(is_there))
    }

    /// Forgets everything.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn delete(&self) -> Result<(), Error> {
        self.backend.delete(&self.log).await.map(|_| ())
    }

    /// What comes after a cursor: first what was said meanwhile, then what is said from now on.
    ///
    /// # Errors
    ///
    /// If the events that follow are not kept any more, or the backend fails.
    pub async fn replay(&self, after: Position) -> Result<Replay, ReplayError> {
        // Listened to before it is read, so that nothing falls between the two.
        let mut replay = self.from(after).await.map_err(ReplayError::Backend)?;
        replay.read().await?;
        Ok(replay)
    }

    /// What is said from now on.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn follow(&self) -> Result<Replay, Error> {
        let mut replay = self.from(Position(0)).await?;
        let read = self.backend.read(&self.log, Position(0), 0).await?;
        replay.after = Position(read.next.0.saturating_sub(1));
        Ok(replay)
    }

    async fn from(&self, after: Position) -> Result<Replay, Error> {
        let news = self.backend.listen(&self.topic).await?;
        Ok(Replay { log: self.clone(), news, after, ready: Vec::new().into_iter() })
    }
}

/// A stream being told again.
pub struct Replay {
    log: EventLog,
    news: BoxStream<'static, Bytes>,
    after: Position,
    ready: std::vec::IntoIter<Item>,
}

impl Replay {
    /// The log of the stream.
    pub fn log(&self) -> &EventLog {
        &self.log
    }

    /// How far it has come.
    pub fn position(&self) -> Position {
        self.after
    }

    /// Passes over what comes up to a position.
    pub fn skip_to(&mut self, position: Position) {
        while self.ready.as_slice().first().is_some_and(|item| item.position <= position) {
            self.ready.next();
        }
        self.after = self.after.max(position);
    }

    /// Whether more is known of the stream already.
    pub fn has_more(&self) -> bool {
        !self.ready.as_slice().is_empty()
    }

    /// What is known of the stream already, without waiting for more.
    ///
    /// # Errors
    ///
    /// As [`next`](Self::next).
    pub async fn known(&mut self) -> Result<Option<Event>, ReplayError> {
        if self.ready.as_slice().is_empty() {
            self.read().await?;
        }
        Ok(self.take())
    }

    /// The next event; waits for it. Give up after the last.
    ///
    /// # Errors
    ///
    /// If events were forgotten before they were read, or the backend fails.
    pub async fn next(&mut self) -> Result<Event, ReplayError> {
        loop {
            if let Some(event) = self.known().await? {
                return Ok(event);
            }
            self.news().await.map_err(ReplayError::Backend)?;
        }
    }

    /// Waits until there may be more to [know](Self::known). Cancel-safe.
    ///
    /// # Errors
    ///
    /// If the backend has no more news of the stream.
    pub async fn news(&mut self) -> Result<(), Error> {
        let news = std::future::poll_fn(|cx| self.news.as_mut().poll_next(cx)).await;
        news.map(|_| ()).ok_or_else(|| Error::new("the topic of a stream has ended"))
    }

    async fn read(&mut self) -> Result<(), ReplayError> {
        let backend = &self.log.backend;
        let read = backend.read(&self.log.log, self.after, PAGE).await;
        let read = read.map_err(ReplayError::Backend)?;
        // Older than what is kept, or of a log that was forgotten and begun again.
        if self.after.0.saturating_add(1) < read.oldest.0 || read.next <= self.after {
            return Err(ReplayError::Gap(read.oldest));
        }
        self.ready = read.items.into_iter();
        Ok(())
    }

    fn take(&mut self) -> Option<Event> {
        let item = self.ready.next()?;
        self.after = item.position;
        let message = item.value.slice(item.value.len().min(1)..);
        Some(Event { position: item.position, message, is_last: is_last(&item.value) })
    }
}

/// Whether an item of a log is the last event of its stream.
fn is_last(value: &Bytes) -> bool {
    value.first() == Some(&1)
}
