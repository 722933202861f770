//! The log of a stream's events, for a client that resumes the stream.
//!
//! There is one log per stream. The server appends each event before it sends it, and the client
//! resumes after the position of the last event that it received. If the events after a position
//! are no longer stored, the replay fails with [`ReplayError::Gap`]; events are never skipped
//! silently.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};

use crate::backend::{
    Appended, Backend, BoxFuture, BoxStream, Error, Key, LogItem, Mark, MarkStep, NewItem, Position,
};

/// The most items of one read from the backend.
const PAGE: usize = 64;

/// How long the log of an open stream is kept after its newest event, unless
/// [set](EventLog::kept_while_open). It is long, because a stream may be silent for a long time. If
/// the session ends first, it [deletes](EventLog::delete) the log.
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
/// let first = log.append(b"one", false).await?.position().ok_or("fenced")?;
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
    kept_while_open: Duration,
    kept_after_end: Duration,
    /// The highest position that this handle and its clones know. If the store loses the end of the
    /// log, the next event still gets a higher one, so no two events have one position.
    known: Arc<AtomicU64>,
    writer: Option<Arc<Writer>>,
}

/// The one writer of a log that has a mark.
struct Writer {
    mark: Key,
    owner: Bytes,
    /// Whether the mark has been set.
    has_begun: AtomicBool,
    /// Whether it was to be set. If the reply of the backend was lost, it may or may not be.
    may_have_begun: AtomicBool,
}

/// The first byte of an item: an event, or the last event.
const EVENT: u8 = 0;
const LAST: u8 = 1;

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
            kept_while_open: WHILE_OPEN,
            kept_after_end,
            known: Arc::default(),
            writer: None,
        }
    }

    /// Sets how long the log is kept after an event that is not the last. A stream that may be silent
    /// for longer has to be [kept](Self::keep).
    #[must_use]
    pub fn kept_while_open(mut self, kept: Duration) -> Self {
        self.kept_while_open = kept;
        self
    }

    /// Makes this handle the only writer of the stream: its first event sets a mark, the others are
    /// appended only while the mark names this owner, and the last one removes it.
    #[must_use]
    pub fn written_by(mut self, mark: Key, owner: Bytes) -> Self {
        self.writer = Some(Writer::new(mark, owner, false));
        self
    }

    /// Makes this handle write in the place of a [writer](Self::written_by) that is gone, and whose mark
    /// is still there. The last event removes the mark, so of several handles one writes it.
    #[must_use]
    pub fn in_place_of(mut self, mark: Key, owner: Bytes) -> Self {
        self.writer = Some(Writer::new(mark, owner, true));
        self
    }

    /// The backend that stores the log.
    pub fn backend(&self) -> &Arc<dyn Backend> {
        &self.backend
    }

    /// Appends an event, and wakes all replays of the stream. [`Appended::Fenced`] if the mark of
    /// [this writer](Self::written_by) is gone.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn append(&self, message: &[u8], is_last: bool) -> Result<Appended, Error> {
        self.append_with_news(message, is_last, Bytes::new()).await
    }

    async fn append_with_news(
        &self,
        message: &[u8],
        is_last: bool,
        news: Bytes,
    ) -> Result<Appended, Error> {
        let mut value = BytesMut::with_capacity(message.len() + 1);
        value.put_u8(if is_last { LAST } else { EVENT });
        value.put_slice(message);
        let kept = if is_last { self.kept_after_end } else { self.kept_while_open };
        let item = NewItem::new(value, kept).tell(self.topic.clone(), news);
        self.append_item(item, is_last).await
    }

    /// Keeps the log of a silent stream, and the mark of its writer, for as long as after an event.
    /// Appends nothing.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn keep(&self) -> Result<Appended, Error> {
        self.append_item(NewItem::keeping(self.kept_while_open), false).await
    }

    /// Notes that an event was sent without being stored. It takes a position, so that a client that
    /// resumes before it learns of the gap.
    pub fn note_unstored(&self) -> Position {
        Position(self.known.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Whether the [mark](Self::written_by) of the writer has been set.
    pub fn has_begun(&self) -> bool {
        self.writer.as_ref().is_some_and(|writer| writer.has_begun.load(Ordering::Relaxed))
    }

    /// Whether the [mark](Self::written_by) of the writer has been set, or may have been by an operation
    /// that failed.
    pub fn may_have_begun(&self) -> bool {
        self.writer.as_ref().is_some_and(|writer| writer.may_have_begun.load(Ordering::Relaxed))
    }

    async fn append_item(&self, item: NewItem, is_last: bool) -> Result<Appended, Error> {
        let mut item = item.above(Position(self.known.load(Ordering::Relaxed)));
        item.mark = self.writer.as_ref().and_then(|writer| writer.mark(is_last));
        if let (Some(writer), Some(_)) = (&self.writer, &item.mark) {
            writer.may_have_begun.store(true, Ordering::Relaxed);
        }
        let appended = self.backend.append(&self.log, item).await?;
        if let Appended::At(position) = appended {
            self.note_known(position);
            if let Some(writer) = &self.writer {
                writer.has_begun.store(true, Ordering::Relaxed);
            }
        }
        Ok(appended)
    }

    fn note_known(&self, position: Position) {
        self.known.fetch_max(position.0, Ordering::Relaxed);
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
        let (ready, own_news) = (Vec::new().into_iter(), Bytes::new());
        let (log, unstored, is_current) = (self.clone(), None, false);
        Ok(Replay { log, news, after, ready, unstored, own_news, is_current })
    }
}

impl Writer {
    fn new(mark: Key, owner: Bytes, has_begun: bool) -> Arc<Self> {
        let (has_begun, may_have_begun) = (has_begun.into(), has_begun.into());
        Arc::new(Self { mark, owner, has_begun, may_have_begun })
    }

    /// What an item does to the mark. A stream of one event needs none.
    fn mark(&self, is_last: bool) -> Option<Mark> {
        let step = match (self.has_begun.load(Ordering::Relaxed), is_last) {
            (false, true) => return None,
            (false, false) => MarkStep::Begin,
            (true, false) => MarkStep::Continue,
            (true, true) => MarkStep::End,
        };
        Some(Mark { key: self.mark.clone(), owner: self.owner.clone(), step })
    }
}

/// Reads the events of a stream in order, and waits for new ones. Made by [`EventLog::replay`] or
/// [`EventLog::follow`]. It reads pages and holds one at a time. Dropping it ends the listening.
pub struct Replay {
    log: EventLog,
    news: BoxStream<'static, Bytes>,
    after: Position,
    ready: std::vec::IntoIter<LogItem>,
    /// The positions of events that the reader itself sent, although they are not stored.
    unstored: Option<(Position, Position)>,
    /// What this reader publishes with events that it appends itself, so that it need not read them.
    own_news: Bytes,
    /// Whether the last read reached the end of the log, and there were no news since.
    is_current: bool,
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

    /// Notes that the reader sent an event that is [not stored](EventLog::note_unstored). For it,
    /// this event is no gap.
    pub fn note_unstored(&mut self) {
        let last = self.log.note_unstored();
        let first = self.unstored.map_or(last, |(first, _)| first);
        self.unstored = Some((first, last));
    }

    /// Names this reader in the news of events that it [appends](Self::append) itself. The name must be
    /// unique, and not empty.
    #[must_use]
    pub fn named(mut self, name: impl Into<Bytes>) -> Self {
        self.own_news = name.into();
        self
    }

    /// Appends an event that is not the last. The future does not borrow the reader, so that a caller
    /// that is dropped can leave it to a task. The reader gets the result by
    /// [`note_appended`](Self::note_appended).
    pub fn append(&self, message: Bytes) -> BoxFuture<'static, Result<Appended, Error>> {
        let (log, news) = (self.log.clone(), self.own_news.clone());
        Box::pin(async move { log.append_with_news(&message, false, news).await })
    }

    /// Notes that an event was [appended](Self::append). Returns it, as if it was read, if no other
    /// event comes between it and the last that was read. Otherwise it is read in its turn.
    pub fn note_appended(&mut self, message: Bytes, appended: Appended) -> Option<StoredEvent> {
        let follows = Position(self.after.0.saturating_add(1));
        if appended != Appended::At(follows) || !self.ready.as_slice().is_empty() {
            self.is_current = false;
            return None;
        }
        self.after = follows;
        Some(StoredEvent { position: follows, message, is_last: false })
    }

    /// Makes the next call of [`next_stored`](Self::next_stored) read the log, also without news.
    pub fn read_again(&mut self) {
        self.is_current = false;
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
            self.take_news();
            if self.is_current {
                return Ok(None);
            }
            self.read().await?;
        }
        let Some(item) = self.ready.next() else { return Ok(None) };
        // Where the next read begins.
        self.after = item.position;
        self.log.note_known(item.position);
        Ok(Some(stored_event(&item)))
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
        loop {
            let news = std::future::poll_fn(|cx| self.news.as_mut().poll_next(cx)).await;
            let news = news.ok_or_else(|| Error::new("the topic of a stream has ended"))?;
            if self.is_foreign(&news) {
                self.is_current = false;
                return Ok(());
            }
        }
    }

    /// Takes the news that have arrived.
    fn take_news(&mut self) {
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(news)) = self.news.as_mut().poll_next(&mut cx) {
            self.is_current &= !self.is_foreign(&news);
        }
    }

    /// Empty news are those of other writers, or of a backend that may have missed some.
    fn is_foreign(&self, news: &Bytes) -> bool {
        news.is_empty() || *news != self.own_news
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
        if (were_dropped && !self.has_sent_before(read.oldest)) || is_beyond_end {
            return Err(ReplayError::Gap);
        }
        self.is_current = read.items.len() < PAGE;
        self.ready = read.items.into_iter();
        Ok(())
    }

    /// Whether the reader has sent all events before a position, stored or not.
    fn has_sent_before(&self, oldest: Position) -> bool {
        self.unstored.is_some_and(|(first, last)| {
            first.0 <= self.after.0.saturating_add(1) && oldest.0 <= last.0.saturating_add(1)
        })
    }
}

fn stored_event(item: &LogItem) -> StoredEvent {
    let message = item.value.slice(item.value.len().min(1)..);
    StoredEvent { position: item.position, message, is_last: is_last(&item.value) }
}

/// Whether an item is the last event of its stream. Its first byte says so.
fn is_last(value: &Bytes) -> bool {
    value.first() == Some(&LAST)
}
