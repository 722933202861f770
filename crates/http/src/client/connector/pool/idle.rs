//! The idle connections of a pool, and their expiry.
//!
//! One task closes what expires. It exists only while connections are idle, and holds the pool
//! weakly, so a client that is dropped leaves nothing behind.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use bowline_proto::sync::lock;
use bowline_transport::task;
use http_body::Body as _;
use hyper::body::Incoming as Received;
use hyper::client::conn::http2;
use tokio::time::{Instant, sleep_until};

use super::super::super::fetch::{Incoming, RequestBody};
use super::super::super::limits::HttpClientLimits;
use super::{LentBody, PooledConnection, Streams};

/// The idle connections of a pool. Shared by the pool and by the bodies of responses, which return
/// connections after the pool may be gone.
pub(in super::super) struct Idle {
    kept: Mutex<Kept>,
    /// How long an HTTP/1.1 connection is kept.
    single: Duration,
    /// How long an HTTP/2 connection is kept.
    shared: Duration,
}

/// Over HTTP/1.1 as many connections are kept as requests ran at the same time; over HTTP/2 as many
/// as the server's limit of streams demanded.
#[derive(Default)]
struct Kept {
    /// The idle HTTP/1.1 connections and since when, the latest last.
    single: Vec<(PooledConnection, Instant)>,
    /// The HTTP/2 connections; requests may be using them now.
    shared: Vec<SharedConnection>,
    /// Whether a task closes expired connections.
    is_watched: bool,
}

/// An HTTP/2 connection.
struct SharedConnection {
    sender: http2::SendRequest<RequestBody>,
    streams: Arc<Streams>,
    /// When the last request began.
    used: Instant,
}

impl SharedConnection {
    /// A handle for one more request.
    fn link(&mut self) -> PooledConnection {
        self.used = Instant::now();
        PooledConnection::Shared { sender: self.sender.clone(), _permit: self.streams.open() }
    }
}

impl Kept {
    /// An HTTP/2 connection that takes one more request at once. Closed ones are forgotten.
    fn shared_with_room(&mut self) -> Option<&mut SharedConnection> {
        self.shared.retain(|it| !it.sender.is_closed());
        self.shared.iter_mut().find(|it| it.streams.has_room())
    }
}

impl Idle {
    pub(in super::super) fn new(limits: &HttpClientLimits) -> Self {
        let HttpClientLimits { idle_http1: single, idle_http2: shared, .. } = *limits;
        Self { kept: Mutex::default(), single, shared }
    }

    /// Takes a connection, and returns since when it is idle: one that is ready, if there is one, and
    /// of those the last used.
    pub(super) fn take(&self) -> Option<(PooledConnection, Instant)> {
        let mut kept = self.kept();
        if let Some(shared) = kept.shared_with_room() {
            return Some((shared.link(), shared.used));
        }
        match kept.single.iter().rposition(|(link, _)| link.is_ready()) {
            Some(at) => Some(kept.single.remove(at)),
            None => kept.single.pop(),
        }
    }

    /// Closes the HTTP/1.1 connections.
    pub(super) fn clear(&self) {
        self.kept().single.clear();
    }

    /// Returns a connection whose response has been read.
    pub(super) fn put(self: &Arc<Self>, link: PooledConnection) {
        if let PooledConnection::Single { .. } = link {
            let mut kept = self.kept();
            kept.single.push((link, Instant::now()));
            self.watch(kept);
        }
    }

    /// Shares a new connection with all requests. If there is a shared one with room already, returns
    /// that one instead, and `false`.
    pub(super) fn share(
        self: &Arc<Self>,
        sender: http2::SendRequest<RequestBody>,
        streams: &Arc<Streams>,
    ) -> (PooledConnection, bool) {
        let mut kept = self.kept();
        if let Some(shared) = kept.shared_with_room() {
            return (shared.link(), false);
        }
        let streams = streams.clone();
        let mut new = SharedConnection { sender, streams, used: Instant::now() };
        let link = new.link();
        kept.shared.push(new);
        self.watch(kept);
        (link, true)
    }

    /// The body of a response; returns its connection when it has been read.
    pub(super) fn lend(self: &Arc<Self>, link: PooledConnection, body: Received) -> Incoming {
        if body.is_end_stream() {
            self.put(link);
            return Incoming::new(body);
        }
        Incoming::new(LentBody { body, link: Some(link), idle: self.clone() })
    }

    /// Starts the task that closes expired connections, unless it runs. Takes the guard, so that no
    /// two callers start one.
    fn watch(self: &Arc<Self>, mut kept: MutexGuard<'_, Kept>) {
        if !mem::replace(&mut kept.is_watched, true) {
            let first = Instant::now() + self.single.min(self.shared);
            task::spawn(watch(Arc::downgrade(self), first));
        }
    }

    /// Closes expired connections; returns when the next one expires, if any is left.
    fn close_old(&self) -> Option<Instant> {
        let mut kept = self.kept();
        let now = Instant::now();
        let old = kept.single.iter().take_while(|(_, since)| *since + self.single <= now).count();
        kept.single.drain(..old);
        kept.shared.retain(|it| it.used + self.shared > now);
        let single = kept.single.first().map(|(_, since)| *since + self.single);
        let shared = kept.shared.iter().map(|it| it.used + self.shared);
        let next = single.into_iter().chain(shared).min();
        kept.is_watched = next.is_some();
        next
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        lock(&self.kept)
    }
}

/// Closes expired connections, as long as there are any.
async fn watch(idle: Weak<Idle>, first: Instant) {
    let mut next = Some(first);
    while let Some(at) = next {
        sleep_until(at).await;
        next = idle.upgrade().and_then(|idle| idle.close_old());
    }
}
