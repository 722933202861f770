//! Calls that a driver has started: polled once where they stand, in tasks of their own after.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::task::{AbortHandle, JoinSet};

/// A future that can be sent to a task.
pub type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Running calls by their numbers.
pub(crate) struct Calls<K, T> {
    tasks: JoinSet<(K, Result<T, Panicked>)>,
    handles: HashMap<K, AbortHandle>,
}

/// A call that panicked.
#[derive(Debug)]
pub(crate) struct Panicked;

impl<K: Copy + Eq + Hash + Send + 'static, T: Send + 'static> Calls<K, T> {
    pub(crate) fn new() -> Self {
        Self { tasks: JoinSet::new(), handles: HashMap::new() }
    }

    /// Starts a call. What is ready at once costs no task; its outcome is given back here.
    pub(crate) fn start(&mut self, key: K, call: BoxFuture<T>) -> Option<Result<T, Panicked>> {
        let mut call = CatchPanic(call);
        // The task that takes over polls the call again, so nobody has to be woken for this one.
        let poll = Pin::new(&mut call).poll(&mut Context::from_waker(Waker::noop()));
        match poll {
            Poll::Ready(outcome) => Some(outcome),
            Poll::Pending => {
                let handle = self.tasks.spawn(async move { (key, call.await) });
                self.handles.insert(key, handle);
                None
            }
        }
    }

    /// Drops a call where it stands.
    pub(crate) fn abort(&mut self, key: K) {
        if let Some(handle) = self.handles.remove(&key) {
            handle.abort();
        }
    }

    /// The next call that ends. Waits for ever if none runs. Cancel-safe.
    pub(crate) async fn next(&mut self) -> (K, Result<T, Panicked>) {
        loop {
            match self.tasks.join_next().await {
                // A call that was aborted at the very moment it ended has no handle any more.
                Some(Ok((key, outcome))) if self.handles.remove(&key).is_some() => {
                    return (key, outcome);
                }
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }
}

/// Turns a panic into a value, so that one bad call does not end the connection.
struct CatchPanic<T>(BoxFuture<T>);

impl<T> Future for CatchPanic<T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        // The future is never polled again after it panicked.
        match std::panic::catch_unwind(AssertUnwindSafe(|| self.0.as_mut().poll(cx))) {
            Ok(poll) => poll.map(Ok),
            Err(_) => Poll::Ready(Err(Panicked)),
        }
    }
}
