//! HTTP without a network: hyper on both sides of an in-memory stream, so that time stays virtual.
//!
//! Every request has its own connection. Streams and closed connections behave as on a socket.
//!
//! The client is the real one, with a service in place of sockets; the server is a real endpoint
//! behind hyper. The harness has no listener, so it tests no pools, no limits of connections and no
//! TCP options. The tests of the listener do.

use std::convert::Infallible;
use std::task::{Context, Poll};

use bowline_http::client::{BoxError, HttpTransport, RequestBody};
use bowline_http::server::{Body, Endpoint, failed};
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use http::header::{HOST, HeaderValue};
use http::uri::PathAndQuery;
use http::{Method, Request, Response, StatusCode, Uri};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{client, server};
use hyper_util::rt::TokioIo;
use tokio::io::DuplexStream;
use tower_service::Service;

/// The capacity of one direction of a connection, in bytes.
const BUFFER: usize = 64 * 1024;

/// A client transport to an endpoint, for a client of one revision. For 2024-11-05 the client has
/// to find out that the server speaks the older transport, as it would with a real one.
pub fn connect(endpoint: Endpoint, revision: Revision) -> HttpTransport {
    let http = InMemoryHttp { endpoint, is_streamable: revision.has_streamable_http() };
    HttpTransport::with_service("http://localhost/mcp", http).expect("the URL is valid")
}

/// An HTTP client service whose server is an endpoint in the same process. Cloned for each request.
#[derive(Clone)]
struct InMemoryHttp {
    endpoint: Endpoint,
    is_streamable: bool,
}

impl InMemoryHttp {
    /// Serves one connection.
    async fn serve(self, far: DuplexStream) {
        let answer = service_fn(move |request| {
            let http = self.clone();
            async move { Ok::<_, Infallible>(http.answer(request).await) }
        });
        // An error means that the client closed the connection, which it may do at any time.
        let _ =
            server::conn::http1::Builder::new().serve_connection(TokioIo::new(far), answer).await;
    }

    /// The endpoint speaks all revisions, so a server of 2024-11-05 has to be imitated by refusing
    /// what it would refuse.
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        // Plays a server of 2024-11-05: it refuses a Streamable HTTP POST, which the client tries
        // first, and takes messages only at the URL that the stream's `endpoint` event names.
        let is_streamable_post =
            request.method() == Method::POST && request.uri().query().is_none();
        if is_streamable_post && !self.is_streamable {
            let mut refusal = failed("post messages to the URL of the `endpoint` event");
            *refusal.status_mut() = StatusCode::METHOD_NOT_ALLOWED;
            return refusal;
        }
        self.endpoint.answer(request).await
    }
}

impl Service<Request<RequestBody>> for InMemoryHttp {
    type Response = Response<Incoming>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<Incoming>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<RequestBody>) -> Self::Future {
        request.headers_mut().insert(HOST, HeaderValue::from_static("localhost"));
        let place = request.uri().path_and_query().cloned();
        *request.uri_mut() = place.map_or_else(Uri::default, |place: PathAndQuery| place.into());
        let http = self.clone();
        Box::pin(async move {
            let (near, far) = tokio::io::duplex(BUFFER);
            tokio::spawn(http.serve(far));
            let (mut sender, connection) =
                client::conn::http1::handshake(TokioIo::new(near)).await?;
            tokio::spawn(connection);
            Ok(sender.send_request(request).await?)
        })
    }
}
