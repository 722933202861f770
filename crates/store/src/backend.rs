//! The one trait that a database implements.
//!
//! Sessions, event logs and whatever else must outlive a request are written once, on top of eight
//! operations: values that expire and are compared before they are set, logs that only grow at their
//! end, and topics. A backend knows nothing of the protocol.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;

/// A future that can be sent to a task.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A stream that can be sent to a task.
pub type BoxStream<'a, T> = Pin<Box<dyn Stream<Item = T> + Send + 'a>>;

/// What an operation gives.
pub type Result<T> = std::result::Result<T, Error>;

/// Where values are kept.
pub trait Backend: Send + Sync + 'static {
    /// The value under a key, unless there is none or its time is over.
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>>;

    /// Sets a value for a time, if what is there now is as expected.
    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Written>>;

    /// Removes a value or a log; gives whether there was one.
    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>>;

    /// Keys of values that begin with a prefix and come after another, in order.
    fn scan<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a Key>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>>>;

    /// Appends to a log, which is kept for a time after the last addition. The first position is 1,
    /// and each further one is one more. A backend may forget the oldest items of a log that grows
    /// beyond its bounds; [`read`](Self::read) then tells.
    fn append<'a>(
        &'a self,
        log: &'a Key,
        value: Bytes,
        expiry: Duration,
    ) -> BoxFuture<'a, Result<Position>>;

    /// Items of a log after a position, in order.
    fn read<'a>(
        &'a self,
        log: &'a Key,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'a, Result<Read>>;

    /// Tells everybody who listens to a topic.
    fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>>;

    /// What is published on a topic from now on. A listener that falls behind may miss some.
    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>>;
}

/// The name of a value, a log or a topic: parts joined by `/`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key(String);

impl Key {
    /// A key of these parts. Parts are ours: they hold no `/`.
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
    /// What was put.
    pub value: Bytes,
    /// Changes whenever the value does.
    pub version: Version,
}

/// Tells states of a value apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version(pub u64);

/// What must be there for a value to be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expect {
    /// Whatever there is.
    Anything,
    /// Nothing.
    Absent,
    /// The value in this version.
    Version(Version),
}

/// What became of a value to be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It stands, in this version.
    Yes(Version),
    /// Something else was there than expected.
    Conflict,
}

/// A place in a log; 0 is before everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position(pub u64);

/// What is in a log after a position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// The oldest item that is still there, or what the next one will be if there is none.
    pub oldest: Position,
    /// What the next item will be.
    pub next: Position,
    /// The items, in order.
    pub items: Vec<Item>,
}

impl Read {
    /// What is in a log that does not exist.
    pub fn empty() -> Self {
        Self { oldest: Position(1), next: Position(1), items: Vec::new() }
    }
}

/// One item of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Where it stands.
    pub position: Position,
    /// What was appended.
    pub value: Bytes,
}

/// Why a backend could not do what it was asked.
#[derive(Debug)]
pub struct Error {
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error that names what failed.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), source: None }
    }

    /// With what lies beneath.
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
