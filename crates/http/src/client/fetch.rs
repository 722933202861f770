//! Whoever sends HTTP requests: any tower service, behind one trait.

use std::convert::Infallible;
use std::error::Error as StdError;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_transport::BoxFuture;
use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use tower_service::Service;

/// Why a request had no answer, in the words of whoever sent it.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// The body of a request: one message, or nothing.
#[derive(Clone, Debug, Default)]
pub struct Body(Option<Bytes>);

impl Body {
    pub(super) fn new(message: Bytes) -> Self {
        Self(Some(message).filter(|message| !message.is_empty()))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|message| Ok(Frame::data(message))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.as_ref().map_or(0, Bytes::len) as u64)
    }
}

/// Sends HTTP requests.
pub(super) trait Fetch: Send + Sync {
    fn fetch(
        self: Arc<Self>,
        request: Request<Body>,
    ) -> BoxFuture<Result<Response<Incoming>, BoxError>>;
}

/// A service that sends HTTP requests.
pub(super) struct By<S>(pub(super) S);

impl<S, B> Fetch for By<S>
where
    S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: http_body::Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    fn fetch(
        self: Arc<Self>,
        request: Request<Body>,
    ) -> BoxFuture<Result<Response<Incoming>, BoxError>> {
        let mut service = self.0.clone();
        Box::pin(async move {
            poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
            let response = service.call(request).await.map_err(Into::into)?;
            Ok(response.map(Incoming::new))
        })
    }
}

/// The body of an answer.
pub(super) struct Incoming(Pin<Box<dyn Pieces>>);

impl Incoming {
    pub(super) fn new<B>(body: B) -> Self
    where
        B: http_body::Body + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(Box::pin(body))
    }

    /// The next bytes, or `None` after the last. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        poll_fn(|cx| self.0.as_mut().poll_piece(cx)).await
    }

    /// Whether it is known that nothing more comes.
    pub(super) fn is_over(&self) -> bool {
        self.0.is_over()
    }
}

/// A body that comes in pieces.
trait Pieces: Send {
    fn poll_piece(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, BoxError>>>;

    fn is_over(&self) -> bool;
}

impl<B> Pieces for B
where
    B: http_body::Body + Send,
    B::Error: Into<BoxError>,
{
    fn poll_piece(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, BoxError>>> {
        loop {
            match std::task::ready!(self.as_mut().poll_frame(cx)) {
                Some(Ok(frame)) => {
                    // Trailers say nothing that the protocol knows.
                    if let Ok(mut data) = frame.into_data() {
                        let piece = data.copy_to_bytes(data.remaining());
                        return Poll::Ready(Some(Ok(piece)));
                    }
                }
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                None => return Poll::Ready(None),
            }
        }
    }

    fn is_over(&self) -> bool {
        self.is_end_stream()
    }
}
