//! The calls that a driver runs: polled once in place, then in a task of their own.
//!
//! Most calls are ready at their first poll: a list, a quick function. They cost no task. The
//! others become tasks, so that they run at the same time on all threads of the runtime. Dropping
//! `Calls` aborts them.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bowline_proto::sync::{Panicked, catch_poll};
use futures_core::future::BoxFuture;
use tokio::task::{AbortHandle, JoinSet};

/// Running calls by key: an exchange number on servers, a question's id on clients. Shared by both
/// drivers.
pub(crate) struct Calls<K, T> {
    tasks: JoinSet<(K, Result<T, Panicked>)>,
    /// Only calls that were neither reported nor aborted have one.
    handles: HashMap<K, AbortHandle>,
}

impl<K: Copy + Eq + Hash + Send + 'static, T: Send + 'static> Calls<K, T> {
    pub(crate) fn new() -> Self {
        Self { tasks: JoinSet::new(), handles: HashMap::new() }
    }

    /// Starts a call. If it is ready at once, no task is spawned and its outcome is returned.
    pub(crate) fn start(
        &mut self,
        key: K,
        call: BoxFuture<'static, T>,
    ) -> Option<Result<T, Panicked>> {
        let mut call = CatchPanic(call);
        // No waker is needed: the task that takes over polls the call again.
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

    /// Aborts a call: its future is dropped at its current await point. Its outcome is not reported
    /// any more, even if it was ready just now.
    pub(crate) fn abort(&mut self, key: K) {
        if let Some(handle) = self.handles.remove(&key) {
            handle.abort();
        }
    }

    /// Waits for the next call that ends; forever if none runs. Cancel-safe.
    pub(crate) async fn next(&mut self) -> (K, Result<T, Panicked>) {
        loop {
            match self.tasks.join_next().await {
                // A call that was aborted just as it ended has no handle any more; it is skipped.
                Some(Ok((key, outcome))) if self.handles.remove(&key).is_some() => {
                    return (key, outcome);
                }
                Some(_) => {}
                None => std::future::pending().await,
            }
        }
    }
}

/// A call whose panic becomes a value, so that it does not end the connection.
struct CatchPanic<T>(BoxFuture<'static, T>);

impl<T> Future for CatchPanic<T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match catch_poll(&mut self.0, cx) {
            Ok(poll) => poll.map(Ok),
            Err(panicked) => Poll::Ready(Err(panicked)),
        }
    }
}
