//! Connections that no request uses, until one does or their time is over.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use bowline_transport::task;
use http_body::Body as _;
use hyper::body::Incoming as Received;
use hyper::client::conn::http2;
use tokio::time::{Instant, sleep_until};

use super::super::super::fetch::{Body, Incoming};
use super::super::super::limits::HttpClientLimits;
use super::{Lent, Link};

/// Connections that no request uses.
pub(in super::super) struct Idle {
    kept: Mutex<Kept>,
    /// How long a connection of HTTP/1.1 is kept.
    single: Duration,
    /// How long a connection of HTTP/2 is kept.
    shared: Duration,
}

#[derive(Default)]
struct Kept {
    /// Those of HTTP/1.1 and since when, the latest last.
    single: Vec<(Link, Instant)>,
    /// That of HTTP/2 and when it was last asked for, whether a request uses it or not.
    shared: Option<(http2::SendRequest<Body>, Instant)>,
    /// Whether someone sees to it that none is kept for too long.
    is_watched: bool,
}

impl Idle {
    pub(in super::super) fn new(limits: &HttpClientLimits) -> Self {
        let HttpClientLimits { idle_http1: single, idle_http2: shared, .. } = *limits;
        Self { kept: Mutex::default(), single, shared }
    }

    /// The best of them, and since when it is kept: ready if any is, and the last one used.
    pub(super) fn take(&self) -> Option<(Link, Instant)> {
        let mut kept = self.kept();
        if let Some((sender, used)) = kept.shared.as_mut().filter(|(it, _)| !it.is_closed()) {
            *used = Instant::now();
            return Some((Link::Shared(sender.clone()), *used));
        }
        match kept.single.iter().rposition(|(link, _)| link.is_ready()) {
            Some(at) => Some(kept.single.remove(at)),
            None => kept.single.pop(),
        }
    }

    /// Closes those of HTTP/1.1.
    pub(super) fn clear(&self) {
        self.kept().single.clear();
    }

    /// Keeps a connection whose answer has been read.
    pub(super) fn put(self: &Arc<Self>, link: Link) {
        if let Link::Single { .. } = link {
            let mut kept = self.kept();
            kept.single.push((link, Instant::now()));
            self.watch(kept);
        }
    }

    /// Offers a new connection to all requests; gives the one that they use already, if there is
    /// one, and whether it is the new one.
    pub(super) fn share(
        self: &Arc<Self>,
        new: http2::SendRequest<Body>,
    ) -> (http2::SendRequest<Body>, bool) {
        let mut kept = self.kept();
        if let Some((sender, _)) = kept.shared.as_ref().filter(|(it, _)| !it.is_closed()) {
            return (sender.clone(), false);
        }
        kept.shared = Some((new.clone(), Instant::now()));
        self.watch(kept);
        (new, true)
    }

    /// The body of an answer, which puts its connection back when it has been read.
    pub(super) fn lend(self: &Arc<Self>, link: Link, body: Received) -> Incoming {
        if body.is_end_stream() {
            self.put(link);
            return Incoming::new(body);
        }
        Incoming::new(Lent { body, link: Some(link), idle: self.clone() })
    }

    fn watch(self: &Arc<Self>, mut kept: MutexGuard<'_, Kept>) {
        if !mem::replace(&mut kept.is_watched, true) {
            let first = Instant::now() + self.single.min(self.shared);
            task::spawn(watch(Arc::downgrade(self), first));
        }
    }

    /// Closes those whose time is over; says when to look again, if any is left.
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

    /// Nothing that runs under the lock can panic half-way.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sees to it that none is kept for too long, as long as there are any.
async fn watch(idle: Weak<Idle>, first: Instant) {
    let mut next = Some(first);
    while let Some(at) = next {
        sleep_until(at).await;
        next = idle.upgrade().and_then(|idle| idle.close_old());
    }
}
