//! How one connection is used: which of its requests are in flight, and whether it is to end.
//!
//! Its task notes what happens; [`Connections`](crate::connections::Connections) reads it from time
//! to time.
//!
//! All counters are relaxed atomics: a check that reads an old value decides one interval later.
//! Only `is_ending` orders memory, together with the lock of the waker, since a missed wake-up
//! would leave the connection open until its client acts.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;

use tokio::time::Instant;

use crate::socket::Traffic;
use crate::sync::lock;

/// The use of one connection, shared by its task, its answers and the table of connections. Made
/// when the connection is accepted; the last answer or the table drops it.
#[derive(Default)]
pub(crate) struct ConnectionUse {
    /// What its socket is seen to do.
    pub(crate) traffic: Arc<Traffic>,
    /// Requests that have come so far.
    requests: AtomicUsize,
    /// Those of them that are being answered.
    in_flight: AtomicUsize,
    /// Known after the first bytes, if HTTP/2 is served at all.
    is_http2: AtomicBool,
    /// Never reset: a connection that was asked to end takes no further request after those that
    /// have come.
    is_ending: AtomicBool,
    /// Whether each answer asks the client to close the connection. Set while the server still listens,
    /// see [`FrontServer::leave`](crate::FrontServer::leave).
    is_leaving: AtomicBool,
    /// Over HTTP/1.1, whether the service has left part of the body of the request that is being
    /// answered.
    has_left_body: AtomicBool,
    /// The task that serves it, once there is one.
    task: Mutex<Option<Waker>>,
    awaited: Mutex<AwaitedBodies>,
}

/// The bodies of requests that have not come completely.
#[derive(Default)]
struct AwaitedBodies {
    count: usize,
    /// When the first of them began, or the last one before them came completely.
    since: Option<Instant>,
}

/// A body that the server waits for. Dropped when it has come completely, or is not read any more.
pub(crate) struct AwaitedBody(Arc<ConnectionUse>);

/// A request that is being answered, from its head until HTTP has taken the last byte of the
/// answer. The body of the answer holds it.
pub(crate) struct InFlight(Arc<ConnectionUse>);

impl ConnectionUse {
    /// Begins to answer a request.
    pub(crate) fn begin(self: &Arc<Self>) -> InFlight {
        // Only the task of the connection writes this counter, so no addition is lost.
        let before = self.requests.load(Ordering::Relaxed);
        self.requests.store(before.wrapping_add(1), Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.has_left_body.store(false, Ordering::Relaxed);
        InFlight(self.clone())
    }

    /// How many requests have come so far.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Whether a request is being answered.
    pub(crate) fn is_in_flight(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) > 0
    }

    /// Notes that the server waits for the body of a request.
    pub(crate) fn await_body(self: &Arc<Self>) -> AwaitedBody {
        let mut awaited = lock(&self.awaited);
        awaited.count += 1;
        awaited.since.get_or_insert_with(Instant::now);
        AwaitedBody(self.clone())
    }

    /// Since when the server has waited for bodies alone. `None` if it answers another request of the
    /// connection meanwhile.
    pub(crate) fn bodies_awaited_since(&self) -> Option<Instant> {
        let awaited = lock(&self.awaited);
        awaited.since.filter(|_| awaited.count == self.in_flight.load(Ordering::Relaxed))
    }

    /// Notes that a body was dropped before all of it had come.
    pub(crate) fn leave_body(&self) {
        self.has_left_body.store(true, Ordering::Relaxed);
    }

    /// Whether the body of the last request was dropped before all of it had come.
    pub(crate) fn has_left_body(&self) -> bool {
        self.has_left_body.load(Ordering::Relaxed)
    }

    pub(crate) fn is_http2(&self) -> bool {
        self.is_http2.load(Ordering::Relaxed)
    }

    /// Notes that the client speaks HTTP/2.
    #[cfg(feature = "http2")]
    pub(crate) fn speaks_http2(&self) {
        self.is_http2.store(true, Ordering::Relaxed);
    }

    /// Whether the next answer asks the client to close the connection.
    pub(crate) fn is_leaving(&self) -> bool {
        self.is_leaving.load(Ordering::Relaxed)
    }

    /// Whether the connection is to end.
    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    /// Names the task that serves the connection, so that [`end`](Self::end) can wake it.
    pub(crate) fn serve(&self, task: &Waker) {
        *lock(&self.task) = Some(task.clone());
    }

    /// Ends the connection after its next answer, so that no request of the client meets a
    /// closed connection. HTTP/2 has a message for that, GOAWAY, so such a connection ends now.
    pub(crate) fn leave(&self) {
        self.is_leaving.store(true, Ordering::Relaxed);
        if self.is_http2() {
            self.end();
        }
    }

    /// Asks the connection to end once it has answered what has come.
    pub(crate) fn end(&self) {
        // Under the lock: a task that calls `serve` meanwhile is either woken or sees the flag.
        let task = lock(&self.task);
        self.is_ending.store(true, Ordering::Release);
        task.iter().for_each(Waker::wake_by_ref);
    }
}

impl Drop for AwaitedBody {
    fn drop(&mut self) {
        let mut awaited = lock(&self.0.awaited);
        awaited.count -= 1;
        awaited.since = (awaited.count > 0).then(Instant::now);
    }
}

impl InFlight {
    /// The connection, for what is read of the request.
    pub(crate) fn shared(&self) -> Arc<ConnectionUse> {
        self.0.clone()
    }

    pub(crate) fn connection(&self) -> &ConnectionUse {
        &self.0
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.in_flight.fetch_sub(1, Ordering::Relaxed);
    }
}
