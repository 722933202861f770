//! The accept loop: HTTP on a socket of our own, with time limits and a graceful shutdown.
//!
//! [`FrontServer::run_until`] is one future: it accepts, and checks the connections from time to time.
//! Each connection runs in a task of its own. The number of connections is bounded by permits. Without
//! a permit, one accepted connection waits for the others to [make room](Connections::make_room), and
//! further clients wait in the queue of the system, where they cost this process nothing.

use std::fmt;
use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

use crate::address::AddressKey;
use crate::capacity::Capacity;
use crate::config::FrontConfig;
use crate::connection::Connection;
use crate::connection_use::ConnectionUse;
use crate::connections::{CheckTimer, Checks, Connections};
use crate::service::ConnectionService;
use crate::tcp;

/// How long to wait after the system could not accept a connection, for example because too many
/// files are open, and how often connections are asked to make room for one that waits.
const PAUSE: Duration = Duration::from_millis(100);

/// How long clients may take to acknowledge connections that the system is opening.
const LAST_HANDSHAKES: Duration = Duration::from_millis(20);

/// Accepts connections and serves them, as long as one of its futures is polled. Dropping it cuts all
/// connections at once.
///
/// The steps of its end, of which a program may leave out any: [`leave`](Self::leave) asks clients to
/// go elsewhere, while the server runs on; [`end_accepting`](Self::end_accepting) takes the clients
/// that have connected already; [`close`](Self::close) closes the socket, so that another process can
/// bind the address; [`ClosedServer::end_connections`] and [`ClosedServer::ended_within`] let
/// requests run to their end.
pub struct FrontServer<M> {
    listener: TcpListener,
    services: M,
    config: Arc<FrontConfig>,
    connections: Connections,
    /// Accepted, and without a permit.
    waiting: Option<(TcpStream, SocketAddr)>,
    /// A permit for each connection that may be open.
    room: Arc<Semaphore>,
    /// How many permits there are.
    permits: u32,
    checks: Checks,
    timer: CheckTimer,
}

impl<M, S> FrontServer<M>
where
    M: FnMut(SocketAddr) -> S,
    S: ConnectionService,
{
    pub(crate) fn new(listener: TcpListener, config: FrontConfig, services: M) -> Self {
        let capacity = Capacity::new(&config.limits);
        let permits = u32::try_from(capacity.connections).unwrap_or(u32::MAX);
        let checks = Checks::new(&config.limits);
        Self {
            listener,
            services,
            connections: Connections::new(capacity),
            waiting: None,
            room: Arc::new(Semaphore::new(permits as usize)),
            permits,
            checks,
            timer: checks.timer(),
            config: Arc::new(config),
        }
    }

    /// Accepts and serves until `stop` resolves. Connections run on then, but are no longer checked.
    pub async fn run_until(&mut self, stop: impl Future<Output = ()>) {
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

    /// From now on each answer asks its client to close the connection, so that the next request goes
    /// elsewhere. Over HTTP/2 connections end with GOAWAY.
    pub fn leave(&mut self) {
        self.connections.leave();
    }

    /// Accepts every connection that the system has opened or is opening, and no further one. The
    /// system resets those in its queue when the socket is closed.
    pub async fn end_accepting(&mut self) {
        tcp::ignore_new(&self.listener);
        self.run_until(sleep(LAST_HANDSHAKES)).await;
        while let Ok(permit) = self.room.clone().try_acquire_owned() {
            match tcp::accept_queued(&self.listener) {
                Ok((stream, peer)) => self.open(stream, peer, permit),
                // This client is gone; others may wait behind it.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                Err(_) => return,
            }
        }
    }

    /// Closes the socket. Open connections are served as before.
    pub fn close(self) -> ClosedServer {
        let Self { connections, room, permits, .. } = self;
        ClosedServer { connections, room, permits }
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
                accepted = self.listener.accept(), if !is_waiting => match accepted {
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
        let address = AddressKey::from(peer.ip());
        if !self.connections.admits(address) {
            return;
        }
        let (config, service) = (self.config.clone(), (self.services)(peer));
        self.connections.open((ConnectionUse::default(), address), |used, entry| {
            Connection { config, service, used, held: (entry, permit) }.serve(stream)
        });
    }
}

impl<M> fmt::Debug for FrontServer<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FrontServer").field("listener", &self.listener).finish_non_exhaustive()
    }
}

/// A connection that was accepted, or why none could be.
type Accepted = io::Result<(TcpStream, SocketAddr, OwnedSemaphorePermit)>;

/// The connections of a server whose socket is closed. Dropping it cuts them all.
pub struct ClosedServer {
    connections: Connections,
    room: Arc<Semaphore>,
    permits: u32,
}

impl ClosedServer {
    /// Asks every connection to end once it has answered what has come: over HTTP/1.1 it closes after
    /// that, over HTTP/2 it sends GOAWAY.
    pub fn end_connections(&self) {
        self.connections.end();
    }

    /// Waits until all connections have ended. Returns whether they have, within this time.
    pub async fn ended_within(&self, time: Duration) -> bool {
        // All connections have ended when all permits are free again.
        timeout(time, self.room.acquire_many(self.permits)).await.is_ok()
    }
}

impl fmt::Debug for ClosedServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.permits as usize - self.room.available_permits();
        f.debug_struct("ClosedServer").field("open", &open).finish_non_exhaustive()
    }
}
