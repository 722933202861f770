//! A backend around another one, which watches, delays, refuses or changes its operations.
//!
//! For tests of programs that use a backend, and for measurements. A [`Wrapper`] implements only
//! what differs; [`Wrapped`] makes it a [`Backend`].

use std::future::ready;
use std::ops::Deref;
use std::time::Duration;

use bytes::Bytes;

use crate::backend::{
    Appended, Backend, BoxFuture, BoxStream, Entry, Error, Expect, Key, LogSlice, NewItem,
    Position, Result, Written,
};

/// What a backend around another one does with operations. Without methods of its own, each
/// operation goes to the inner backend.
///
/// ```
/// use std::sync::atomic::{AtomicUsize, Ordering};
///
/// use bowline_store::backend::{Backend, BoxFuture, Key, Result};
/// use bowline_store::wrapper::{Operation, OperationKind, Wrapped, Wrapper};
/// use bowline_store::MemoryBackend;
///
/// /// Counts reads.
/// #[derive(Default)]
/// struct Counting {
///     memory: MemoryBackend,
///     reads: AtomicUsize,
/// }
///
/// impl Wrapper for Counting {
///     fn inner(&self) -> &dyn Backend {
///         &self.memory
///     }
///
///     fn before<'a>(&'a self, operation: Operation<'a>) -> BoxFuture<'a, Result<()>> {
///         if operation.kind == OperationKind::Get {
///             self.reads.fetch_add(1, Ordering::Relaxed);
///         }
///         Box::pin(std::future::ready(Ok(())))
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<()> {
/// let store = Wrapped(Counting::default());
/// store.get(&Key::new(["a"])).await?;
/// assert_eq!(store.reads.load(Ordering::Relaxed), 1);
/// # Ok(())
/// # }
/// ```
pub trait Wrapper: Send + Sync + 'static {
    /// The backend that operations go to.
    fn inner(&self) -> &dyn Backend;

    /// Runs before each operation, and may wait.
    ///
    /// # Errors
    ///
    /// The operation fails with this error, and does not take place.
    fn before<'a>(&'a self, operation: Operation<'a>) -> BoxFuture<'a, Result<()>> {
        let _ = operation;
        Box::pin(ready(Ok(())))
    }

    /// Runs after each operation, also if [`before`](Self::before) refused it.
    fn after(&self, operation: Operation<'_>, failure: Option<&Error>) {
        let _ = (operation, failure);
    }

    /// Replaces the error of an operation that failed, after [`after`](Self::after) has seen it.
    fn replace(&self, failure: Error) -> Error {
        failure
    }

    /// [`Backend::get`].
    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        self.inner().get(key)
    }

    /// [`Backend::renew`].
    fn renew<'a>(&'a self, key: &'a Key, expiry: Duration) -> BoxFuture<'a, Result<Option<Entry>>> {
        self.inner().renew(key, expiry)
    }

    /// [`Backend::put`].
    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Written>> {
        self.inner().put(key, value, expiry, expect)
    }

    /// [`Backend::delete`].
    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        self.inner().delete(key)
    }

    /// [`Backend::scan`].
    fn scan<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a Key>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>>> {
        self.inner().scan(prefix, after, limit)
    }

    /// [`Backend::append`].
    fn append<'a>(&'a self, log: &'a Key, item: NewItem) -> BoxFuture<'a, Result<Appended>> {
        self.inner().append(log, item)
    }

    /// [`Backend::read`].
    fn read<'a>(
        &'a self,
        log: &'a Key,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'a, Result<LogSlice>> {
        self.inner().read(log, after, limit)
    }

    /// [`Backend::publish`].
    fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>> {
        self.inner().publish(topic, value)
    }

    /// [`Backend::listen`].
    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>> {
        self.inner().listen(topic)
    }

    /// [`Backend::longest_value`].
    fn longest_value(&self) -> Option<usize> {
        self.inner().longest_value()
    }
}

/// An operation that is about to take place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation<'a> {
    /// Which one.
    pub kind: OperationKind,
    /// The key of its value, its log or its topic, or the prefix that it lists.
    pub key: &'a Key,
}

/// The operations of a [`Backend`], by the names of its methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OperationKind {
    /// [`Backend::get`].
    Get,
    /// [`Backend::renew`].
    Renew,
    /// [`Backend::put`].
    Put,
    /// [`Backend::delete`].
    Delete,
    /// [`Backend::scan`].
    Scan,
    /// [`Backend::append`].
    Append,
    /// [`Backend::read`].
    Read,
    /// [`Backend::publish`].
    Publish,
    /// [`Backend::listen`].
    Listen,
}

/// A [`Wrapper`] as a [`Backend`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Wrapped<W>(pub W);

impl<W> Deref for Wrapped<W> {
    type Target = W;

    fn deref(&self) -> &W {
        &self.0
    }
}

impl<W: Wrapper> Wrapped<W> {
    /// Runs an operation of the wrapper. It begins only after [`Wrapper::before`]: some backends act
    /// when they are called, not when they are polled.
    async fn run<'a, T>(
        &'a self,
        kind: OperationKind,
        key: &'a Key,
        begin: impl FnOnce() -> BoxFuture<'a, Result<T>> + Send + 'a,
    ) -> Result<T> {
        let operation = Operation { kind, key };
        let result = match self.0.before(operation).await {
            Ok(()) => begin().await,
            Err(error) => Err(error),
        };
        self.0.after(operation, result.as_ref().err());
        result.map_err(|failure| self.0.replace(failure))
    }
}

impl<W: Wrapper> Backend for Wrapped<W> {
    fn longest_value(&self) -> Option<usize> {
        self.0.longest_value()
    }

    fn get<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(self.run(OperationKind::Get, key, move || self.0.get(key)))
    }

    fn renew<'a>(&'a self, key: &'a Key, expiry: Duration) -> BoxFuture<'a, Result<Option<Entry>>> {
        Box::pin(self.run(OperationKind::Renew, key, move || self.0.renew(key, expiry)))
    }

    fn put<'a>(
        &'a self,
        key: &'a Key,
        value: Bytes,
        expiry: Duration,
        expect: Expect,
    ) -> BoxFuture<'a, Result<Written>> {
        Box::pin(self.run(OperationKind::Put, key, move || self.0.put(key, value, expiry, expect)))
    }

    fn delete<'a>(&'a self, key: &'a Key) -> BoxFuture<'a, Result<bool>> {
        Box::pin(self.run(OperationKind::Delete, key, move || self.0.delete(key)))
    }

    fn scan<'a>(
        &'a self,
        prefix: &'a Key,
        after: Option<&'a Key>,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Key>>> {
        Box::pin(self.run(OperationKind::Scan, prefix, move || self.0.scan(prefix, after, limit)))
    }

    fn append<'a>(&'a self, log: &'a Key, item: NewItem) -> BoxFuture<'a, Result<Appended>> {
        Box::pin(self.run(OperationKind::Append, log, move || self.0.append(log, item)))
    }

    fn read<'a>(
        &'a self,
        log: &'a Key,
        after: Position,
        limit: usize,
    ) -> BoxFuture<'a, Result<LogSlice>> {
        Box::pin(self.run(OperationKind::Read, log, move || self.0.read(log, after, limit)))
    }

    fn publish<'a>(&'a self, topic: &'a Key, value: Bytes) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.run(OperationKind::Publish, topic, move || self.0.publish(topic, value)))
    }

    fn listen<'a>(&'a self, topic: &'a Key) -> BoxFuture<'a, Result<BoxStream<'static, Bytes>>> {
        Box::pin(self.run(OperationKind::Listen, topic, move || self.0.listen(topic)))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{MemoryBackend, suite};

    #[derive(Default)]
    struct PassThrough(MemoryBackend);

    impl Wrapper for PassThrough {
        fn inner(&self) -> &dyn Backend {
            &self.0
        }
    }

    #[tokio::test]
    async fn a_wrapper_without_methods_of_its_own_is_a_backend_like_the_inner_one() {
        suite::passes(|| async { Arc::new(Wrapped::<PassThrough>::default()) }).await;
    }
}
