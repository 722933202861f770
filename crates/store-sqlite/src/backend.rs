//! The handle that a server gets.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use bowline_store::backend::{
    Appended, Backend, BoxFuture, BoxStream, Entry, Error, Expect, Key, LogSlice, NewItem,
    Position, Result, Written,
};
use bytes::Bytes;
use tokio::sync::{mpsc, oneshot};

use crate::file::{SqliteLimits, StoreFile, expires};
use crate::listeners::Listeners;
use crate::logs::ItemOfLog;
use crate::messages::NewMessage;
use crate::readers::{self, READERS, Read, Reader, Scan};
use crate::values::NewValue;
use crate::writer::{self, Job, Operation, Outcome, Writer};

/// Stores everything in one SQLite file. Cheap to clone; the threads of the file end with the last
/// clone.
///
/// When a write succeeds, its data is on disk and survives a crash of the process and a power failure.
/// [`relaxed`](Self::relaxed) gives up the latter for speed. Concurrent writes share one commit, so many
/// of them take hardly longer than one. Each operation waits at most half a second for another process
/// that writes, and then fails.
///
/// Two processes may open the same file, and each gets what the other stores and publishes. A message
/// of a topic takes up to 50 ms to the other process.
///
/// ```
/// use bowline_store::backend::{Backend, Expect, Key};
/// use bowline_store_sqlite::SqliteBackend;
/// # use std::time::Duration;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("mcp.db");
/// let store = SqliteBackend::open(&path)?;
/// let key = Key::new(["greeting"]);
/// store.put(&key, "hello".into(), Duration::from_secs(60), Expect::Anything).await?;
/// drop(store);
///
/// let later = SqliteBackend::open(&path)?;
/// assert_eq!(later.get(&key).await?.unwrap().value, "hello");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct SqliteBackend {
    inner: Arc<Inner>,
}

struct Inner {
    file: StoreFile,
    jobs: mpsc::Sender<Job>,
    readers: [mpsc::Sender<Read>; READERS],
    next_reader: AtomicUsize,
    listeners: Arc<Listeners>,
    is_relaxed: Arc<AtomicBool>,
}

impl SqliteBackend {
    /// Opens a file, and creates it if there is none. Only its owner may read it then.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened or created, if it is not a store, or if a newer version of this
    /// crate has written it.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, SqliteLimits::default())
    }

    /// As [`open`](Self::open), with limits.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(path: impl AsRef<Path>, limits: SqliteLimits) -> Result<Self> {
        let file = StoreFile::open(path.as_ref())?;
        let failed = |error| file.error("open", error);
        let connection = file.connect_to_write(&limits).map_err(failed)?;
        let origin = connection.query_row("SELECT random()", [], |row| row.get(0));
        let origin = origin.map_err(failed)?;
        let listeners = Arc::new(Listeners::new(file.clone(), origin));
        let is_relaxed = Arc::new(AtomicBool::new(false));
        let writer = Writer {
            file: file.clone(),
            connection,
            limits,
            origin,
            listeners: listeners.clone(),
            is_relaxed: is_relaxed.clone(),
            is_full: true,
        };
        let (jobs, queue) = mpsc::channel(writer::QUEUE);
        start("sqlite-write", move || writer.run(queue))?;
        let readers = [start_reader(&file, &listeners)?, start_reader(&file, &listeners)?];
        let next_reader = AtomicUsize::new(0);
        let inner = Inner { file, jobs, readers, next_reader, listeners, is_relaxed };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Makes writes faster, for this handle and its clones: they no longer wait for the disk. They
    /// still survive a crash of the process, also by `kill -9`, but a power failure may lose the last of
    /// them.
    #[must_use]
    pub fn relaxed(self) -> Self {
        self.inner.is_relaxed.store(true, Ordering::Relaxed);
        self
    }

    /// Hands an operation to the writer and waits for its commit. An operation that the writer has
    /// got is run even if the caller does not wait for it.
    async fn write(&self, operation: Operation) -> Result<Outcome> {
        let name = operation.name();
        let closed = || self.inner.file.closed(name);
        let (reply, outcome) = oneshot::channel();
        self.inner.jobs.send(Job { operation, reply }).await.map_err(|_| closed())?;
        outcome.await.map_err(|_| closed())?
    }

    /// Hands a read to one of the threads in turn.
    async fn ask<T>(
        &self,
        name: &str,
        read: impl FnOnce(oneshot::Sender<Result<T>>) -> Read,
    ) -> Result<T> {
        let closed = || self.inner.file.closed(name);
        let (reply, answer) = oneshot::channel();
        let turn = self.inner.next_reader.fetch_add(1, Ordering::Relaxed) % READERS;
        self.inner.readers[turn].send(read(reply)).await.map_err(|_| closed())?;
        answer.await.map_err(|_| closed())?
    }
}

impl Drop for Inner {
    /// The threads end when they find their queues closed; this does not wait for them.
    fn drop(&mut self) {
        self.listeners.close();
    }
}

fn start_reader(file: &StoreFile, listeners: &Arc<Listeners>) -> Result<mpsc::Sender<Read>> {
    let connection = file.connect_to_read().map_err(|error| file.error("open", error))?;
    let reader = Reader { file: file.clone(), connection, listeners: listeners.clone() };
    let (reads, queue) = mpsc::channel(readers::QUEUE);
    start("sqlite-read", move || reader.run(queue))?;
    Ok(reads)
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map(drop).map_err(|error| Error::new(format!("cannot start a thread: {error}")))
}

/// The writer answers each operation with an outcome of its kind.
const KINDS: &str = "the writer returns the outcome of the operation that it ran";

impl Backend for SqliteBackend {
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(self.ask("get", |reply| Read::Get(key.clone(), reply)))
    }

    /// Reads, and writes only when it is time to renew.
    fn renew<'a>(&'a self, key: &'a Key, expiry: Duration) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(async move {
            let until = expires(expiry);
            let read = |reply| Read::GetToRenew(key.clone(), until, reply);
            let (entry, is_due) = self.ask("renew", read).await?;
            if !is_due {
                return Ok(entry);
            }
            let renew = Operation::Renew(key.clone(), until);
            let Outcome::Renewed(entry) = self.write(renew).await? else { unreachable!("{KINDS}") };
            Ok(entry)
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Written>> {
        Box::pin(async move {
            let new = NewValue { key: key.clone(), value, expires: expires(expiry), expect };
            let Outcome::Put(written) = self.write(Operation::Put(new)).await? else {
                unreachable!("{KINDS}")
            };
            Ok(written)
        })
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        Box::pin(async move {
            let Outcome::Deleted(was_there) = self.write(Operation::Delete(key.clone())).await?
            else {
                unreachable!("{KINDS}")
            };
            Ok(was_there)
        })
    }

    fn scan<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a Key>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>>> {
        let scan = Scan { prefix: prefix.clone(), after: after.cloned(), limit };
        Box::pin(self.ask("scan", |reply| Read::Scan(scan, reply)))
    }

    fn append<'a>(&'a self, log: &'a Key, item: NewItem) -> BoxFuture<'a, Result<Appended>> {
        Box::pin(async move {
            let new = ItemOfLog { log: log.clone(), expires: expires(item.expiry), item };
            let Outcome::Appended(appended, _) = self.write(Operation::Append(new)).await? else {
                unreachable!("{KINDS}")
            };
            Ok(appended)
        })
    }

    fn read<'a>(
        &'a self,
        log: &'a Key,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'a, Result<LogSlice>> {
        Box::pin(self.ask("read", move |reply| Read::Log(log.clone(), after, limit, reply)))
    }

    fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            let message = NewMessage { topic: topic.clone(), value };
            self.write(Operation::Publish(message)).await.map(drop)
        })
    }

    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>> {
        Box::pin(self.ask("listen", |reply| Read::Listen(topic.clone(), reply)))
    }
}
