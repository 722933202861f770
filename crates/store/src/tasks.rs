//! The records of tasks: calls that go on after their first answer, and that a client asks for
//! later.
//!
//! A record is text that only the server understands. This module handles its owner, its expiry, and
//! concurrent changes by several servers: a change is stored only if the record still has the version
//! that the change was made from. Changes are published on a topic of the task, so the server that
//! runs a task is notified of an answer or a cancellation that another server received.
//!
//! A process that runs tasks has a [lease](crate::lease) and a list of the tasks that it runs
//! (`replicas`). If it stops, other processes detect that and end its tasks or run them again.
//!
//! One value lists the tasks of an owner (`index`).
//!
//! The key of a record has its owner and its id. So a client that names a task of another owner gets
//! the same answer as for an unknown id.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::{BufMut, Bytes, BytesMut};

use crate::backend::{Backend, BoxStream, Error, Expect, Key, Result, Version, Written};

mod index;
mod replicas;

pub use self::replicas::RunningReplica;

/// How often a change is tried again because another server changed the record in between. Beyond
/// that the change fails: so many conflicts in a row are a fault of the backend.
const MOST_TRIES: usize = 64;

/// The bytes in front of a record: the time at which it expires, in milliseconds since 1970.
const HEAD: usize = size_of::<u64>();

/// The name of a task: its owner and its id.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct TaskName {
    owner: String,
    id: String,
}

impl TaskName {
    /// The name of a task. Neither part may contain `/`.
    pub fn new(owner: impl Into<String>, id: impl Into<String>) -> Self {
        Self { owner: owner.into(), id: id.into() }
    }

    /// The owner.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.id
    }

    fn record(&self) -> Key {
        Key::new(["task", &self.owner, &self.id])
    }

    fn topic(&self) -> Key {
        Key::new(["task-news", &self.id])
    }
}

/// The records of all tasks in a backend. Cheap to clone.
///
/// Times are given by the caller, so that all records of one step have the same.
///
/// ```
/// # use std::sync::Arc;
/// # use std::time::{Duration, SystemTime};
/// # use bowline_store::MemoryBackend;
/// # use bowline_store::tasks::{TaskName, TaskStore};
/// # async fn example() -> Result<(), bowline_store::Error> {
/// let tasks = TaskStore::new(Arc::new(MemoryBackend::default()));
/// let (task, now) = (TaskName::new("ann", "7f3a"), SystemTime::now());
/// tasks.create(&task, "working".into(), Duration::from_secs(60), now).await?;
/// let before = tasks.change(&task, now, |record| (Some("done".into()), record.clone())).await?;
/// assert_eq!(before.as_deref(), Some(&b"working"[..]));
/// assert_eq!(tasks.record(&TaskName::new("eve", "7f3a"), now).await?, None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct TaskStore {
    backend: Arc<dyn Backend>,
    longest_record: usize,
}

/// A record as it is stored.
struct Stored {
    record: Bytes,
    expires: SystemTime,
    version: Version,
}

impl TaskStore {
    /// The tasks in a backend.
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self { backend, longest_record: usize::MAX }
    }

    /// Sets the most bytes that a record should have. The writer of records compares; this type only
    /// remembers the limit.
    #[must_use]
    pub fn with_longest_record(mut self, bytes: usize) -> Self {
        self.longest_record = bytes;
        self
    }

    /// The most bytes that a record should have, by the limit that was set and that of the backend.
    pub fn longest_record(&self) -> usize {
        let stored = self.backend.longest_value().map(|most| most.saturating_sub(HEAD));
        stored.map_or(self.longest_record, |most| most.min(self.longest_record))
    }

    /// Stores a new record, which expires after `ttl`. When the future resolves, every reader of the
    /// backend finds it. Returns `false` if the id is taken.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn create(
        &self,
        task: &TaskName,
        record: Bytes,
        ttl: Duration,
        now: SystemTime,
    ) -> Result<bool> {
        let last = UNIX_EPOCH + Duration::from_millis(u64::MAX);
        let value = with_head(&record, now.checked_add(ttl).unwrap_or(last));
        let written = self.backend.put(&task.record(), value, ttl, Expect::Absent).await?;
        Ok(matches!(written, Written::Yes(_)))
    }

    /// The record of a task. `None` if there is none, or it has expired.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn record(&self, task: &TaskName, now: SystemTime) -> Result<Option<Bytes>> {
        Ok(self.read(task, now).await?.map(|stored| stored.record))
    }

    /// Changes a record. `change` gets the current record, and returns the new one, or `None` to
    /// leave it, and a value for the caller. It runs again if another server changed the record in
    /// between. Announces the change if there is one. Returns `None` if there is no record.
    ///
    /// A change that was stored succeeds, although its announcement may fail. So a reader that must
    /// not miss a change reads the record from time to time.
    ///
    /// The record expires when it would have without the change.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn change<T: Send>(
        &self,
        task: &TaskName,
        now: SystemTime,
        mut change: impl FnMut(&Bytes) -> (Option<Bytes>, T) + Send,
    ) -> Result<Option<T>> {
        for _ in 0..MOST_TRIES {
            let Some(stored) = self.read(task, now).await? else { return Ok(None) };
            let (record, value) = change(&stored.record);
            let Some(record) = record else { return Ok(Some(value)) };
            let left = stored.expires.duration_since(now).unwrap_or_default();
            let (text, expect) =
                (with_head(&record, stored.expires), Expect::Version(stored.version));
            if let Written::Yes(_) = self.backend.put(&task.record(), text, left, expect).await? {
                self.announce(task).await;
                return Ok(Some(value));
            }
        }
        Err(Error::new("the record of a task changes too often"))
    }

    /// Removes a record, and announces that. The announcement may fail, as in
    /// [`change`](Self::change). Returns whether there was one.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn delete(&self, task: &TaskName) -> Result<bool> {
        let was_there = self.backend.delete(&task.record()).await?;
        self.announce(task).await;
        Ok(was_there)
    }

    /// Reports the changes of a task from now on. A reader that watches first and then reads the
    /// record misses none.
    ///
    /// # Errors
    ///
    /// If the backend fails.
    pub async fn watch(&self, task: &TaskName) -> Result<TaskWatch> {
        Ok(TaskWatch { news: self.backend.listen(&task.topic()).await? })
    }

    /// Announces a change. It is stored already, so the caller must not take a failure for one of
    /// the change.
    async fn announce(&self, task: &TaskName) {
        _ = self.backend.publish(&task.topic(), Bytes::new()).await;
    }

    async fn read(&self, task: &TaskName, now: SystemTime) -> Result<Option<Stored>> {
        let Some(entry) = self.backend.get(&task.record()).await? else { return Ok(None) };
        let Some((head, _)) = entry.value.split_first_chunk::<HEAD>() else {
            return Err(Error::new("the record of a task is damaged"));
        };
        let expires = UNIX_EPOCH + Duration::from_millis(u64::from_be_bytes(*head));
        let stored = Stored { record: entry.value.slice(HEAD..), expires, version: entry.version };
        Ok(Some(stored).filter(|stored| now < stored.expires))
    }
}

/// Reports the changes of one task. Made by [`TaskStore::watch`].
pub struct TaskWatch {
    news: BoxStream<'static, Bytes>,
}

impl TaskWatch {
    /// Waits for a change. Several changes may be reported as one. Cancel-safe.
    ///
    /// # Errors
    ///
    /// If the backend closes the topic of the task.
    pub async fn changed(&mut self) -> Result<()> {
        std::future::poll_fn(|cx| self.poll_changed(cx)).await
    }

    /// Polls for a change, for a reader that watches several tasks.
    ///
    /// # Errors
    ///
    /// If the backend closes the topic of the task.
    pub fn poll_changed(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let news = ready!(self.news.as_mut().poll_next(cx));
        Poll::Ready(news.map(|_| ()).ok_or_else(|| Error::new("the topic of a task has ended")))
    }
}

/// A record with the time at which it expires.
fn with_head(record: &Bytes, expires: SystemTime) -> Bytes {
    let mut value = BytesMut::with_capacity(HEAD + record.len());
    value.put_u64(since_1970(expires));
    value.put_slice(record);
    value.freeze()
}

/// A time in milliseconds since 1970.
fn since_1970(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
