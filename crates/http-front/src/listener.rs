//! A socket that listens, and the simplest way to serve on it.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::config::FrontConfig;
use crate::server::FrontServer;
use crate::service::ConnectionService;

/// A TCP socket that listens for clients.
#[derive(Debug)]
pub struct FrontListener(TcpListener);

impl FrontListener {
    /// Listens on an address, such as `127.0.0.1:3000`.
    ///
    /// With port 0 the system chooses a free one, which [`address`](Self::address) returns.
    ///
    /// # Errors
    ///
    /// If the address is in use, or no address of this machine.
    pub async fn bind(address: SocketAddr) -> Result<Self, BindError> {
        let listener = TcpListener::bind(address).await;
        listener.map(Self).map_err(|source| BindError { address, source })
    }

    /// The address that is listened on, with the port that the system chose if none was asked for.
    ///
    /// # Errors
    ///
    /// If the system cannot report it.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.0.local_addr()
    }

    /// A server for every client that connects. `services` makes the service of each connection, by
    /// the address of its client. Nothing is accepted before the server [runs](FrontServer::run_until).
    pub fn server<M, S>(self, config: FrontConfig, services: M) -> FrontServer<M>
    where
        M: FnMut(SocketAddr) -> S,
        S: ConnectionService,
    {
        FrontServer::new(self.0, config, services)
    }

    /// Serves every client that connects until `stop` resolves. Then the socket is closed, connections
    /// end once they have answered what has come, and those that still run after `drain` are cut.
    pub async fn serve<S: ConnectionService>(
        self,
        service: S,
        stop: impl Future<Output = ()>,
        drain: Duration,
    ) {
        let mut server = self.server(FrontConfig::default(), |_| service.clone());
        server.run_until(stop).await;
        let closed = server.close();
        closed.end_connections();
        let _ = closed.ended_within(drain).await;
    }
}

impl From<TcpListener> for FrontListener {
    fn from(listener: TcpListener) -> Self {
        Self(listener)
    }
}

/// Why a [`FrontListener`] could not be bound.
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
