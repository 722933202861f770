//! The body of a request while it arrives, so that the server knows which connections wait for one.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};

use super::connection_use::{AwaitedBody, ConnectionUse};

/// A body that notes on its connection when the server waits for it: from the first time that
/// something is missing until its end, however many bytes come meanwhile. Most bodies have come with
/// the head, and note nothing.
pub(super) struct ArrivingBody<B> {
    body: B,
    connection: Arc<ConnectionUse>,
    awaited: Option<AwaitedBody>,
}

impl<B> ArrivingBody<B> {
    pub(super) fn new(body: B, connection: Arc<ConnectionUse>) -> Self {
        Self { body, connection, awaited: None }
    }
}

impl<B: Body + Unpin> Body for ArrivingBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
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
