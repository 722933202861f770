//! The body of an HTTP answer, which keeps its request in flight until HTTP has taken all of it.
//!
//! [`Connections`](crate::connections::Connections) must not close a connection while an answer is
//! being written. The handler may have ended long before, so the guard travels with the body.

use std::pin::Pin;
#[cfg(feature = "http2")]
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};

use crate::connection_use::InFlight;
#[cfg(feature = "http2")]
use crate::flow::Flow;
use crate::service::BoxError;

/// The body of an answer, with the request that it keeps in flight.
///
/// The connection wraps the body of every answer into one. Over HTTP/2 it also holds back the next piece until
/// the client has taken the last one. Only so the server knows how much the client reads.
pub(crate) struct Answer<B> {
    body: B,
    /// Dropped with the answer.
    _in_flight: InFlight,
    /// `None` over HTTP/1.1.
    #[cfg(feature = "http2")]
    flow: Option<Arc<Flow>>,
}

impl<B> Answer<B> {
    pub(crate) fn new(body: B, in_flight: InFlight) -> Self {
        Self {
            body,
            _in_flight: in_flight,
            #[cfg(feature = "http2")]
            flow: None,
        }
    }

    /// The same on a stream of HTTP/2, where the next piece waits until the client has taken the
    /// one before. Called in the task of the stream, which is where [`Flow::current`] finds the
    /// flow.
    #[cfg(feature = "http2")]
    pub(crate) fn flowing(self) -> Self {
        Self { flow: Flow::current(), ..self }
    }
}

impl<B> http_body::Body for Answer<B>
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Data = Piece;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Piece>, BoxError>>> {
        #[cfg(feature = "http2")]
        if let Some(flow) = &self.flow
            && let Err(stalled) = std::task::ready!(flow.poll_taken(cx))
        {
            // Over HTTP/1.1 the socket fails instead of the answer.
            return Poll::Ready(Some(Err(stalled.into())));
        }
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        let piece = |bytes: Bytes| Piece {
            #[cfg(feature = "http2")]
            flow: self.flow.as_ref().map(|flow| flow.give(&bytes)),
            bytes,
        };
        Poll::Ready(frame.map(|frame| frame.map(|it| it.map_data(piece)).map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        #[cfg(feature = "http2")]
        if self.flow.as_ref().is_some_and(|flow| flow.is_waiting()) {
            // Only a stream that has not ended can be reset.
            return false;
        }
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A piece of an answer. hyper advances it as it writes, which is how [`Flow`](crate::flow::Flow)
/// learns what the client has taken.
pub(crate) struct Piece {
    bytes: Bytes,
    #[cfg(feature = "http2")]
    flow: Option<crate::flow::WaitingBytes>,
}

impl Buf for Piece {
    fn remaining(&self) -> usize {
        self.bytes.remaining()
    }

    fn chunk(&self) -> &[u8] {
        self.bytes.chunk()
    }

    fn advance(&mut self, count: usize) {
        self.bytes.advance(count);
        #[cfg(feature = "http2")]
        if let Some(given) = &mut self.flow {
            given.take(count);
        }
    }

    fn copy_to_bytes(&mut self, count: usize) -> Bytes {
        let bytes = self.bytes.copy_to_bytes(count);
        #[cfg(feature = "http2")]
        if let Some(given) = &mut self.flow {
            given.take(count);
        }
        bytes
    }
}
