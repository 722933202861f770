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
use super::{Lent, Link};

/// How long a connection without requests is kept. Shorter than what servers allow, so that they
/// rarely close one at the moment that it is used again.
pub(super) const KEPT: Duration = Duration::from_secs(30);

/// Connections that no request uses.
#[derive(Default)]
pub(in super::super) struct Idle(Mutex<Kept>);

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
    /// The best of them: ready if any is, and the last one used.
    pub(super) fn take(&self) -> Option<Link> {
        let mut kept = self.kept();
        if let Some((sender, used)) = kept.shared.as_mut().filter(|(it, _)| !it.is_closed()) {
            *used = Instant::now();
            return Some(Link::Shared(sender.clone()));
        }
        match kept.single.iter().rposition(|(link, _)| link.is_ready()) {
            Some(at) => Some(kept.single.remove(at).0),
            None => kept.single.pop().map(|(link, _)| link),
        }
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
            task::spawn(watch(Arc::downgrade(self)));
        }
    }

    /// Closes those whose time is over; says when to look again, if any is left.
    fn close_old(&self) -> Option<Instant> {
        let mut kept = self.kept();
        let now = Instant::now();
        let old = kept.single.iter().take_while(|(_, since)| *since + KEPT <= now).count();
        kept.single.drain(..old);
        kept.shared.take_if(|(_, used)| *used + KEPT <= now);
        let single = kept.single.first().map(|(_, since)| *since);
        let shared = kept.shared.as_ref().map(|(_, used)| *used);
        let oldest = single.into_iter().chain(shared).min();
        kept.is_watched = oldest.is_some();
        oldest.map(|oldest| oldest + KEPT)
    }

    /// Nothing that runs under the lock can panic half-way.
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sees to it that none is kept for too long, as long as there are any.
async fn watch(idle: Weak<Idle>) {
    let mut next = Some(Instant::now() + KEPT);
    while let Some(at) = next {
        sleep_until(at).await;
        next = idle.upgrade().and_then(|idle| idle.close_old());
    }
}
