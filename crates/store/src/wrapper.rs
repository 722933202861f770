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
    Position, Result, Written, operations,
};

macro_rules! to_inner {
    ($name:ident $kind:ident (key: &'a Key $(, $more:ident: $type:ty)*) -> $output:ty) => {
        #[doc = concat!("[`Backend::", stringify!($name), "`].")]
        fn $name<'a>(
            &'a self,
            key: &'a Key,
            $($more: $type,)*
        ) -> BoxFuture<'a, Result<$output>> {
            self.inner().$name(key, $($more),*)
        }
    };
}

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

    operations!(to_inner);

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

macro_rules! around {
    ($name:ident $kind:ident (key: &'a Key $(, $more:ident: $type:ty)*) -> $output:ty) => {
        fn $name<'a>(
            &'a self,
            key: &'a Key,
            $($more: $type,)*
        ) -> BoxFuture<'a, Result<$output>> {
            let begin = move || self.0.$name(key, $($more),*);
            Box::pin(self.run(OperationKind::$kind, key, begin))
        }
    };
}

impl<W: Wrapper> Backend for Wrapped<W> {
    fn longest_value(&self) -> Option<usize> {
        self.0.longest_value()
    }

    operations!(around);
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
