//! The body of an answer, which keeps its connection in use until HTTP has taken all of it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};

use super::body::Body;
use super::endpoint::Endpoint;
#[cfg(feature = "http2")]
use super::flow::Flow;
use super::stall::Traffic;

/// Held from the time when a request has come until HTTP has taken all of its answer.
pub(super) type Turn = Arc<Answering>;

/// What answers the requests of a connection.
pub(super) struct Answering {
    pub(super) endpoint: Endpoint,
    pub(super) traffic: Arc<Traffic>,
}

/// What an answer carries, during a turn.
pub(super) struct Answer {
    body: Body,
    /// Only held.
    _turn: Turn,
    #[cfg(feature = "http2")]
    flow: Option<Arc<Flow>>,
}

/// Why an answer breaks off.
#[cfg(feature = "http2")]
pub(super) type Failure = super::flow::Stalled;
#[cfg(not(feature = "http2"))]
pub(super) type Failure = std::convert::Infallible;

impl Answer {
    pub(super) fn new(body: Body, turn: Turn) -> Self {
        Self {
            body,
            _turn: turn,
            #[cfg(feature = "http2")]
            flow: None,
        }
    }

    /// The same on a stream of HTTP/2: it goes on only as fast as its client takes it.
    #[cfg(feature = "http2")]
    pub(super) fn flowing(self) -> Self {
        Self { flow: Flow::current(), ..self }
    }
}

impl http_body::Body for Answer {
    type Data = Piece;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Piece>, Failure>>> {
        #[cfg(feature = "http2")]
        if let Some(flow) = &self.flow {
            match std::task::ready!(flow.poll_taken(cx)) {
                Ok(()) => {}
                Err(stalled) => return Poll::Ready(Some(Err(stalled))),
            }
        }
        let frame = std::task::ready!(Pin::new(&mut self.body).poll_frame(cx));
        let piece = |bytes: Bytes| Piece {
            #[cfg(feature = "http2")]
            flow: self.flow.as_ref().map(|flow| flow.give(&bytes)),
            bytes,
        };
        Poll::Ready(frame.map(|Ok(frame)| Ok(frame.map_data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        #[cfg(feature = "http2")]
        if self.flow.as_ref().is_some_and(|flow| flow.is_waiting()) {
            // As long as it has not ended, the stream can be reset.
            return false;
        }
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A piece of an answer.
pub(super) struct Piece {
    bytes: Bytes,
    #[cfg(feature = "http2")]
    flow: Option<super::flow::Given>,
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
