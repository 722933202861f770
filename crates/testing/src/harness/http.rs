//! HTTP without a network: hyper on both sides of a channel in memory, so that time stays virtual.
//!
//! Every request has a connection of its own. Hanging up, streams and all else that the protocol
//! makes of HTTP are what they are on a socket.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use bowline::types::revision::Revision;
use bowline_http::client::{Body as Message, BoxError, HttpTransport};
use bowline_http::server::{Body, Endpoint, failed};
use http::header::{HOST, HeaderValue};
use http::uri::PathAndQuery;
use http::{Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{client, server};
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use tower_service::Service;

/// Bytes that are on their way at once.
const BUFFER: usize = 64 * 1024;

/// A way to an endpoint that is spoken to in one revision.
pub(super) fn reach(endpoint: Endpoint, revision: Revision) -> HttpTransport {
    let wire = Wire { endpoint, is_streamable: revision.has_streamable_http() };
    HttpTransport::with_service("http://localhost/mcp", wire).expect("it is an address")
}

/// Carries requests to an endpoint.
#[derive(Clone)]
struct Wire {
    endpoint: Endpoint,
    is_streamable: bool,
}

impl Wire {
    /// Serves one connection.
    async fn serve(self, far: DuplexStream) {
        let answer = service_fn(move |request| {
            let wire = self.clone();
            async move { Ok::<_, Infallible>(wire.answer(request).await) }
        });
        // Clients hang up whenever they like.
        let _ =
            server::conn::http1::Builder::new().serve_connection(TokioIo::new(far), answer).await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        // Who knows no Streamable HTTP takes messages only where its stream says, and a client
        // tries the other way first.
        let is_astray = request.method() == Method::POST && request.uri().query().is_none();
        if is_astray && !self.is_streamable {
            let mut refusal = failed("messages are posted where the stream says");
            *refusal.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            return refusal;
        }
        self.endpoint.answer(request).await
    }
}

impl Service<Request<Message>> for Wire {
    type Response = Response<Incoming>;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Incoming>, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<Message>) -> Self::Future {
        request.headers_mut().insert(HOST, HeaderValue::from_static("localhost"));
        let place = request.uri().path_and_query().cloned();
        *request.uri_mut() = place.map_or_else(Uri::default, |place: PathAndQuery| place.into());
        let wire = self.clone();
        Box::pin(async move {
            let (near, far) = tokio::io::duplex(BUFFER);
            tokio::spawn(wire.serve(far));
            let (mut sender, connection) =
                client::conn::http1::handshake(TokioIo::new(near)).await?;
            tokio::spawn(connection);
            Ok(sender.send_request(request).await?)
        })
    }
}
