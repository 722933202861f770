//! How many requests an HTTP/2 connection carries, and how many its server allows at a time.
//!
//! A request beyond that number would wait unsent until another one ends, and a subscription does not
//! end. So the pool opens another connection then.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bowline_proto::sync::lock;
use hyper::client::conn::http2;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioExecutor;

use super::super::super::fetch::RequestBody;

/// The streams of one connection.
pub(super) struct Streams {
    open: AtomicUsize,
    /// Reads the limit that the server has named last.
    limit: Box<dyn Fn() -> usize + Send + Sync>,
}

impl Streams {
    /// Those of a new connection, and the task that drives it.
    pub(super) fn of<T>(connection: Http2<T>) -> (Arc<Self>, Driving<T>)
    where
        T: Read + Write + Unpin + Send + 'static,
    {
        let connection = Arc::new(Mutex::new(connection));
        let driven = Arc::downgrade(&connection);
        // Read for each request: hyper reads the settings of the server in its own task, without a
        // notification. A connection that has ended takes no requests.
        let limit = move || driven.upgrade().map_or(0, |it| lock(&it).current_max_send_streams());
        let streams = Self { open: AtomicUsize::new(0), limit: Box::new(limit) };
        (Arc::new(streams), Driving(connection))
    }

    /// Whether a further request would be sent at once.
    pub(super) fn has_room(&self) -> bool {
        let open = self.open.load(Ordering::Relaxed);
        open == 0 || open < (self.limit)()
    }

    /// Counts a request until the permit is dropped.
    pub(super) fn open(self: &Arc<Self>) -> StreamPermit {
        self.open.fetch_add(1, Ordering::Relaxed);
        StreamPermit(self.clone())
    }
}

/// A request on a connection, up to the end of its response.
pub(super) struct StreamPermit(Arc<Streams>);

impl Drop for StreamPermit {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A connection of hyper.
type Http2<T> = http2::Connection<T, RequestBody, TokioExecutor>;

/// Reads and writes a connection.
pub(super) struct Driving<T: Read + Write + Unpin + Send + 'static>(Arc<Mutex<Http2<T>>>);

impl<T: Read + Write + Unpin + Send + 'static> Future for Driving<T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // Its error is dropped here, because the requests that wait get it too.
        Pin::new(&mut *lock(&self.0)).poll(cx).map(drop)
    }
}
