//! The socket of the authorization server: HTTP/1.1 on a free port of this machine.

use std::convert::Infallible;
use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bowline_proto::sync::lock;
use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper::client;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

use super::authority::Authority;
use super::oauth_answer::OAuthAnswer;
use super::oauth_request::OAuthRequest;
use super::request_log::OAuthEndpoint;
use super::route;

/// What is sent: an answer of an endpoint, or one of the server that shares the origin.
type AnswerBody = Either<Full<Bytes>, Incoming>;

/// A socket that listens, before its server exists: the issuer contains the port.
pub(super) struct LoopbackListener {
    listener: TcpListener,
    address: SocketAddr,
}

impl LoopbackListener {
    /// Listens on a free port.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub(super) async fn bind() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("this machine has a free port");
        let address = listener.local_addr().expect("the system knows the port");
        Self { listener, address }
    }

    /// The origin that clients reach it at.
    pub(super) fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Serves until the guard is dropped, which cuts all connections.
    pub(super) fn serve(self, authority: Arc<Authority>) -> ServingGuard {
        let serving = tokio::spawn(async move {
            let mut connections = JoinSet::new();
            loop {
                if let Ok((stream, _)) = self.listener.accept().await {
                    connections.spawn(serve_connection(stream, authority.clone()));
                }
                while connections.try_join_next().is_some() {}
            }
        });
        ServingGuard(serving.abort_handle())
    }
}

/// Ends the server when it is dropped.
pub(super) struct ServingGuard(AbortHandle);

impl Drop for ServingGuard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn serve_connection(stream: TcpStream, authority: Arc<Authority>) {
    let service = service_fn(move |request| {
        let authority = authority.clone();
        async move { Ok::<_, Infallible>(answer(&authority, request).await) }
    });
    // An error means that the client closed the connection, which it may do at any time.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(authority: &Arc<Authority>, request: Request<Incoming>) -> Response<AnswerBody> {
    let neighbour = *lock(&authority.neighbour);
    let endpoint = route::endpoint(authority, request.method(), request.uri().path());
    if let (Some(neighbour), OAuthEndpoint::Unknown) = (neighbour, endpoint) {
        return pass_on(neighbour, request).await.unwrap_or_else(|error| bad_gateway(&error));
    }
    let answer = match OAuthRequest::read(request).await {
        Some(request) => route::answer(authority, &request).await,
        None => OAuthAnswer::empty(StatusCode::BAD_REQUEST),
    };
    answer.into_response().map(AnswerBody::Left)
}

/// Passes a request on to another server, and its answer back.
async fn pass_on(
    server: SocketAddr,
    request: Request<Incoming>,
) -> Result<Response<AnswerBody>, hyper::Error> {
    let Ok(stream) = TcpStream::connect(server).await else {
        return Ok(bad_gateway(&"the server is gone"));
    };
    let (mut sender, connection) = client::conn::http1::handshake(TokioIo::new(stream)).await?;
    // It ends with the answer, or when the client hangs up.
    tokio::spawn(connection);
    Ok(sender.send_request(request).await?.map(AnswerBody::Right))
}

fn bad_gateway(reason: &dyn Display) -> Response<AnswerBody> {
    let mut response = Response::new(AnswerBody::Left(Full::from(reason.to_string())));
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}
