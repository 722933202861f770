//! The processes: three replicas behind nginx, and Redis, which each replica reaches through a proxy
//! of its own that breaks connections on demand. All of them end with the [`Cluster`].

mod nginx;
mod redis;
mod replica;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use bowline_testing::proxy::{ConnectionFault, Proxy};
use tempfile::TempDir;
use tokio::net::TcpSocket;
use tokio::sync::Mutex;

use self::nginx::Nginx;
pub use self::redis::RedisServer;
pub use self::replica::ReplicaProcess;

/// How many replicas there are.
pub const REPLICAS: usize = 3;

/// What a cluster needs.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// The program `chaos-replica`.
    pub program: PathBuf,
    /// How long a replica serves on after SIGTERM.
    pub lame_duck: Duration,
    /// How long nginx keeps an idle connection to a replica; shorter than `lame_duck`.
    pub keep_alive: Duration,
}

/// The processes of a run.
pub struct Cluster {
    /// One for each replica. Locked for as long as a fault of it lasts.
    pub replicas: Vec<Mutex<ReplicaProcess>>,
    /// One for each replica.
    pub proxies: Vec<Proxy>,
    /// The store. Locked for as long as a fault of it lasts.
    pub redis: Mutex<RedisServer>,
    redis_address: SocketAddr,
    nginx: Nginx,
    notes: PathBuf,
    _folder: TempDir,
}

impl Cluster {
    /// Starts everything, and waits until it serves.
    ///
    /// # Errors
    ///
    /// If a program cannot be started.
    pub async fn start(options: &ClusterOptions) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let notes = folder.path().join("notes");
        std::fs::write(&notes, "")?;
        let redis = RedisServer::start(&folder.path().join("redis")).await?;
        let redis_address = redis.address();
        let (mut replicas, mut proxies) = (Vec::new(), Vec::new());
        for _ in 0..REPLICAS {
            let proxy = Proxy::start(redis.address()).await?;
            let store = format!("redis://{}", proxy.address());
            let mut process = ReplicaProcess::new(options, store, &notes)?;
            process.start().await?;
            proxies.push(proxy);
            replicas.push(process);
        }
        let addresses: Vec<_> = replicas.iter().map(ReplicaProcess::address).collect();
        let nginx = Nginx::start(folder.path(), &addresses, options.keep_alive).await?;
        let replicas = replicas.into_iter().map(Mutex::new).collect();
        let redis = Mutex::new(redis);
        Ok(Self { replicas, proxies, redis, redis_address, nginx, notes, _folder: folder })
    }

    /// Where clients connect.
    pub fn address(&self) -> SocketAddr {
        self.nginx.address
    }

    /// Waits for an answer of the store, without a proxy. Returns whether it came.
    pub async fn redis_answers(&self) -> bool {
        redis::answers(self.redis_address).await
    }

    /// What the tools of all replicas have noted.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn notes(&self) -> Result<String> {
        std::fs::read_to_string(&self.notes).context("the notes cannot be read")
    }

    /// Sets a fault between one replica, or all, and the store.
    pub fn set_proxies(&self, replica: Option<usize>, fault: ConnectionFault) {
        let chosen = |number: &usize| replica.is_none_or(|chosen| chosen == *number);
        for number in (0..REPLICAS).filter(chosen) {
            self.proxies[number].set(fault);
        }
    }
}

/// A free port, which no other process gets while it is held: the process that it is meant for
/// also allows it to be shared.
struct HeldPort {
    address: SocketAddr,
    _socket: TcpSocket,
}

impl HeldPort {
    fn new() -> std::io::Result<Self> {
        let socket = TcpSocket::new_v4()?;
        socket.set_reuseaddr(true)?;
        socket.bind("127.0.0.1:0".parse().expect("an address"))?;
        Ok(Self { address: socket.local_addr()?, _socket: socket })
    }
}

/// Says which program is missing.
fn not_started(program: &Path) -> String {
    format!("`{}` does not start; `sh tests/peers/install.sh` installs it", program.display())
}
