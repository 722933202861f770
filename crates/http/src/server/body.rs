//! What an HTTP answer carries: nothing, one message, or a stream of events.

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
use tokio::time::{Instant, Sleep, sleep};

/// What an answer carries.
pub struct Body {
    kind: Kind,
}

enum Kind {
    Empty,
    Full(Bytes),
    Events(Box<Events>),
}

/// A stream of events that is kept alive while it is silent.
struct Events {
    source: Box<dyn Source>,
    interval: Duration,
    silence: Pin<Box<Sleep>>,
}

/// Where the events of a stream come from, as text for the wire. Dropped when the client hangs up.
pub(super) trait Source: Send {
    /// The next piece, or `None` at the end.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

impl Body {
    pub(super) fn empty() -> Self {
        Self { kind: Kind::Empty }
    }

    pub(super) fn full(bytes: Bytes) -> Self {
        Self { kind: Kind::Full(bytes) }
    }

    pub(super) fn events(source: Box<dyn Source>, keep_alive: Duration) -> Self {
        let silence = Box::pin(sleep(keep_alive));
        let events = Events { source, interval: keep_alive, silence };
        Self { kind: Kind::Events(Box::new(events)) }
    }
}

impl Events {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Poll::Ready(piece) = self.source.poll_piece(cx) {
            self.restart();
            return Poll::Ready(piece);
        }
        std::task::ready!(self.silence.as_mut().poll(cx));
        self.restart();
        // The timer has to be looked at again, or nobody wakes us at its end.
        cx.waker().wake_by_ref();
        Poll::Ready(Some(Bytes::from_static(sse::KEEP_ALIVE)))
    }

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

/// A source whose pieces are made by an async function.
pub(super) struct Told<T> {
    telling: Telling<T>,
}

enum Telling<T> {
    Telling(BoxFuture<Option<(Bytes, Box<T>)>>),
    Over,
}

/// Somebody who tells a story piece by piece.
pub(super) trait Tell: Sized + Send + 'static {
    /// The next piece and whoever tells the rest, or `None` at the end. Dropped half-way if the
    /// client hangs up.
    ///
    /// Boxed, since a future has room twice for what it is handed.
    fn tell(self: Box<Self>) -> impl Future<Output = Option<(Bytes, Box<Self>)>> + Send;
}

impl<T: Tell> Told<T> {
    pub(super) fn by(teller: T) -> Box<Self> {
        Box::new(Self { telling: Telling::Telling(Box::pin(Box::new(teller).tell())) })
    }
}

impl<T: Tell> Source for Told<T> {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        let Telling::Telling(telling) = &mut self.telling else { return Poll::Ready(None) };
        match std::task::ready!(telling.as_mut().poll(cx)) {
            Some((piece, teller)) => {
                self.telling = Telling::Telling(Box::pin(teller.tell()));
                Poll::Ready(Some(piece))
            }
            None => {
                self.telling = Telling::Over;
                Poll::Ready(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Twice(u8);

    impl Tell for Twice {
        async fn tell(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
            self.0 = self.0.checked_sub(1)?;
            Some((Bytes::from_static(b"piece"), self))
        }
    }

    /// Layers around the endpoint may ask again after the end.
    #[test]
    fn a_stream_that_is_over_stays_over() {
        let mut body = Told::by(Twice(2));
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let mut next = || body.poll_piece(&mut cx).map(|piece| piece.is_some());
        assert_eq!([(); 4].map(|()| next()), [true, true, false, false].map(Poll::Ready));
    }
}
