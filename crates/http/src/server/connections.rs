//! The connections that are open: each cut when it is of no use, and all of them told of the end.
//!
//! They are looked at together, from time to time. So a request costs two additions, and a connection
//! needs neither a clock of its own nor anything else to wait for beside its client.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use hyper_util::server::graceful::GracefulConnection;
use tokio::task::AbortHandle;

use super::body::Turn;

/// The connections that are open. All are cut when this is dropped.
#[derive(Default)]
pub(super) struct Connections {
    table: Arc<Table>,
    last: u64,
}

type Table = Mutex<HashMap<u64, Open>>;

/// One that is open.
struct Open {
    used: Arc<Used>,
    /// Set once there is a task.
    task: Option<AbortHandle>,
    /// How many requests had come when it was last looked at.
    before: usize,
    /// How often in a row it was found to be of no use.
    idle: usize,
}

/// How often somebody looks within the time that a connection may be of no use.
pub(super) const LOOKS: u32 = 2;

impl Connections {
    /// Serves a connection in a task of its own, which has to hold its place to the end.
    ///
    /// Nothing is wrapped around the task: each layer of futures would have room for it twice.
    pub(super) fn open<F>(&mut self, serve: impl FnOnce(Arc<Used>, Place) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.last += 1;
        let number = self.last;
        let used = Arc::new(Used::default());
        let place = Place { table: self.table.clone(), number };
        let served = serve(used.clone(), place);
        // Entered before the task can end, and not locked when it begins: a runtime that is shutting
        // down drops what it is given, and so does a task that is aborted there.
        lock(&self.table).insert(number, Open { used, task: None, before: 0, idle: 0 });
        let task = tokio::spawn(served);
        if let Some(open) = lock(&self.table).get_mut(&number) {
            open.task = Some(task.abort_handle());
        }
    }

    /// Looks at every connection, and cuts those that have been of no use for more than [`LOOKS`] in
    /// a row: no request has come and none was being answered. Whether the client is silent, or sends
    /// a head byte by byte, is all the same.
    pub(super) fn cut_idle(&self) {
        self.cut(|open| {
            let requests = open.used.requests.load(Ordering::Relaxed);
            let is_used = requests != open.before || Arc::strong_count(&open.used.turn) > 1;
            open.idle = if is_used { 0 } else { open.idle + 1 };
            open.before = requests;
            open.idle > LOOKS as usize
        });
    }

    /// Cuts some of the connections.
    fn cut(&self, mut is_cut: impl FnMut(&mut Open) -> bool) {
        let tasks: Vec<_> = {
            let mut table = lock(&self.table);
            table
                .values_mut()
                .filter_map(|open| is_cut(open).then(|| open.task.clone()).flatten())
                .collect()
        };
        tasks.iter().for_each(AbortHandle::abort);
    }

    /// Tells every connection to end once it has answered what has come.
    pub(super) fn end(&self) {
        for open in lock(&self.table).values() {
            open.used.end();
        }
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        self.cut(|_| true);
    }
}

/// The place of a connection in the table, left when its task ends.
pub(super) struct Place {
    table: Arc<Table>,
    number: u64,
}

impl Drop for Place {
    fn drop(&mut self) {
        lock(&self.table).remove(&self.number);
    }
}

/// Nothing that runs under the lock can panic half-way, so a poisoned table is a good one.
fn lock(table: &Table) -> MutexGuard<'_, HashMap<u64, Open>> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a connection is used for.
#[derive(Default)]
pub(super) struct Used {
    /// Requests that have come.
    requests: AtomicUsize,
    /// Held while one of them is being answered.
    turn: Turn,
    is_ending: AtomicBool,
    /// Whoever serves it, once somebody does.
    server: Mutex<Option<Waker>>,
}

impl Used {
    /// Begins to answer a request; it is answered when the turn is dropped.
    pub(super) fn begin(&self) -> Turn {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.turn.clone()
    }

    fn end(&self) {
        // Under the lock, so that whoever begins to serve meanwhile either is woken or sees it.
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_ending.store(true, Ordering::Release);
        server.iter().for_each(Waker::wake_by_ref);
    }

    /// Waits for something, unless the connection is told to end meanwhile.
    pub(super) async fn unless_ending<F: Future>(&self, something: F) -> Option<F::Output> {
        let mut something = pin!(something);
        let mut ending = Ending::of(self);
        poll_fn(|cx| match ending.is_begun(cx) {
            true => Poll::Ready(None),
            false => something.as_mut().poll(cx).map(Some),
        })
        .await
    }
}

/// The end of a connection, looked out for by the task that serves it.
struct Ending<'a> {
    used: &'a Used,
    is_awaited: bool,
}

impl<'a> Ending<'a> {
    fn of(used: &'a Used) -> Self {
        Self { used, is_awaited: false }
    }

    /// Whether the connection has to end; if not, the task is woken when it has to.
    fn is_begun(&mut self, cx: &Context<'_>) -> bool {
        if !std::mem::replace(&mut self.is_awaited, true) {
            // The task stays the same, and so does its waker.
            let mut server = self.used.server.lock().unwrap_or_else(PoisonError::into_inner);
            *server = Some(cx.waker().clone());
        }
        self.used.is_ending.load(Ordering::Acquire)
    }
}

/// Drives a connection to its end, which comes early if it is told to end.
pub(super) async fn drive<C: GracefulConnection>(mut connection: Pin<Box<C>>, used: &Used) {
    let (mut ending, mut is_told) = (Ending::of(used), false);
    let ended = poll_fn(|cx| {
        if !is_told && ending.is_begun(cx) {
            is_told = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx)
    });
    // A client that goes away or speaks no HTTP is its own affair.
    let _ = ended.await;
}
