//! Programs that listen on a port of this machine, in processes of their own.

use std::io::{Error, Result};
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::process::{Child, Command};

/// The variable that names another Redis, such as `valkey-server`.
const REDIS: &str = "BOWLINE_REDIS_SERVER";

/// How long a program may take until it listens.
const STARTS: Duration = Duration::from_secs(20);

/// A port of this machine that no other program gets as a free one: bound, and never listened on.
pub struct HeldPort(TcpSocket);

impl HeldPort {
    /// Holds a port; 0 is a free one.
    ///
    /// # Errors
    ///
    /// If another program listens on it.
    pub fn new(port: u16) -> Result<Self> {
        let socket = TcpSocket::new_v4()?;
        // The program that listens sets this too, and may then bind the port as well.
        socket.set_reuseaddr(true)?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], port)))?;
        Ok(Self(socket))
    }

    /// The address with the port.
    ///
    /// # Errors
    ///
    /// If the system cannot report it.
    pub fn address(&self) -> Result<SocketAddr> {
        self.0.local_addr()
    }
}

/// Starts a program, and waits until it listens. The process is killed when the child is dropped. A
/// Ctrl-C in the terminal does not reach it.
///
/// # Errors
///
/// If it does not start, ends, or does not listen in time.
pub async fn start(command: &mut Command, address: SocketAddr) -> Result<Child> {
    let name = command.as_std().get_program().to_string_lossy().into_owned();
    let failed = |why: String| Error::other(format!("`{name}` {why}"));
    let child = command.process_group(0).kill_on_drop(true).spawn();
    let mut child = child.map_err(|error| failed(format!("does not start: {error}")))?;
    let mut pause = tokio::time::interval(Duration::from_millis(10));
    let listens = async {
        while TcpStream::connect(address).await.is_err() {
            if let Some(status) = child.try_wait()? {
                return Err(failed(format!("has ended ({status})")));
            }
            pause.tick().await;
        }
        Ok(())
    };
    let listens = tokio::time::timeout(STARTS, listens).await;
    listens.unwrap_or_else(|_| Err(failed(format!("does not listen on {address}"))))?;
    Ok(child)
}

/// The command that starts a Redis which keeps its data in memory only.
pub fn redis_command(address: SocketAddr, folder: &Path) -> Command {
    let mut command = Command::new(std::env::var(REDIS).unwrap_or("redis-server".to_owned()));
    command.current_dir(folder).args(["--bind", "127.0.0.1", "--port"]);
    command.arg(address.port().to_string()).args(["--save", "", "--appendonly", "no"]);
    command.args(["--logfile", "log"]);
    command
}

/// A `redis-server`, killed on drop.
pub struct RedisServer {
    address: SocketAddr,
    process: Child,
    _folder: TempDir,
    _port: HeldPort,
}

impl RedisServer {
    /// Starts one on a free port.
    ///
    /// # Errors
    ///
    /// If it does not start; `tests/peers/install.sh` installs it.
    pub async fn start() -> Result<Self> {
        let (port, folder) = (HeldPort::new(0)?, tempfile::tempdir()?);
        let address = port.address()?;
        let process = start(&mut redis_command(address, folder.path()), address).await?;
        Ok(Self { address, process, _folder: folder, _port: port })
    }

    /// The URL of the database.
    pub fn url(&self) -> String {
        format!("redis://{}", self.address)
    }

    /// The bytes that it has allocated.
    ///
    /// # Errors
    ///
    /// If it does not answer.
    pub async fn used_memory(&self) -> Result<u64> {
        let mut stream = TcpStream::connect(self.address).await?;
        stream.write_all(b"INFO memory\r\nQUIT\r\n").await?;
        let mut text = String::new();
        stream.read_to_string(&mut text).await?;
        let line = text.lines().find_map(|line| line.strip_prefix("used_memory:"));
        line.and_then(|bytes| bytes.trim().parse().ok())
            .ok_or_else(|| Error::other("Redis does not say how much memory it uses"))
    }

    /// How long a processor has worked for it so far.
    ///
    /// # Errors
    ///
    /// If the process has ended.
    pub fn processor_time(&self) -> Result<Duration> {
        let id = self.process.id().ok_or_else(|| Error::other("redis-server has ended"))?;
        processor_time(id)
    }
}

/// How long a processor has worked for a process so far.
///
/// # Errors
///
/// If the process has ended.
pub fn processor_time(process: u32) -> Result<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat"))?;
    // The fields 14 and 15, in hundredths of a second; the second one ends with a bracket.
    let fields = text.rsplit(')').next().unwrap_or_default().split_whitespace();
    let times = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok());
    Ok(Duration::from_millis(10 * times.sum::<u64>()))
}
