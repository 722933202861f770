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
use super::{LentBody, PooledConnection};

/// The idle connections of a pool. Shared by the pool and by the bodies of responses, which return
/// connections after the pool may be gone.
pub(in super::super) struct Idle {
    kept: Mutex<Kept>,
    /// How long an HTTP/1.1 connection is kept.
    single: Duration,
    /// How long an HTTP/2 connection is kept.
    shared: Duration,
}

/// Over HTTP/1.1 as many connections are kept as requests ran at the same time; over HTTP/2 one is
/// enough.
#[derive(Default)]
struct Kept {
    /// The idle HTTP/1.1 connections and since when, the latest last.
    single: Vec<(PooledConnection, Instant)>,
    /// The HTTP/2 connection and when it was last used; requests may be using it now.
    shared: Option<(http2::SendRequest<RequestBody>, Instant)>,
    /// Whether a task closes expired connections.
    is_watched: bool,
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
        if let Some((sender, used)) = kept.shared.as_mut().filter(|(it, _)| !it.is_closed()) {
            *used = Instant::now();
            return Some((PooledConnection::Shared(sender.clone()), *used));
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

    /// Shares a new connection with all requests. If there is a shared one already, returns that one
    /// instead, and `false`.
    pub(super) fn share(
        self: &Arc<Self>,
        new: http2::SendRequest<RequestBody>,
    ) -> (http2::SendRequest<RequestBody>, bool) {
        let mut kept = self.kept();
        if let Some((sender, _)) = kept.shared.as_ref().filter(|(it, _)| !it.is_closed()) {
            return (sender.clone(), false);
        }
        kept.shared = Some((new.clone(), Instant::now()));
        self.watch(kept);
        (new, true)
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
        kept.shared.take_if(|(_, used)| *used + self.shared <= now);
        let single = kept.single.first().map(|(_, since)| *since + self.single);
        let shared = kept.shared.as_ref().map(|(_, used)| *used + self.shared);
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
