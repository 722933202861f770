//! `redis-server`, which writes each change to its disk and syncs every second.

use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::{HeldPort, not_started};

const PATIENCE: Duration = Duration::from_secs(20);

/// The variable that names another server, such as `valkey-server`.
const SERVER: &str = "BOWLINE_REDIS_SERVER";

/// The store of a cluster.
pub struct RedisServer {
    port: HeldPort,
    folder: PathBuf,
    child: Child,
}

impl RedisServer {
    /// Starts a server with an empty folder.
    pub(super) async fn start(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let port = HeldPort::new()?;
        let child = spawn(port.address, folder)?;
        let server = Self { port, folder: folder.to_owned(), child };
        server.is_ready().await?;
        Ok(server)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.port.address
    }

    /// Ends the server as a crash does. What it acknowledged is in its files.
    ///
    /// # Errors
    ///
    /// If the process cannot be ended.
    pub async fn kill(&mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Starts it again, with what is in its folder.
    ///
    /// # Errors
    ///
    /// If it does not start.
    pub async fn restart(&mut self) -> Result<()> {
        self.child = spawn(self.port.address, &self.folder)?;
        self.is_ready().await
    }

    /// Copies the files as they are now: what a replica of the database has that lags behind.
    ///
    /// # Errors
    ///
    /// If the files cannot be copied.
    pub fn copy_files(&self) -> Result<()> {
        let copy = self.copy();
        if copy.exists() {
            fs::remove_dir_all(&copy)?;
        }
        fs::create_dir_all(&copy)?;
        for entry in fs::read_dir(self.files())? {
            let entry = entry?;
            fs::copy(entry.path(), copy.join(entry.file_name()))?;
        }
        Ok(())
    }

    /// Puts the copy at the place of the files, while the server is down.
    ///
    /// # Errors
    ///
    /// If there is no copy.
    pub fn take_copy(&self) -> Result<()> {
        self.remove_files()?;
        Ok(fs::rename(self.copy(), self.files())?)
    }

    /// Removes the files, while the server is down.
    ///
    /// # Errors
    ///
    /// If they cannot be removed.
    pub fn remove_files(&self) -> Result<()> {
        Ok(fs::remove_dir_all(self.files())?)
    }

    fn files(&self) -> PathBuf {
        self.folder.join("appendonlydir")
    }

    fn copy(&self) -> PathBuf {
        self.folder.join("copy")
    }

    async fn is_ready(&self) -> Result<()> {
        let ready = async {
            while !answers(self.port.address).await {
                sleep(Duration::from_millis(10)).await;
            }
        };
        timeout(PATIENCE, ready).await.context("Redis does not answer")
    }
}

fn spawn(address: SocketAddr, folder: &Path) -> Result<Child> {
    let program = std::env::var(SERVER).unwrap_or_else(|_| "redis-server".to_owned());
    ensure!(address.ip().is_loopback(), "only on this machine");
    Command::new(&program)
        .args(["--port", &address.port().to_string(), "--bind", "127.0.0.1", "--save", ""])
        .args(["--appendonly", "yes", "--appendfsync", "everysec"])
        .current_dir(folder)
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .with_context(|| not_started(Path::new(&program)))
}

/// Whether it has loaded its files.
pub(super) async fn answers(address: SocketAddr) -> bool {
    let ask = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"PING\r\n").await?;
        let mut answer = [0; 7];
        stream.read_exact(&mut answer).await?;
        std::io::Result::Ok(answer)
    };
    ask.await.is_ok_and(|answer| &answer == b"+PONG\r\n")
}
