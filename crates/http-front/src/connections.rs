//! The open connections. The server ends one that is unused for too long, and all when it stops.
//!
//! The accept loop checks them together, from time to time. So a request costs a few additions, and a
//! connection needs no clock of its own.

mod make_room;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use hyper_util::server::graceful::GracefulConnection;
use tokio::task::AbortHandle;
use tokio::time::{Instant, Sleep, sleep};

use crate::address::AddressKey;
use crate::capacity::Capacity;
use crate::config::FrontLimits;
use crate::connection_use::ConnectionUse;
use crate::service::BoxFuture;
use crate::sync::lock;

/// The open connections. Dropping it cuts them all. The accept loop owns it; tasks hold their
/// [`TableEntry`].
pub(crate) struct Connections {
    table: Arc<Mutex<Table>>,
    capacity: Capacity,
    /// When connections that make room were searched last.
    searched: Option<Instant>,
    /// The number of the connection that was accepted last.
    last: u64,
    /// Whether each connection is to end after its next answer.
    are_leaving: bool,
}

#[derive(Default)]
struct Table {
    open: HashMap<u64, Open>,
    /// The number of connections of each address that has any.
    by_address: HashMap<AddressKey, usize>,
}

/// How often the connections are checked within the shortest time that one may be unused.
const CHECKS: u32 = 2;

/// How often connections are checked, and at how many checks in a row one may be unused. Time is
/// counted in checks: a check that comes late delays the end of a connection, and never hastens it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Checks {
    pub(crate) interval: Duration,
    /// In checks: how long a head may take.
    head: u128,
    /// In checks: how long a connection may be idle.
    idle: u128,
}

impl Checks {
    /// The interval follows the shorter of the two limits, so both are kept with the same
    /// precision.
    pub(crate) fn new(limits: &FrontLimits) -> Self {
        let interval = (limits.head.min(limits.idle) / CHECKS).max(Duration::from_millis(1));
        let looks = |limit: Duration| limit.as_nanos().div_ceil(interval.as_nanos());
        Self { interval, head: looks(limits.head), idle: looks(limits.idle) }
    }

    /// The same while there is no room for further connections: an idle one gets no longer than one
    /// that sends a head.
    pub(crate) fn when_full(self) -> Self {
        Self { idle: self.idle.min(self.head), ..self }
    }

    /// A timer for the first check.
    pub(crate) fn timer(self) -> CheckTimer {
        CheckTimer { interval: self.interval, next: Box::pin(sleep(self.interval)) }
    }
}

/// Tells when to check the connections next: no sooner than an interval after the last check, even if
/// that came late. A connection is judged by how many checks it has seen, so two checks that are too
/// close would cut it before its time. `tokio::time::Interval` makes up for ticks that are up to 5 ms
/// late.
pub(crate) struct CheckTimer {
    interval: Duration,
    next: Pin<Box<Sleep>>,
}

impl CheckTimer {
    /// Resolves when a check is due. Cancel-safe.
    pub(crate) async fn due(&mut self) {
        self.next.as_mut().await;
    }

    /// Notes that the connections have just been checked.
    pub(crate) fn restart(&mut self) {
        self.next.set(sleep(self.interval));
    }
}

impl Connections {
    pub(crate) fn new(capacity: Capacity) -> Self {
        Self { table: Arc::default(), capacity, searched: None, last: 0, are_leaving: false }
    }

    /// Whether an address may open another connection, in place of one of its own if necessary.
    pub(crate) fn admits(&mut self, address: AddressKey) -> bool {
        let count = lock(&self.table).by_address.get(&address).copied().unwrap_or_default();
        count < self.capacity.per_address || self.make_room(Some(address))
    }

    /// Serves a connection in a task of its own. `serve` makes the task, which holds the entry to its
    /// end.
    pub(crate) fn open(
        &mut self,
        (used, address): (ConnectionUse, AddressKey),
        serve: impl FnOnce(Arc<ConnectionUse>, TableEntry) -> BoxFuture<()>,
    ) {
        self.last += 1;
        let number = self.last;
        let used = Arc::new(used);
        if self.are_leaving {
            used.leave();
        }
        let entry = TableEntry { table: self.table.clone(), number };
        let served = serve(used.clone(), entry);
        // In the table before the task can end, and unlocked when it begins: a runtime that is
        // shutting down drops the task at once, and the entry of the task locks the table.
        lock(&self.table).insert(number, Open::new(used, address));
        let task = tokio::spawn(served);
        if let Some(open) = lock(&self.table).open.get_mut(&number) {
            open.task = Some(task.abort_handle());
        }
    }

    /// Checks every connection, and ends those that were unused for too long.
    pub(crate) fn check(&self, checks: Checks) {
        let now = Instant::now();
        self.cut(|open| match open.check(checks, now) {
            Verdict::Keep => false,
            Verdict::End => {
                open.used.end();
                false
            }
            Verdict::Cut => true,
        });
    }

    /// Cuts the connections that `is_cut` picks: aborts their tasks. Tasks are aborted after the
    /// table is unlocked: an aborted task drops its entry, which locks the table.
    fn cut(&self, mut is_cut: impl FnMut(&mut Open) -> bool) {
        let tasks: Vec<_> = {
            let mut table = lock(&self.table);
            let open = table.open.values_mut();
            open.filter_map(|open| is_cut(open).then(|| open.task.clone()).flatten()).collect()
        };
        tasks.iter().for_each(AbortHandle::abort);
    }

    /// Ends every connection after its next answer, also those that are opened later.
    pub(crate) fn leave(&mut self) {
        self.are_leaving = true;
        for open in lock(&self.table).open.values() {
            open.used.leave();
        }
    }

    /// Asks every connection to end once it has answered what has come. Each then finishes the
    /// requests in flight. Over HTTP/1.1 it closes after them, over HTTP/2 it sends GOAWAY.
    pub(crate) fn end(&self) {
        for open in lock(&self.table).open.values() {
            open.used.end();
        }
    }
}

impl Table {
    fn insert(&mut self, number: u64, open: Open) {
        *self.by_address.entry(open.address).or_default() += 1;
        self.open.insert(number, open);
    }

    fn remove(&mut self, number: u64) {
        let Some(Open { address, .. }) = self.open.remove(&number) else { return };
        if let Entry::Occupied(mut count) = self.by_address.entry(address) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

impl Drop for Connections {
    fn drop(&mut self) {
        self.cut(|_| true);
    }
}

/// The entry of a connection in the table. Dropping it, with the task, removes the entry.
pub(crate) struct TableEntry {
    table: Arc<Mutex<Table>>,
    number: u64,
}

impl Drop for TableEntry {
    fn drop(&mut self) {
        lock(&self.table).remove(self.number);
    }
}

/// What the checks know of one connection.
struct Open {
    used: Arc<ConnectionUse>,
    /// Where it comes from. An IPv6 network of 64 bits is one address.
    address: AddressKey,
    /// When it was accepted, or the last check that found it in use.
    used_at: Instant,
    /// `None` until the task has begun. It is set right after the task was spawned, outside of the
    /// lock.
    task: Option<AbortHandle>,
    /// How many requests had come at the last check.
    before: usize,
    /// At how many checks in a row it was unused.
    unused: u128,
    /// Whether the client has begun to send a head and has not finished it.
    has_begun: bool,
    /// The value of `unused` when the server asked the connection to end.
    asked: Option<u128>,
}

/// What a check decides about a connection.
///
/// An idle connection is asked to end first, and cut if it has not ended after a further time for a
/// head. One in the middle of a head of HTTP/1.1 is cut at once.
enum Verdict {
    Keep,
    /// End it in the way of its protocol.
    End,
    /// Abort its task.
    Cut,
}

impl Open {
    fn new(used: Arc<ConnectionUse>, address: AddressKey) -> Self {
        Self {
            used,
            address,
            used_at: Instant::now(),
            task: None,
            before: 0,
            unused: 0,
            has_begun: true,
            asked: None,
        }
    }

    /// A connection is in use while a request is in flight or bytes of an answer wait to be written.
    /// Otherwise it is idle, or the client is sending a head. A client that is silent in the middle
    /// of a head has as long as one that sends the head byte by byte.
    fn check(&mut self, checks: Checks, now: Instant) -> Verdict {
        let used = &self.used;
        let requests = used.requests();
        let has_come = std::mem::replace(&mut self.before, requests) != requests;
        let traffic = &used.traffic;
        if has_come || used.is_in_flight() || traffic.waits() {
            (self.unused, self.has_begun, self.asked) = (0, false, None);
            self.used_at = now;
            return Verdict::Keep;
        }
        // Over HTTP/2, bytes that come in need not be a request.
        let is_http2 = used.is_http2();
        if traffic.has_read() && !self.has_begun && !is_http2 {
            (self.unused, self.has_begun) = (0, true);
        }
        self.unused += 1;
        let most = if self.has_begun { checks.head } else { checks.idle };
        match self.asked {
            _ if self.unused <= most => Verdict::Keep,
            // HTTP/1.1 has no way to end a connection in the middle of a head.
            _ if self.has_begun && !is_http2 => Verdict::Cut,
            None => {
                self.asked = Some(self.unused);
                Verdict::End
            }
            Some(asked) if self.unused > asked + checks.head => Verdict::Cut,
            Some(_) => Verdict::Keep,
        }
    }
}

/// Drives a connection to its end, or ends it early when it is asked to ([`ConnectionUse::end`]).
///
/// `held` is the entry and the permit of the connection. They are released when the future ends or
/// is dropped, not when the client closes its side, so that the bound counts what really exists.
pub(crate) async fn drive<C: GracefulConnection, T>(
    mut connection: Pin<Box<C>>,
    used: Arc<ConnectionUse>,
    held: T,
) {
    let (mut is_begun, mut is_asked) = (false, false);
    let ended = poll_fn(|cx| {
        if !std::mem::replace(&mut is_begun, true) {
            // The task stays the same, and so does its waker.
            used.serve(cx.waker());
        }
        if !is_asked && used.is_ending() {
            is_asked = true;
            // Polled once more: a request that has come by now is still answered.
            if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
                return Poll::Ready(ended);
            }
            connection.as_mut().graceful_shutdown();
        }
        connection.as_mut().poll(cx)
    });
    // An error means that the client went away or speaks no HTTP; there is no one to report it to.
    let _ = ended.await;
    drop(held);
}

#[cfg(test)]
mod tests;
