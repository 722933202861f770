//! The body of an HTTP answer: nothing, one message, or a stream of events.
//!
//! The body is polled by the HTTP server (hyper, or the server of an outer program). It is pulled
//! and never pushed: nothing is made before the client has room for it.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use bowline_proto::codec::sse;
use bowline_transport::BoxFuture;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

/// The body of an answer: nothing, one JSON message, or a stream of server-sent events.
///
/// Its errors are [`Infallible`]: a stream that cannot go on just ends, and the client resumes it
/// or sends its request again.
pub struct Body {
    kind: Kind,
}

/// JSON has a known length, so it is sent with `Content-Length`; a stream has none.
enum Kind {
    Empty,
    /// Given out as one piece, then empty.
    Full(Bytes),
    Events(Box<Events>),
}

/// A stream of events. While the source is silent, comments keep the connection alive.
struct Events {
    source: Box<dyn EventSource>,
    interval: Duration,
    /// Runs from the last piece; at its end a comment is sent.
    silence: Pin<Box<Sleep>>,
    /// When the stream ends, whatever its source has to say.
    end: Option<Pin<Box<Sleep>>>,
}

/// Where the events of a stream come from. Dropped when the client hangs up. Dropping it is how a
/// source learns that the client is gone.
pub(super) trait EventSource: Send {
    /// The next piece of text for the wire, or `None` at the end. Layers around the endpoint may poll
    /// again after the end.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

impl Body {
    pub(super) fn empty() -> Self {
        Self { kind: Kind::Empty }
    }

    pub(super) fn full(bytes: Bytes) -> Self {
        Self { kind: Kind::Full(bytes) }
    }

    pub(super) fn events(source: Box<dyn EventSource>, keep_alive: Duration) -> Self {
        let silence = Box::pin(sleep(keep_alive));
        let events = Events { source, interval: keep_alive, silence, end: None };
        Self { kind: Kind::Events(Box::new(events)) }
    }

    /// The same body, but a stream ends at this time. Its client resumes it with a new credential.
    pub(super) fn until(mut self, end: Instant) -> Self {
        if let Kind::Events(events) = &mut self.kind {
            events.end = Some(Box::pin(sleep_until(end)));
        }
        self
    }
}

impl Events {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Some(end) = &mut self.end
            && end.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(None);
        }
        if let Poll::Ready(piece) = self.source.poll_piece(cx) {
            self.restart();
            return Poll::Ready(piece);
        }
        std::task::ready!(self.silence.as_mut().poll(cx));
        self.restart();
        // The timer was reset, and wakes this task only after it has been polled again.
        cx.waker().wake_by_ref();
        Poll::Ready(Some(Bytes::from_static(sse::KEEP_ALIVE)))
    }

    /// Every piece, a comment too, begins the silence anew.
    fn restart(&mut self) {
        self.silence.as_mut().reset(Instant::now() + self.interval);
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match &mut self.kind {
            Kind::Empty => None,
            Kind::Full(bytes) => Some(std::mem::take(bytes)),
            Kind::Events(events) => {
                let piece = std::task::ready!(events.poll_piece(cx));
                return Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))));
            }
        };
        self.kind = Kind::Empty;
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.kind, Kind::Empty)
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Full(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            Kind::Empty => "Body(empty)",
            Kind::Full(_) => "Body(message)",
            Kind::Events(_) => "Body(events)",
        })
    }
}

/// A stream of events that is written as an async function.
///
/// The streams of sessions are written so, because they wait for the store; a modern stream only
/// polls and implements [`EventSource`] itself.
pub(super) trait EventStream: Sized + Send + 'static {
    /// The next piece and the stream after it, or `None` at the end. If the client hangs up, the
    /// future is dropped at any of its await points.
    ///
    /// The stream is boxed: passed by value into an `async fn`, it would be stored twice in the
    /// future.
    fn next_piece(self: Box<Self>) -> impl Future<Output = Option<(Bytes, Box<Self>)>> + Send;
}

/// An [`EventSource`] that polls an [`EventStream`]. The next piece is begun as soon as one was
/// taken, but runs only when polled.
pub(super) struct StreamSource<T> {
    /// The piece that is being made. `None` after the end.
    next: Option<NextPiece<T>>,
}

type NextPiece<T> = BoxFuture<Option<(Bytes, Box<T>)>>;

impl<T: EventStream> StreamSource<T> {
    pub(super) fn new(stream: T) -> Box<Self> {
        Box::new(Self { next: Some(Box::pin(Box::new(stream).next_piece())) })
    }
}

impl<T: EventStream> EventSource for StreamSource<T> {
    /// The next piece of the source, or a comment if the source has been silent for `interval`.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Some(next) = &mut self.next else { return Poll::Ready(None) };
        let (piece, stream) = std::task::ready!(next.as_mut().poll(cx)).unzip();
        self.next = stream.map(|stream| -> NextPiece<T> { Box::pin(stream.next_piece()) });
        Poll::Ready(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Twice(u8);

    impl EventStream for Twice {
        async fn next_piece(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
            self.0 = self.0.checked_sub(1)?;
            Some((Bytes::from_static(b"piece"), self))
        }
    }

    #[test]
    fn a_stream_that_is_over_stays_over() {
        let mut body = StreamSource::new(Twice(2));
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let mut next = || body.poll_piece(&mut cx).map(|piece| piece.is_some());
        assert_eq!([(); 4].map(|()| next()), [true, true, false, false].map(Poll::Ready));
    }
}
