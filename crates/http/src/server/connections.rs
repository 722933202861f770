//! The connections that are open: each cut when it is of no use, and all of them told of the end.
//!
//! They are looked at together, from time to time. So a request costs two additions, and a connection
//! needs neither a clock of its own nor anything else to wait for beside its client.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use bowline_transport::BoxFuture;
use hyper_util::server::graceful::GracefulConnection;
use tokio::task::AbortHandle;

use super::body::Turn;
use super::endpoint::Endpoint;

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
    pub(super) fn open(
        &mut self,
        used: Used,
        serve: impl FnOnce(Arc<Used>, Place) -> BoxFuture<()>,
    ) {
        self.last += 1;
        let number = self.last;
        let used = Arc::new(used);
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
    pub(super) fn new(endpoint: Endpoint) -> Self {
        let (requests, is_ending, server) = Default::default();
        Self { requests, turn: Arc::new(endpoint), is_ending, server }
    }

    /// Begins to answer a request; it is answered when the turn is dropped.
    pub(super) fn begin(&self) -> Turn {
        // Only whoever serves the connection counts, so nothing comes in between.
        let before = self.requests.load(Ordering::Relaxed);
        self.requests.store(before.wrapping_add(1), Ordering::Relaxed);
        self.turn.clone()
    }

    fn end(&self) {
        // Under the lock, so that whoever begins to serve meanwhile either is woken or sees it.
        let server = self.server.lock().unwrap_or_else(PoisonError::into_inner);
        self.is_ending.store(true, Ordering::Release);
        server.iter().for_each(Waker::wake_by_ref);
    }

    fn serve(&self, server: &Waker) {
        *self.server.lock().unwrap_or_else(PoisonError::into_inner) = Some(server.clone());
    }
}

/// Drives a connection to its end, which comes early if it is told to end, and holds something until
/// then.
pub(super) async fn drive<C: GracefulConnection, T>(
    mut connection: Pin<Box<C>>,
    used: Arc<Used>,
    held: T,
) {
    let (mut is_begun, mut is_told) = (false, false);
    let ended = poll_fn(|cx| {
        if !std::mem::replace(&mut is_begun, true) {
            // The task stays the same, and so does its waker.
            used.serve(cx.waker());
        }
        if !is_told && used.is_ending.load(Ordering::Acquire) {
            is_told = true;
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx)
    });
    // A client that goes away or speaks no HTTP is its own affair.
    let _ = ended.await;
    drop(held);
}
