//! The accept loop: HTTP on a socket of our own, with time limits and a graceful shutdown.
//!
//! [`Listener::serve`] is one future: it accepts, checks the connections from time to time, and
//! ends them at the end. Each connection runs in a task of its own. The number of connections is
//! bounded by permits, and a permit is taken *before* a connection is accepted; so beyond the bound
//! clients wait in the queue of the system and cost this process nothing.
//!
//! How a connection becomes an answer: [`tcp::prepare`] sets its options, [`WatchedSocket`] watches
//! that the client reads, [`protocol::serve`] speaks HTTP on it, and for each request the
//! endpoint's `answer_to` runs.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::Peer;
use bowline_transport::BoxFuture;
use hyper::service::service_fn;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};

use super::answer::Answer;
use super::connection_use::ConnectionUse;
use super::connections::{Checks, Connections, TableEntry};
use super::endpoint::Endpoint;
use super::inbound::{Inbound, Sender};
use super::read_pace::MinimumPace;
use super::socket::WatchedSocket;
use super::{protocol, tcp};

/// How long to wait after the system could not accept a connection, for example because too many
/// files are open.
const PAUSE: Duration = Duration::from_millis(100);

/// How long it may take to write the errors of calls that were ended.
const LAST_ANSWERS: Duration = Duration::from_millis(500);

/// Listens on an address and serves an endpoint to every client that connects.
///
/// It is for programs that serve nothing else. To serve other paths too, mount the [`Endpoint`] in
/// an HTTP server such as axum instead.
pub struct Listener {
    listener: TcpListener,
    /// Every other path is answered 404.
    path: String,
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
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|source| BindError { address, source })?;
        Ok(Self { listener, path: path.into() })
    }

    /// The address that is listened on, with the port that the system chose if none was asked for.
    ///
    /// # Errors
    ///
    /// If the system cannot report it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` resolves. Then no further connection is accepted, subscriptions and streams
    /// of sessions end, and calls may run on for [`HttpLimits::drain`]. Calls that run even then are
    /// answered with an error.
    ///
    /// [`HttpLimits::drain`]: super::HttpLimits::drain
    ///
    /// The steps of the end: the socket is closed, so that a new process can bind the address; the
    /// endpoint stops; every connection is asked to end once it has answered what has come; after
    /// [`HttpLimits::drain`] calls are answered with an error, and connections get half a second to
    /// write it. Dropping this future cuts all connections at once.
    pub async fn serve(self, endpoint: Endpoint, stop: impl Future<Output = ()>) {
        let limits = endpoint.config().limits().clone();
        let places = u32::try_from(limits.connections).unwrap_or(u32::MAX);
        let room = Arc::new(Semaphore::new(places as usize));
        // Dropped at the end, also if this future is dropped: that cuts all connections.
        let mut connections = Connections::default();
        let checks = Checks::new(&limits);
        let mut timer = checks.timer();
        let path: Arc<str> = self.path.into();
        let mut stop = std::pin::pin!(stop);
        loop {
            let mut next = std::pin::pin!(async {
                let permit = room.clone().acquire_owned().await;
                (permit, self.listener.accept().await)
            });
            let next = loop {
                tokio::select! {
                    () = &mut stop => break None,
                    next = &mut next => break Some(next),
                    () = timer.due() => {
                        match room.available_permits() {
                            0 => connections.check(checks.when_full()),
                            _ => connections.check(checks),
                        }
                        timer.restart();
                    }
                }
            };
            let Some((permit, accepted)) = next else { break };
            let Ok((stream, peer)) = accepted else {
                tokio::time::sleep(PAUSE).await;
                continue;
            };
            connections.open(ConnectionUse::new(endpoint.clone()), |used, entry| {
                let (endpoint, path) = (endpoint.clone(), path.clone());
                let connection = Connection { endpoint, path, peer, used, held: (entry, permit) };
                connection.serve(stream)
            });
        }
        drop(self.listener);
        endpoint.stop();
        connections.end();
        // All connections have ended when all permits are free again.
        let mut ended = std::pin::pin!(room.acquire_many(places));
        if tokio::time::timeout(limits.drain, &mut ended).await.is_err() {
            endpoint.give_up();
            let _ = tokio::time::timeout(LAST_ANSWERS, ended).await;
        }
    }
}

/// What the task of a connection needs, moved into it when it begins.
struct Connection {
    endpoint: Endpoint,
    path: Arc<str>,
    /// The other end of the connection; a proxy, if there is one in front.
    peer: SocketAddr,
    used: Arc<ConnectionUse>,
    /// Its entry in the table and its permit; both are released when it ends.
    held: (TableEntry, Result<OwnedSemaphorePermit, AcquireError>),
}

impl Connection {
    /// The caller is looked up once for the connection, by address. A request whose credentials
    /// name an owner is counted for that owner instead.
    fn serve(self, stream: TcpStream) -> BoxFuture<()> {
        let Self { endpoint, path, peer, used, held } = self;
        let limits = endpoint.config().limits();
        tcp::prepare(&stream, limits);
        let socket = WatchedSocket::new(stream, used.traffic.clone(), MinimumPace::new(limits));
        let peer = Peer(peer.ip());
        let sender = Sender::connected(peer);
        let caller = endpoint.caller(peer);
        let connection = used.clone();
        let service = service_fn(move |request: http::Request<hyper::body::Incoming>| {
            let in_flight = connection.begin();
            let is_here = request.uri().path() == &*path;
            #[cfg(feature = "http2")]
            let is_http2 = request.version() == http::Version::HTTP_2;
            let (parts, body) = request.into_parts();
            let mut inbound = Inbound::new(parts, sender.clone(), caller.clone());
            async move {
                let endpoint = &in_flight.connection().endpoint;
                let response = match is_here {
                    true => endpoint.answer_to(&mut inbound, pin!(body)).await,
                    false => endpoint.not_here(&inbound),
                };
                in_flight.connection().traffic.answered();
                let response = response.map(|body| Answer::new(body, in_flight));
                #[cfg(feature = "http2")]
                if is_http2 {
                    return Ok(response.map(Answer::flowing));
                }
                Ok::<_, Infallible>(response)
            }
        });
        protocol::serve(endpoint.config(), socket, service, used, held)
    }
}

/// Why a [`Listener`] could not be bound.
#[derive(Debug)]
pub struct BindError {
    address: SocketAddr,
    source: io::Error,
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot listen on {}", self.address)
    }
}

impl std::error::Error for BindError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;

    use hyper::body::Incoming;

    use super::*;

    /// The size of the future that a function returns.
    fn size<A, F>(_: fn(A) -> F) -> usize {
        size_of::<F>()
    }

    // Every connection stores one such future, and there may be ten thousand idle connections.
    #[test]
    fn the_answer_to_a_request_is_small() {
        type Arguments = (&'static Endpoint, &'static mut Inbound, Pin<&'static mut Incoming>);
        let answer = size(|(endpoint, inbound, body): Arguments| endpoint.answer_to(inbound, body));
        assert!(answer <= 1280, "{answer} bytes");
    }
}
