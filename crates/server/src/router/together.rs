//! Futures that run side by side, without tasks of their own.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll};

use futures_core::future::BoxFuture;

/// Futures that run side by side, and whose outputs are taken in their order. Dropping it drops those
/// that have not ended. Each is polled whenever one of them wakes the task, so they should be few.
pub(crate) struct Together<'f, T>(VecDeque<MaybeDone<'f, T>>);

enum MaybeDone<'f, T> {
    Running(BoxFuture<'f, T>),
    Done(T),
}

impl<'f, T> Together<'f, T> {
    pub(crate) fn new(futures: impl IntoIterator<Item = BoxFuture<'f, T>>) -> Self {
        Self(futures.into_iter().map(MaybeDone::Running).collect())
    }

    /// The output of the first future whose output was not taken yet. Polls the others meanwhile.
    /// `None` after the last.
    pub(crate) async fn next(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_next(cx)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        for step in &mut self.0 {
            if let MaybeDone::Running(future) = step
                && let Poll::Ready(output) = future.as_mut().poll(cx)
            {
                *step = MaybeDone::Done(output);
            }
        }
        match self.0.pop_front() {
            Some(MaybeDone::Done(output)) => Poll::Ready(Some(output)),
            Some(running) => {
                self.0.push_front(running);
                Poll::Pending
            }
            None => Poll::Ready(None),
        }
    }
}
