//! A TCP proxy that breaks connections in the ways in which networks and databases do.
//!
//! ```
//! use bowline_testing::proxy::{ConnectionFault, Proxy};
//! # use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
//! # use tokio::net::{TcpListener, TcpStream};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! # let database = TcpListener::bind("127.0.0.1:0").await?;
//! let proxy = Proxy::start(database.local_addr()?).await?;
//! let mut client = TcpStream::connect(proxy.address()).await?;
//! let (mut server, _) = database.accept().await?;
//! client.write_all(b"hello").await?;
//! let mut received = [0; 5];
//! server.read_exact(&mut received).await?;
//!
//! proxy.set(ConnectionFault::Reset);
//! assert!(client.read(&mut received).await.is_err(), "the connection was reset");
//! # Ok(())
//! # }
//! ```

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};

/// What a [`Proxy`] does to connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ConnectionFault {
    /// Passes everything on.
    #[default]
    None,
    /// Closes all connections, and refuses new ones.
    Refuse,
    /// Passes nothing on, and keeps it until the fault ends. New connections wait, too.
    Hang,
    /// Resets all connections, also new ones.
    Reset,
    /// Passes nothing on over the connections that are open now, even after the fault has ended, and
    /// does not close them. New connections work.
    HalfOpen,
    /// Passes on what clients send, and drops what they would receive. A connection that has lost
    /// something is reset when the fault ends: no connection goes on without a part.
    DropReplies,
    /// Passes everything on, later.
    Delay(Duration),
}

/// See the [module](self). Dropping it closes all connections.
pub struct Proxy {
    address: SocketAddr,
    fault: watch::Sender<ConnectionFault>,
    dropped: Arc<AtomicU64>,
    task: AbortHandle,
}

impl Proxy {
    /// Starts a proxy for the server at an address, on a free port of the loopback address. It runs on
    /// the runtime of the caller.
    ///
    /// # Errors
    ///
    /// If no port is free.
    pub async fn start(server: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let (fault, faults) = watch::channel(ConnectionFault::None);
        let dropped = Arc::new(AtomicU64::new(0));
        let route = Route { server, faults, dropped: dropped.clone() };
        let task = tokio::spawn(serve(listener, route)).abort_handle();
        Ok(Self { address, fault, dropped, task })
    }

    /// The address that clients connect to.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Begins a fault, or ends it with [`ConnectionFault::None`]. Connections notice at once.
    pub fn set(&self, fault: ConnectionFault) {
        self.fault.send_replace(fault);
    }

    /// How many times [`ConnectionFault::DropReplies`] has dropped something.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// A function that sets the fault, for a caller that does not own the proxy.
    pub fn setter(&self) -> impl Fn(ConnectionFault) + Send + Sync + Clone + 'static {
        let fault = self.fault.clone();
        move |new| {
            fault.send_replace(new);
        }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What each connection needs.
#[derive(Clone)]
struct Route {
    server: SocketAddr,
    faults: watch::Receiver<ConnectionFault>,
    dropped: Arc<AtomicU64>,
}

async fn serve(listener: TcpListener, route: Route) {
    let mut faults = route.faults.clone();
    let address = listener.local_addr().expect("it is bound");
    let mut listener = Some(listener);
    // Dropped with this task, and the connections with it.
    let mut connections = JoinSet::new();
    loop {
        let fault = *faults.borrow_and_update();
        listener = match (fault, listener) {
            (ConnectionFault::Refuse, _) => None,
            (_, Some(listener)) => Some(listener),
            (_, None) => Some(TcpListener::bind(address).await.expect("the port is still free")),
        };
        let accepted = async {
            match &listener {
                Some(listener) if fault != ConnectionFault::Hang => listener.accept().await,
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            changed = faults.changed() => if changed.is_err() { return },
            accepted = accepted => if let Ok((client, _)) = accepted {
                connections.spawn(pass_on(client, route.clone()));
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

/// Passes bytes on until a side closes or a fault ends the connection.
async fn pass_on(mut client: TcpStream, route: Route) {
    let Route { server, mut faults, dropped } = route;
    if *faults.borrow_and_update() == ConnectionFault::Reset {
        let _ = client.set_zero_linger();
        return;
    }
    // A connection that begins during this fault is a new one.
    let mut is_new = *faults.borrow() == ConnectionFault::HalfOpen;
    let Ok(mut server) = TcpStream::connect(server).await else { return };
    let _ = (client.set_nodelay(true), server.set_nodelay(true));
    let (mut sent, mut received) = ([0; 16 * 1024], [0; 16 * 1024]);
    let mut has_lost = false;
    loop {
        let fault = *faults.borrow_and_update();
        let is_over = has_lost && fault != ConnectionFault::DropReplies;
        if is_over || matches!(fault, ConnectionFault::Reset | ConnectionFault::Refuse) {
            let _ = client.set_zero_linger();
            return;
        }
        is_new &= fault == ConnectionFault::HalfOpen;
        if fault == ConnectionFault::HalfOpen && !is_new {
            // Until the proxy is dropped.
            return std::future::pending().await;
        }
        let hangs = fault == ConnectionFault::Hang;
        let is_done = tokio::select! {
            changed = faults.changed() => changed.is_err(),
            count = client.read(&mut sent), if !hangs => {
                delay(fault).await;
                write(count, &sent, &mut server).await.is_err()
            }
            count = server.read(&mut received), if !hangs => {
                delay(fault).await;
                let is_dropped = fault == ConnectionFault::DropReplies && count.as_ref().is_ok_and(|it| *it > 0);
                dropped.fetch_add(u64::from(is_dropped), Ordering::Relaxed);
                has_lost |= is_dropped;
                !is_dropped && write(count, &received, &mut client).await.is_err()
            }
        };
        if is_done {
            return;
        }
    }
}

async fn delay(fault: ConnectionFault) {
    if let ConnectionFault::Delay(time) = fault {
        tokio::time::sleep(time).await;
    }
}

/// Fails at the end of the stream, too.
async fn write(count: io::Result<usize>, buffer: &[u8], to: &mut TcpStream) -> io::Result<()> {
    match count? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        count => to.write_all(&buffer[..count]).await,
    }
}
