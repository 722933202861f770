//! Functions of the application, kept until a server or a call gives reason to run them.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;

pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// An async function of the application.
pub(crate) struct Hook<I, O>(Arc<dyn Fn(I) -> BoxFuture<O> + Send + Sync>);

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

/// A quick function of the application that hears of something.
pub(crate) struct Ear<T: ?Sized>(Arc<dyn Fn(&T) + Send + Sync>);

impl<T: ?Sized> Ear<T> {
    pub(crate) fn new(function: impl Fn(&T) + Send + Sync + 'static) -> Self {
        Self(Arc::new(function))
    }

    /// Runs the function where we stand, which must survive its panics: in the task that drives the
    /// connection, or while something is dropped. The panic is reported by the hook as any other.
    pub(crate) fn hear(&self, what: &T) {
        let _ = catch_unwind(AssertUnwindSafe(|| (self.0)(what)));
    }
}

impl<T: ?Sized> Clone for Ear<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T: ?Sized> fmt::Debug for Ear<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ear")
    }
}
