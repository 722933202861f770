//! The body of a request while it arrives, so that the server knows which connections wait for one.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;

use crate::connection_use::{AwaitedBody, ConnectionUse};

/// The body of a request, which arrives as it is polled.
///
/// It notes on its connection when the server waits for it: from the first time that something is
/// missing until its end, however many bytes come meanwhile. Most bodies have come with the head, and
/// note nothing. If it is dropped while something is still to come, the answer of HTTP/1.1 closes the
/// connection.
pub struct ArrivingBody {
    body: Incoming,
    connection: Arc<ConnectionUse>,
    awaited: Option<AwaitedBody>,
}

impl ArrivingBody {
    pub(crate) fn new(body: Incoming, connection: Arc<ConnectionUse>) -> Self {
        Self { body, connection, awaited: None }
    }

    /// Whether all of it has come. A piece that is there is discarded; this does not wait for more.
    ///
    /// hyper holds one piece at most while a request is answered, so a long body counts as still to
    /// come.
    fn has_come(&mut self) -> bool {
        let mut cx = Context::from_waker(Waker::noop());
        while !self.body.is_end_stream() {
            match Pin::new(&mut self.body).poll_frame(&mut cx) {
                Poll::Ready(Some(Ok(_))) => {}
                Poll::Ready(None) => return true,
                Poll::Ready(Some(Err(_))) | Poll::Pending => return false,
            }
        }
        true
    }
}

impl Body for ArrivingBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if polled.is_pending() {
            let Self { connection, awaited, .. } = &mut *self;
            awaited.get_or_insert_with(|| connection.await_body());
        } else if self.awaited.is_some() {
            let is_over = matches!(polled, Poll::Ready(None)) || self.body.is_end_stream();
            self.awaited = self.awaited.take().filter(|_| !is_over);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ArrivingBody {
    fn drop(&mut self) {
        // A stream of HTTP/2 ends without its connection.
        if !self.connection.is_http2() && !self.has_come() {
            self.connection.leave_body();
        }
    }
}

impl fmt::Debug for ArrivingBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ArrivingBody")
    }
}
