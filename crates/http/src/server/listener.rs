//! The accept loop: HTTP on a socket of our own, with time limits and a graceful shutdown.
//!
//! [`Listener::serve`] is one future: it accepts, checks the connections from time to time, and
//! ends them at the end. Each connection runs in a task of its own. The number of connections is
//! bounded by permits. Without a permit, one accepted connection waits for the others to
//! [make room](Connections::make_room), and further clients wait in the queue of the system, where
//! they cost this process nothing.
//!
//! How a connection becomes an answer: [`tcp::prepare`] sets its options, [`WatchedSocket`] watches
//! that the client reads, [`protocol::serve`] speaks HTTP on it, and for each request the
//! endpoint's `answer_to` runs.

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::callers::CallerId;
use bowline_proto::request::Peer;
use bowline_transport::BoxFuture;
use http::header::{CONNECTION, HeaderValue};
use hyper::service::service_fn;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::sleep;

use super::answer::Answer;
use super::arriving::ArrivingBody;
use super::capacity::Capacity;
use super::connection_use::ConnectionUse;
use super::connections::{CheckTimer, Checks, Connections, TableEntry};
use super::endpoint::Endpoint;
use super::inbound::{Inbound, Sender};
use super::limits::HttpLimits;
use super::read_pace::MinimumPace;
use super::socket::WatchedSocket;
use super::{health, protocol, read, tcp};

/// How long to wait after the system could not accept a connection, for example because too many
/// files are open, and how often connections are asked to make room for one that waits.
const PAUSE: Duration = Duration::from_millis(100);

/// How long clients may take to acknowledge connections that the system is opening.
const LAST_HANDSHAKES: Duration = Duration::from_millis(20);

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
    listener: TcpListener,
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
        let listener = TcpListener::bind(address).await;
        let listener = listener.map_err(|source| BindError { address, source })?;
        Ok(Self { listener, path: path.into().into() })
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
        let limits = endpoint.config().limits().clone();
        let mut accepting = AcceptLoop::new(self, endpoint.clone(), &limits);
        accepting.run_until(stop).await;
        if endpoint.config().is_shared {
            endpoint.leave();
            accepting.connections.leave();
            let stopped = endpoint.stopped();
            let over = async { _ = tokio::time::timeout(limits.lame_duck, stopped).await };
            accepting.run_until(over).await;
            accepting.end_accepting().await;
        }
        let AcceptLoop { listener, connections, room, places, waiting, .. } = accepting;
        drop((listener, waiting));
        if endpoint.config().is_shared {
            _ = tokio::time::timeout(LAST_REQUESTS, endpoint.stopped()).await;
        }
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

/// Accepts connections and checks the open ones. Dropping it cuts them all.
struct AcceptLoop {
    listener: Listener,
    endpoint: Endpoint,
    connections: Connections,
    /// Accepted, and without a permit.
    waiting: Option<(TcpStream, SocketAddr)>,
    /// A permit for each connection that may be open.
    room: Arc<Semaphore>,
    /// How many permits there are.
    places: u32,
    checks: Checks,
    timer: CheckTimer,
}

impl AcceptLoop {
    fn new(listener: Listener, endpoint: Endpoint, limits: &HttpLimits) -> Self {
        let capacity = Capacity::new(limits);
        let places = u32::try_from(capacity.connections).unwrap_or(u32::MAX);
        let room = Arc::new(Semaphore::new(places as usize));
        let checks = Checks::new(limits);
        let (connections, timer) = (Connections::new(capacity), checks.timer());
        Self { listener, endpoint, connections, waiting: None, room, places, checks, timer }
    }

    async fn run_until(&mut self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        while let Some(accepted) = self.next(stop.as_mut()).await {
            match accepted {
                Ok((stream, peer, permit)) => self.open(stream, peer, permit),
                Err(_) => {
                    self.connections.make_room(None);
                    sleep(PAUSE).await;
                }
            }
        }
    }

    /// Accepts every connection that the system has opened or is opening, and no further one. The
    /// system resets those in its queue when the socket is closed.
    async fn end_accepting(&mut self) {
        tcp::ignore_new(&self.listener.listener);
        self.run_until(sleep(LAST_HANDSHAKES)).await;
        while let Ok(permit) = self.room.clone().try_acquire_owned() {
            match tcp::accept_queued(&self.listener.listener) {
                Ok((stream, peer)) => self.open(stream, peer, permit),
                // This client is gone; others may wait behind it.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(_) => return,
            }
        }
    }

    /// The next connection, or `None` if `stop` resolves first.
    async fn next(&mut self, mut stop: Pin<&mut impl Future<Output = ()>>) -> Option<Accepted> {
        loop {
            if let Some((stream, peer)) = self.waiting.take() {
                if let Ok(permit) = self.room.clone().try_acquire_owned() {
                    return Some(Ok((stream, peer, permit)));
                }
                self.waiting = Some((stream, peer));
                self.connections.make_room(None);
            }
            let is_waiting = self.waiting.is_some();
            tokio::select! {
                () = &mut stop => return None,
                accepted = self.listener.listener.accept(), if !is_waiting => match accepted {
                    Ok(accepted) => self.waiting = Some(accepted),
                    Err(error) => return Some(Err(error)),
                },
                permit = self.room.acquire(), if is_waiting => drop(permit),
                () = sleep(PAUSE), if is_waiting => {}
                () = self.timer.due() => {
                    match self.room.available_permits() {
                        0 => self.connections.check(self.checks.when_full()),
                        _ => self.connections.check(self.checks),
                    }
                    self.timer.restart();
                }
            }
        }
    }

    /// Serves a connection, or closes it if its address has too many.
    fn open(&mut self, stream: TcpStream, peer: SocketAddr, permit: OwnedSemaphorePermit) {
        let address = CallerId::from(Peer(peer.ip()));
        if !self.connections.admits(&address) {
            return;
        }
        let (endpoint, path) = (self.endpoint.clone(), self.listener.path.clone());
        self.connections.open((ConnectionUse::new(endpoint.clone()), address), |used, entry| {
            let connection = Connection { endpoint, path, peer, used, held: (entry, permit) };
            connection.serve(stream)
        });
    }
}

/// A connection that was accepted, or why none could be.
type Accepted = io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)>;

/// What the task of a connection needs, moved into it when it begins.
struct Connection {
    endpoint: Endpoint,
    path: Arc<str>,
    /// The other end of the connection; a proxy, if there is one in front.
    peer: SocketAddr,
    used: Arc<ConnectionUse>,
    /// Its entry in the table and its permit; both are released when it ends.
    held: (TableEntry, OwnedSemaphorePermit),
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
            let body = ArrivingBody::new(body, in_flight.shared());
            let mut inbound = Inbound::new(parts, sender.clone(), caller.clone());
            async move {
                let mut body = pin!(body);
                let endpoint = &in_flight.connection().endpoint;
                let response = match is_here {
                    true => endpoint.answer_to(&mut inbound, body.as_mut()).await,
                    false => health::answer(endpoint, &inbound.parts)
                        .unwrap_or_else(|| endpoint.not_here(&inbound)),
                };
                endpoint.count(&response);
                in_flight.connection().traffic.answered();
                let is_leaving = in_flight.connection().is_leaving();
                let mut response = response.map(|body| Answer::new(body, in_flight));
                #[cfg(feature = "http2")]
                if is_http2 {
                    return Ok(response.map(Answer::flowing));
                }
                // hyper closes the connection after an answer with this header, and without a word
                // after one to a request whose body is still to come.
                if is_leaving || !read::has_come(body).await {
                    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
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
