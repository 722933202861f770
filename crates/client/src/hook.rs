//! Functions that the application registered with its client.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bowline_transport::tap::TapDirection;
use futures_core::future::BoxFuture;

/// An async function of the application that decides or answers something.
pub(crate) struct Hook<I, O>(Arc<dyn Fn(I) -> BoxFuture<'static, O> + Send + Sync>);

impl<I, O> Hook<I, O> {
    pub(crate) fn new<F, A>(function: F) -> Self
    where
        F: Fn(I) -> A + Send + Sync + 'static,
        A: Future<Output: Into<O>> + Send + 'static,
    {
        Self(Arc::new(move |input| {
            let output = function(input);
            Box::pin(async move { output.await.into() })
        }))
    }

    pub(crate) async fn call(&self, input: I) -> O {
        (self.0)(input).await
    }
}

impl<I, O> Clone for Hook<I, O> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<I, O> fmt::Debug for Hook<I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hook")
    }
}

/// A function of the application that observes something and must return quickly.
pub(crate) struct Observer<T: ?Sized>(Arc<dyn Fn(&T) + Send + Sync>);

impl<T: ?Sized> Observer<T> {
    pub(crate) fn new(function: impl Fn(&T) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Runs the function and catches its panic, because it runs in the task that drives the
    /// connection, or inside a `drop`. The panic hook has reported the panic by then.
    pub(crate) fn call(&self, what: &T) {
        let _ = catch_unwind(AssertUnwindSafe(|| (self.0)(what)));
    }
}

impl<T: ?Sized> Clone for Observer<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> fmt::Debug for Observer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Observer")
    }
}

type OnMessage = dyn Fn(TapDirection, &[u8]) + Send + Sync;

/// A function of the application that observes messages and must return quickly.
#[derive(Clone)]
pub(crate) struct WireObserver(Arc<OnMessage>);

impl WireObserver {
    pub(crate) fn new(function: impl Fn(TapDirection, &[u8]) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Runs the function and catches its panic, as [`Observer::call`] does.
    pub(crate) fn call(&self, direction: TapDirection, text: &[u8]) {
        let _ = catch_unwind(AssertUnwindSafe(|| (self.0)(direction, text)));
    }
}

impl fmt::Debug for WireObserver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WireObserver")
    }
}
