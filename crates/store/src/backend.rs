//! The one trait that a database implements.
//!
//! Everything that outlives a request, such as an event log, is built on its nine operations. They
//! work on three kinds of data, and a backend knows nothing of the protocol:
//!
//! | data | operations | the server stores |
//! |---|---|---|
//! | values, which expire and have a version for compare-and-set | `get`, `renew`, `put`, `delete`, `scan` | records of sessions and tasks, marks of writers, leases |
//! | logs, which are append-only | `append`, `read`, `delete` | the events of streams that clients may resume |
//! | topics, which store nothing | `publish`, `listen` | news of logs, changes of lists, messages between endpoints |
//!
//! Failures are ordinary: every caller handles them, so a backend reports them quickly and does not
//! retry for long by itself.
//!
//! A value is changed by a loop of [`get`](Backend::get) and [`put`](Backend::put), which runs again if
//! another writer was faster:
//!
//! ```
//! use std::time::Duration;
//!
//! use bowline_store::backend::{Backend, Expect, Key, Result, Written};
//!
//! /// Counts how often it was called, by all processes that share the store.
//! async fn count(store: &dyn Backend) -> Result<u64> {
//!     let key = Key::new(["counter"]);
//!     loop {
//!         let old = store.get(&key).await?;
//!         let count = old.as_ref().map_or(0, |entry| entry.value.len() as u64) + 1;
//!         let expect = old.map_or(Expect::Absent, |entry| Expect::Version(entry.version));
//!         let value = "x".repeat(count as usize).into();
//!         match store.put(&key, value, Duration::from_secs(60), expect).await? {
//!             Written::Yes(_) => return Ok(count),
//!             Written::Conflict => continue,
//!         }
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<()> {
//! let store = bowline_store::MemoryBackend::default();
//! assert_eq!((count(&store).await?, count(&store).await?), (1, 2));
//! # Ok(())
//! # }
//! ```
//!
//! If `put` fails with an error, the value may have been set or not; read it to find out.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
pub use futures_core::future::BoxFuture;
pub use futures_core::stream::BoxStream;

/// The result of an operation.
pub type Result<T> = std::result::Result<T, Error>;

/// A database, or anything else that stores values, logs and topics.
///
/// All methods may be called concurrently from several tasks. [`suite::passes`](crate::suite::passes)
/// checks an implementation, and `bowline_testing::backend` also checks it with several processes,
/// outages and crashes.
///
/// After its expiry no reader may find an entry, but the backend may free its memory later.
///
/// Callers may drop the future of an operation. The operation may then take effect all the same, as it
/// may have after an error.
pub trait Backend: Send + Sync + 'static {
    /// The value at a key. `None` if there is none or it has expired.
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>>;

    /// As [`get`](Self::get), and extends the life of the value: if less than three quarters of `expiry`
    /// remain, it expires after `expiry` from now on. Never shortens its life. The version stays.
    fn renew<'a>(&'a self, key: &'a Key, expiry: Duration) -> BoxFuture<'a, Result<Option<Entry>>>;

    /// Sets a value that expires after a time, if the current value is as expected. The comparison
    /// and the write are one step: of two writers that expect the same version, one wins.
    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Written>>;

    /// Removes a value or a log. Returns whether there was one. A log that is appended to after
    /// that begins at position 1 again.
    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>>;

    /// The keys of values that begin with a prefix and come after `after`, sorted, at most `limit`.
    fn scan<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a Key>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>>>;

    /// Appends an item to a log. The log expires after [`NewItem::expiry`] from now on.
    ///
    /// The first position is 1, and positions have no gaps, except where [`NewItem::above`] demands
    /// one. A backend may drop the oldest items of a log that exceeds its limits;
    /// [`LogSlice::oldest`] then shows it. All that the item asks for is one step.
    ///
    /// Without a [value](NewItem::value) the log gets no item, only its new expiry. If there is no
    /// log, none begins, unless [`NewItem::above`] demands it.
    fn append<'a>(&'a self, log: &'a Key, item: NewItem) -> BoxFuture<'a, Result<Appended>>;

    /// The items of a log after a position, in order, at most `limit`.
    fn read<'a>(
        &'a self,
        log: &'a Key,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'a, Result<LogSlice>>;

    /// Sends a value to all current listeners of a topic.
    fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>>;

    /// The values that are published on a topic from now on, in order. When the future resolves, the
    /// listener is registered: a caller that reads a log after it misses no event.
    ///
    /// A listener may miss messages: a slow one, and each one while the backend has lost its
    /// connection. Before the next message it then gets an empty one, which asks it to read again what
    /// the topic reports on. The backend may send an empty message without need.
    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>>;

    /// The most bytes of a value, if there is a limit: [`put`](Self::put) fails with a longer one.
    fn longest_value(&self) -> Option<usize> {
        None
    }
}

/// Writes the operations of a [`Backend`] as methods, each with the macro `$write`: for backends
/// that pass operations on.
macro_rules! operations {
    ($write:ident) => {
        $write!(get Get (key: &'a Key) -> Option<Entry>);
        $write!(renew Renew (key: &'a Key, expiry: Duration) -> Option<Entry>);
        $write!(put Put (key: &'a Key, value: Bytes, expiry: Duration, expect: Expect) -> Written);
        $write!(delete Delete (key: &'a Key) -> bool);
        $write!(scan Scan (key: &'a Key, after: Option<&'a Key>, limit: usize) -> Vec<Key>);
        $write!(append Append (key: &'a Key, item: NewItem) -> Appended);
        $write!(read Read (key: &'a Key, after: Position, limit: usize) -> LogSlice);
        $write!(publish Publish (key: &'a Key, value: Bytes) -> ());
        $write!(listen Listen (key: &'a Key) -> BoxStream<'static, Bytes>);
    };
}

pub(crate) use operations;

macro_rules! shared {
    ($name:ident $kind:ident (key: &'a Key $(, $more:ident: $type:ty)*) -> $output:ty) => {
        fn $name<'a>(
            &'a self,
            key: &'a Key,
            $($more: $type,)*
        ) -> BoxFuture<'a, Result<$output>> {
            (**self).$name(key, $($more),*)
        }
    };
}

/// A shared backend is a backend.
impl<B: Backend + ?Sized> Backend for Arc<B> {
    operations!(shared);

    fn longest_value(&self) -> Option<usize> {
        (**self).longest_value()
    }
}

/// The name of a value, a log or a topic: parts joined by `/`.
///
/// ```
/// use bowline_store::Key;
///
/// assert_eq!(Key::new(["session", "abc"]).as_str(), "session/abc");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(String);

impl Key {
    /// A key of these parts. The parts must not contain `/`.
    pub fn new<'a>(parts: impl IntoIterator<Item = &'a str>) -> Self {
        let parts: Vec<_> = parts.into_iter().collect();
        Self(parts.join("/"))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A value and its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The stored bytes.
    pub value: Bytes,
    /// Differs after every change of the value.
    pub version: Version,
}

/// The version of a value. No two states of a key have the same version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(pub u64);

/// The condition under which [`Backend::put`] sets a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Always.
    Anything,
    /// Only if there is no value.
    Absent,
    /// Only if the value has this version.
    Version(Version),
}

/// Whether [`Backend::put`] set the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It is set, with this version.
    Yes(Version),
    /// It is not set: the condition does not hold.
    Conflict,
}

/// A position in a log. The first item has position 1; 0 is before all items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

/// An item for [`Backend::append`].
///
/// The key of the mark and that of the topic have the same second part as the log, such as the id of
/// a session. A database that spreads keys over several servers keeps them together by it, and may
/// refuse others.
///
/// ```
/// # use std::time::Duration;
/// use bowline_store::Key;
/// use bowline_store::backend::{Mark, MarkStep, NewItem, Position};
///
/// // For a log `events/abc/7`.
/// let key = Key::new(["writer", "abc", "7"]);
/// let mark = Mark { key, owner: "me".into(), step: MarkStep::Begin };
/// let item = NewItem::new("event", Duration::from_secs(60))
///     .above(Position(3))
///     .tell(Key::new(["news", "abc", "7"]), "")
///     .mark(mark);
/// assert_eq!(item.above, Position(3));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewItem {
    /// The bytes to store. `None` only [keeps](Self::keeping) what is there.
    pub value: Option<Bytes>,
    /// How long the log is kept from now on.
    pub expiry: Duration,
    /// The highest position that the writer knows. The item's position exceeds it. A log that is
    /// behind, because it lost its end, drops its items, so that [`LogSlice::oldest`] shows the gap.
    pub above: Position,
    /// A topic, and what to publish on it. Listeners that get it can read the item.
    pub tell: Option<(Key, Bytes)>,
    /// The mark of the log's writer.
    pub mark: Option<Mark>,
}

impl NewItem {
    /// An item without demands.
    pub fn new(value: impl Into<Bytes>, expiry: Duration) -> Self {
        Self { value: Some(value.into()), ..Self::keeping(expiry) }
    }

    /// No item: the log and the mark are only kept, for this time from now on.
    pub fn keeping(expiry: Duration) -> Self {
        Self { value: None, expiry, above: Position(0), tell: None, mark: None }
    }

    /// Sets the highest position that the writer knows.
    #[must_use]
    pub fn above(mut self, position: Position) -> Self {
        self.above = position;
        self
    }

    /// Publishes a value together with the item.
    #[must_use]
    pub fn tell(mut self, topic: Key, value: impl Into<Bytes>) -> Self {
        self.tell = Some((topic, value.into()));
        self
    }

    /// Sets, requires or removes the mark of the writer together with the item.
    #[must_use]
    pub fn mark(mut self, mark: Mark) -> Self {
        self.mark = Some(mark);
        self
    }
}

/// The mark of a writer: a value that exists while the writer may append to its log. Another
/// process that deletes it stops the writer. An ordinary value, which [`Backend::get`] returns and
/// [`Backend::delete`] removes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The key of the mark.
    pub key: Key,
    /// The value of the mark. It names the writer.
    pub owner: Bytes,
    /// What becomes of the mark.
    pub step: MarkStep,
}

/// What becomes of a [`Mark`] when an item is appended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkStep {
    /// The mark is set, with the expiry of the item. A mark of another owner is replaced.
    Begin,
    /// The item is appended only if the mark is there and names this owner. The mark then gets the
    /// expiry of the item, and keeps its version.
    Continue,
    /// As [`Continue`](Self::Continue), but the mark is removed.
    End,
}

/// What [`Backend::append`] has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Appended {
    /// The item is in the log, at this position. Without an item: the position of the newest one, or 0
    /// if the log never had one.
    At(Position),
    /// The mark is gone, or names another owner: nothing was appended, and nothing published.
    Fenced,
}

impl Appended {
    /// The position of the item. `None` if it was not appended.
    pub fn position(self) -> Option<Position> {
        match self {
            Self::At(position) => Some(position),
            Self::Fenced => None,
        }
    }
}

/// The items of a log after a position, and the bounds of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogSlice {
    /// The position of the oldest item that is still stored, or [`next`](Self::next) if there is none.
    pub oldest: Position,
    /// The position that the next item will get.
    pub next: Position,
    /// The items, in order.
    pub items: Vec<LogItem>,
}

impl LogSlice {
    /// The result for a log that does not exist.
    pub fn empty() -> Self {
        Self { oldest: Position(1), next: Position(1), items: Vec::new() }
    }
}

/// One item of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogItem {
    /// The position in the log.
    pub position: Position,
    /// The appended bytes.
    pub value: Bytes,
}

/// The failure of a backend, for example a lost connection to its database.
///
/// The operation may have taken effect. The text is for the operator, not for clients: it may name hosts
/// and files.
#[derive(Debug)]
pub struct Error {
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error without a cause. The message names what failed.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// Sets the cause, returned by `source()`.
    #[must_use]
    pub fn caused_by(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
