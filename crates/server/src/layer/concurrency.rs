//! How many calls run at the same time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bowline_proto::request::{Request, Response};
use bowline_types::error::ErrorObject;
use futures_core::future::BoxFuture;
use tokio::sync::Semaphore;

use super::Next;
use super::guard::{CallHead, Guard, guards, subject};

/// The most calls that wait for their turn, unless [`ConcurrencyLimit::waiting`] sets another number.
const MOST_WAITING: usize = 1024;

/// Limits how many calls run at the same time. Further calls wait for their turn; if too many wait,
/// the next call is refused.
///
/// A call that asks the user keeps its place up to 2025-11-25, because it waits for the answer.
/// Subscriptions stay open and are not counted. [`Limits::in_flight`] limits each connection in
/// addition.
///
/// ```
/// use bowline_server::Tool;
/// use bowline_server::layer::ConcurrencyLimit;
///
/// let report = Tool::new("report", || async { "done" }).layer(ConcurrencyLimit::new(4));
/// ```
///
/// [`Limits::in_flight`]: bowline_proto::limits::Limits::in_flight
#[derive(Clone, Copy, Debug)]
pub struct ConcurrencyLimit {
    running: usize,
    waiting: usize,
}

impl ConcurrencyLimit {
    /// Allows so many calls at the same time, and at least one.
    pub fn new(running: usize) -> Self {
        Self { running: running.clamp(1, Semaphore::MAX_PERMITS), waiting: MOST_WAITING }
    }

    /// Sets how many calls may wait for their turn: 1024 by default.
    #[must_use]
    pub fn waiting(mut self, calls: usize) -> Self {
        self.waiting = calls;
        self
    }
}

guards!(ConcurrencyLimit, |limit| Places {
    limit: *limit,
    free: Semaphore::new(limit.running),
    waiting: AtomicUsize::new(0),
});

#[derive(Debug)]
struct Places {
    limit: ConcurrencyLimit,
    free: Semaphore,
    waiting: AtomicUsize,
}

impl Guard for Places {
    fn serve(self: Arc<Self>, request: Request, next: Next) -> BoxFuture<'static, Response> {
        if request.parts.method.streams() {
            return Box::pin(next.run(request));
        }
        Box::pin(async move {
            let place = match self.free.try_acquire() {
                Ok(place) => Ok(place),
                Err(_) => match Waiting::begin(&self) {
                    Some(_waiting) => self.free.acquire().await.map_err(|_| ()),
                    None => Err(()),
                },
            };
            match place {
                Ok(_place) => next.run(request).await,
                Err(()) => self.refuse(&request),
            }
        })
    }
}

impl Places {
    fn refuse(&self, request: &Request) -> Response {
        let ConcurrencyLimit { running, waiting } = self.limit;
        let message = format!(
            "{} is busy: {running} calls run and {waiting} wait already; try again later",
            subject(request)
        );
        CallHead::of(request).refuse(ErrorObject::internal(message))
    }
}

/// A call that waits for its turn.
struct Waiting<'a>(&'a AtomicUsize);

impl<'a> Waiting<'a> {
    fn begin(places: &'a Places) -> Option<Self> {
        let most = places.limit.waiting;
        let more = |waiting: usize| (waiting < most).then_some(waiting + 1);
        let begun = places.waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        begun.ok().map(|_| Self(&places.waiting))
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
