//! The connections that are open: each is ended when it is not used for too long, and all are when the
//! server stops.
//!
//! They are looked at together, from time to time. So a request costs two additions, and a connection
//! needs neither a clock of its own nor anything else to wait for beside its client.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use bowline_transport::BoxFuture;
use hyper_util::server::graceful::GracefulConnection;
use tokio::task::AbortHandle;

use super::connection_use::ConnectionUse;
use super::limits::HttpLimits;

/// The connections that are open. All are cut when this is dropped.
#[derive(Default)]
pub(super) struct Connections {
    table: Arc<Table>,
    last: u64,
}

type Table = Mutex<HashMap<u64, Open>>;

/// How often the connections are looked at within the shortest time that one may be unused.
const LOOKS: u32 = 2;

/// How often to look at connections, and how many looks in a row one may be unused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looks {
    pub(super) interval: Duration,
    head: u128,
    idle: u128,
}

impl Looks {
    pub(super) fn new(limits: &HttpLimits) -> Self {
        let interval = (limits.head.min(limits.idle) / LOOKS).max(Duration::from_millis(1));
        let looks = |limit: Duration| limit.as_nanos().div_ceil(interval.as_nanos());
        Self { interval, head: looks(limits.head), idle: looks(limits.idle) }
    }

    /// The same while there is no room for further connections.
    pub(super) fn when_full(self) -> Self {
        Self { idle: self.idle.min(self.head), ..self }
    }
}

impl Connections {
    /// Serves a connection in a task of its own, which has to hold its place to the end.
    pub(super) fn open(
        &mut self,
        used: ConnectionUse,
        serve: impl FnOnce(Arc<ConnectionUse>, Place) -> BoxFuture<()>,
    ) {
        self.last += 1;
        let number = self.last;
        let used = Arc::new(used);
        let place = Place { table: self.table.clone(), number };
        let served = serve(used.clone(), place);
        // Entered before the task can end, and not locked when it begins: a runtime that is shutting
        // down drops what it is given, and so does a task that is aborted there.
        lock(&self.table).insert(number, Open::new(used));
        let task = tokio::spawn(served);
        if let Some(open) = lock(&self.table).get_mut(&number) {
            open.task = Some(task.abort_handle());
        }
    }

    /// Looks at every connection, and ends those that have not been in use for too long.
    pub(super) fn look(&self, looks: Looks) {
        self.cut(|open| match open.look(looks) {
            Verdict::Keep => false,
            Verdict::End => {
                open.used.end();
                false
            }
            Verdict::Cut => true,
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

/// One that is open.
struct Open {
    used: Arc<ConnectionUse>,
    /// Set once there is a task.
    task: Option<AbortHandle>,
    /// How many requests had come when it was last looked at.
    before: usize,
    /// How many looks in a row it was not in use.
    unused: u128,
    /// Whether a request is under way of which not even the head is there.
    has_begun: bool,
    /// After how many such looks it was told to end.
    told: Option<u128>,
}

/// What becomes of a connection.
enum Verdict {
    Keep,
    /// We have asked it to end, in the way of its protocol.
    End,
    /// It ends at once.
    Cut,
}

impl Open {
    fn new(used: Arc<ConnectionUse>) -> Self {
        Self { used, task: None, before: 0, unused: 0, has_begun: true, told: None }
    }

    /// A connection is in use while a request is being answered, or an answer is being written.
    /// Otherwise it is idle, or the head of a request is under way. A client that is silent in the
    /// middle of a head has as long as one that sends the head byte by byte.
    fn look(&mut self, looks: Looks) -> Verdict {
        let used = &self.used;
        let requests = used.requests();
        let has_come = std::mem::replace(&mut self.before, requests) != requests;
        let traffic = &used.traffic;
        if has_come || used.is_in_flight() || traffic.waits() {
            (self.unused, self.has_begun, self.told) = (0, false, None);
            return Verdict::Keep;
        }
        // Over HTTP/2 there is more to be read than requests.
        let is_http2 = used.is_http2();
        if traffic.has_read() && !self.has_begun && !is_http2 {
            (self.unused, self.has_begun) = (0, true);
        }
        self.unused += 1;
        let most = if self.has_begun { looks.head } else { looks.idle };
        match self.told {
            _ if self.unused <= most => Verdict::Keep,
            // There is nothing to be said to a client in the middle of its head.
            _ if self.has_begun && !is_http2 => Verdict::Cut,
            None => {
                self.told = Some(self.unused);
                Verdict::End
            }
            Some(told) if self.unused > told + looks.head => Verdict::Cut,
            Some(_) => Verdict::Keep,
        }
    }
}

/// Drives a connection to its end, which comes early if it is told to end, and holds something until
/// then.
pub(super) async fn drive<C: GracefulConnection, T>(
    mut connection: Pin<Box<C>>,
    used: Arc<ConnectionUse>,
    held: T,
) {
    let (mut is_begun, mut is_told) = (false, false);
    let ended = poll_fn(|cx| {
        if !std::mem::replace(&mut is_begun, true) {
            // The task stays the same, and so does its waker.
            used.serve(cx.waker());
        }
        if !is_told && used.is_ending() {
            is_told = true;
            // A request that has come by now is taken first, and so answered.
            if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
                return Poll::Ready(ended);
            }
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx)
    });
    // A client that goes away or speaks no HTTP is its own affair.
    let _ = ended.await;
    drop(held);
}

#[cfg(test)]
mod tests;
