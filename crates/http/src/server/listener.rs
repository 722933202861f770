//! An endpoint on a socket of our own, and the steps of its end.
//!
//! The connections are those of [`bowline_http_front`], which knows nothing of the protocol. Here is
//! what each of their requests becomes, and in which order endpoint and connections end.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

pub use bowline_http_front::BindError;
use bowline_http_front::{ArrivingBody, FrontConfig};
use bowline_proto::request::Peer;
use bowline_transport::BoxFuture;
use http::{Request, Response};
use tokio::time::timeout;

use super::body::Body;
use super::callers::Caller;
use super::config::HttpConfig;
use super::endpoint::Endpoint;
use super::health;
use super::inbound::{Inbound, Sender};

/// How long a replica that has closed its socket waits for the first request of each connection that it
/// had accepted. A balancer does not repeat a call that it has sent to a connection which is then closed.
const LAST_REQUESTS: Duration = Duration::from_millis(500);

/// How long it may take to write the errors of calls that were ended.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// Listens on an address and serves an endpoint to every client that connects.
///
/// It is for programs that serve nothing else. To serve other paths too, mount the [`Endpoint`] in
/// an HTTP server such as axum instead.
pub struct Listener {
    front: bowline_http_front::FrontListener,
    /// Beside it there are `/livez` and `/readyz` ([`health`]).
    path: Arc<str>,
}

impl Listener {
    /// Listens on an address, such as `127.0.0.1:3000`. The endpoint is served under this path.
    ///
    /// With port 0 the system chooses a free one, which [`address`](Self::address) returns.
    ///
    /// # Errors
    ///
    /// If the address is in use, or no address of this machine.
    pub async fn bind(address: SocketAddr, path: impl Into<String>) -> Result<Self, BindError> {
        let front = bowline_http_front::FrontListener::bind(address).await?;
        Ok(Self { front, path: path.into().into() })
    }

    /// The address that is listened on, with the port that the system chose if none was asked for.
    ///
    /// # Errors
    ///
    /// If the system cannot report it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.front.address()
    }

    /// Serves until `stop` resolves. Then no further connection is accepted, subscriptions and streams
    /// of sessions end, and calls may run on for [`HttpLimits::drain`]. Calls that run even then are
    /// answered with an error.
    ///
    /// [`HttpLimits::drain`]: super::HttpLimits::drain
    ///
    /// The steps of the end: with a shared store the listener serves on for
    /// [`HttpLimits::lame_duck`], while balancers turn to other replicas, unless the endpoint was
    /// [stopped](Endpoint::stop) before; the connections that the system has opened are accepted, and
    /// the socket is closed, so that a new process can bind the address; connections that were just
    /// accepted get a moment for their first request; the endpoint stops; every connection is asked to
    /// end once it has answered what has come; after [`HttpLimits::drain`] calls are answered with an
    /// error, and connections get half a second to write it. Dropping this future cuts all
    /// connections at once.
    ///
    /// [`HttpLimits::lame_duck`]: super::HttpLimits::lame_duck
    pub async fn serve(self, endpoint: Endpoint, stop: impl Future<Output = ()>) {
        let (limits, is_shared) = (endpoint.config().limits(), endpoint.config().is_shared);
        let services = |peer: SocketAddr| ConnectedEndpoint::new(&endpoint, &self.path, peer);
        let mut server = self.front.server(front(endpoint.config()), services);
        server.run_until(stop).await;
        if is_shared {
            endpoint.leave();
            server.leave();
            let over = async { _ = timeout(limits.lame_duck, endpoint.stopped()).await };
            server.run_until(over).await;
            server.end_accepting().await;
        }
        let closed = server.close();
        if is_shared {
            _ = timeout(LAST_REQUESTS, endpoint.stopped()).await;
        }
        endpoint.stop();
        closed.end_connections();
        if !closed.ended_within(limits.drain).await {
            endpoint.give_up();
            closed.ended_within(LAST_ANSWERS).await;
        }
    }
}

/// The settings of the connections.
fn front(config: &HttpConfig) -> FrontConfig {
    let front = FrontConfig::new(config.limits().front());
    #[cfg(feature = "http2")]
    if config.http2 {
        return front.with_http2();
    }
    front
}

/// The endpoint for the requests of one connection. Cloned for each of them.
#[derive(Clone)]
struct ConnectedEndpoint(Arc<Connected>);

struct Connected {
    endpoint: Endpoint,
    path: Arc<str>,
    sender: Sender,
    /// Looked up once for the connection, by address. A request whose credentials name an owner is
    /// counted for that owner instead.
    caller: Caller,
}

impl ConnectedEndpoint {
    /// `peer` is the other end of the connection; a proxy, if there is one in front.
    fn new(endpoint: &Endpoint, path: &Arc<str>, peer: SocketAddr) -> Self {
        let peer = Peer(peer.ip());
        Self(Arc::new(Connected {
            endpoint: endpoint.clone(),
            path: path.clone(),
            sender: Sender::connected(peer),
            caller: endpoint.caller(peer),
        }))
    }
}

impl tower_service::Service<Request<ArrivingBody>> for ConnectedEndpoint {
    type Response = Response<Body>;
    type Error = Infallible;
    /// Boxed, so that an idle connection stores nothing for it.
    type Future = BoxFuture<Result<Response<Body>, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<ArrivingBody>) -> Self::Future {
        let connected = self.0.clone();
        let is_here = request.uri().path() == &*connected.path;
        let (parts, body) = request.into_parts();
        let (sender, caller) = (connected.sender.clone(), connected.caller.clone());
        let mut inbound = Inbound::new(parts, sender, caller);
        Box::pin(async move {
            let endpoint = &connected.endpoint;
            let mut body = pin!(body);
            let response = match is_here {
                true => endpoint.answer_to(&mut inbound, body.as_mut()).await,
                false => health::answer(endpoint, &inbound.parts)
                    .unwrap_or_else(|| endpoint.not_here(&inbound)),
            };
            endpoint.count(&response);
            Ok(response)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use super::*;

    /// The size of the future that a function returns.
    fn size<A, F>(_: fn(A) -> F) -> usize {
        size_of::<F>()
    }

    // Every request that is being answered stores one such future; an idle connection stores none.
    #[test]
    fn the_answer_to_a_request_is_small() {
        type Arguments = (&'static Endpoint, &'static mut Inbound, Pin<&'static mut ArrivingBody>);
        let answer = size(|(endpoint, inbound, body): Arguments| endpoint.answer_to(inbound, body));
        assert!(answer <= 1360, "{answer} bytes");
    }
}
