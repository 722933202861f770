//! How many requests an HTTP/2 connection carries, and how many its server allows at a time.
//!
//! A request beyond that number would wait unsent until another one ends, and a subscription does not
//! end. So the pool opens another connection then.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use hyper::client::conn::http2;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioExecutor;

use super::super::super::fetch::RequestBody;

/// What hyper assumes until the server has named its limit.
const ASSUMED: usize = 100;

/// The streams of one connection.
pub(super) struct Streams {
    open: AtomicUsize,
    most: AtomicUsize,
}

impl Streams {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { open: AtomicUsize::new(0), most: AtomicUsize::new(ASSUMED) })
    }

    /// Whether a further request would be sent at once.
    pub(super) fn has_room(&self) -> bool {
        self.open.load(Ordering::Relaxed) < self.most.load(Ordering::Relaxed)
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

/// Reads and writes a connection, and notes the limit of its server.
pub(super) struct Driving<T: Read + Write + Unpin + Send + 'static> {
    pub(super) connection: http2::Connection<T, RequestBody, TokioExecutor>,
    pub(super) streams: Arc<Streams>,
}

impl<T: Read + Write + Unpin + Send + 'static> Future for Driving<T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let ended = Pin::new(&mut self.connection).poll(cx);
        let most = self.connection.current_max_send_streams();
        self.streams.most.store(most, Ordering::Relaxed);
        // Its error is dropped here, because the requests that wait get it too.
        ended.map(drop)
    }
}
