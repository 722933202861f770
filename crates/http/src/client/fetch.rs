//! The HTTP client behind one trait: any tower service.
//!
//! The rest of the client needs one thing of HTTP: a request goes out, a response with a body in
//! pieces comes back. The built-in client (`connector`) and the service of a caller both come
//! behind this trait, so neither their types nor their errors reach further.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

// `failure.rs` looks for the few errors that it knows, and prints the others with their causes.
pub use bowline_transport::BoxError;
use bytes::{Buf, Bytes};
use futures_core::future::BoxFuture;
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use tower_service::Service;

/// The body of a request: one message, or nothing.
#[derive(Clone, Debug, Default)]
pub struct RequestBody(Option<Bytes>);

impl RequestBody {
    pub(super) fn new(message: Bytes) -> Self {
        Self(Some(message).filter(|message| !message.is_empty()))
    }
}

impl http_body::Body for RequestBody {
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

/// Sends HTTP requests. Shared by all exchanges of a transport. Redirects are followed by
/// `Shared::send`, not here.
pub(super) trait Fetch: Send + Sync {
    fn fetch(
        self: Arc<Self>,
        request: Request<RequestBody>,
    ) -> BoxFuture<'static, Result<Response<Incoming>, BoxError>>;
}

/// Sends HTTP requests by a tower service.
pub(super) struct ServiceFetch<S>(pub(super) S);

impl<S, B> Fetch for ServiceFetch<S>
where
    S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send,
    B: http_body::Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    fn fetch(
        self: Arc<Self>,
        request: Request<RequestBody>,
    ) -> BoxFuture<'static, Result<Response<Incoming>, BoxError>> {
        let mut service = self.0.clone();
        Box::pin(async move {
            poll_fn(|cx| service.poll_ready(cx)).await.map_err(Into::into)?;
            let response = service.call(request).await.map_err(Into::into)?;
            Ok(response.map(Incoming::new))
        })
    }
}

/// The body of a response.
///
/// With the built-in client, dropping it before its end closes the connection, or over HTTP/2 the
/// stream. That is how a call is cancelled on 2026-07-28.
pub(super) struct Incoming(Pin<Box<dyn Pieces>>);

impl Incoming {
    pub(super) fn new<B>(body: B) -> Self
    where
        B: http_body::Body + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Self(Box::pin(body))
    }

    /// Reads the next bytes; `None` after the last. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        poll_fn(|cx| self.0.as_mut().poll_piece(cx)).await
    }

    /// Whether the body is known to have ended.
    pub(super) fn is_over(&self) -> bool {
        self.0.is_over()
    }
}

/// A body that comes in pieces. Erases the type of the body, which depends on the HTTP client.
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
                    // The protocol uses no trailers.
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
