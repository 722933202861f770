//! A replica: a process on a fixed port, which is started again after it has ended.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use super::{ClusterOptions, HeldPort, not_started};

/// How long a replica may take to serve, also while its store is down for some time.
const PATIENCE: Duration = Duration::from_secs(40);

/// One of the replicas.
pub struct ReplicaProcess {
    program: PathBuf,
    port: HeldPort,
    store: String,
    notes: PathBuf,
    lame_duck: Duration,
    child: Option<Child>,
}

impl ReplicaProcess {
    pub(super) fn new(options: &ClusterOptions, store: String, notes: &Path) -> Result<Self> {
        let ClusterOptions { program, lame_duck, .. } = options.clone();
        let notes = notes.to_owned();
        Ok(Self { program, port: HeldPort::new()?, store, notes, lame_duck, child: None })
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.port.address
    }

    /// The id of the process.
    ///
    /// # Errors
    ///
    /// If it has ended.
    pub fn process(&self) -> Result<u32> {
        self.child.as_ref().and_then(Child::id).context("the replica has ended")
    }

    /// Starts the process, and waits until it serves. A process that finds no store ends, and is
    /// started again, as a supervisor does.
    ///
    /// # Errors
    ///
    /// If it does not serve in time.
    pub async fn start(&mut self) -> Result<()> {
        let serving = async {
            loop {
                let child = self.child.insert(self.spawn()?);
                while child.try_wait()?.is_none() {
                    if is_ready(self.port.address).await {
                        return Ok(());
                    }
                    sleep(Duration::from_millis(20)).await;
                }
                sleep(Duration::from_millis(100)).await;
            }
        };
        timeout(PATIENCE, serving).await.context("a replica does not serve")?
    }

    /// Sends a signal.
    ///
    /// # Errors
    ///
    /// If the process has ended.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        let process = i32::try_from(self.process()?)?;
        Ok(kill(Pid::from_raw(process), signal)?)
    }

    /// Waits for the end of the process.
    ///
    /// # Errors
    ///
    /// If it does not end in time.
    pub async fn ended(&mut self) -> Result<()> {
        let child = self.child.as_mut().context("the replica was never started")?;
        timeout(PATIENCE, child.wait()).await.context("a replica does not end")??;
        Ok(())
    }

    fn spawn(&self) -> Result<Child> {
        Command::new(&self.program)
            .arg(self.port.address.to_string())
            .arg(&self.store)
            .arg(&self.notes)
            .arg(self.lame_duck.as_millis().to_string())
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| not_started(&self.program))
    }
}

async fn is_ready(address: SocketAddr) -> bool {
    let ask = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n").await?;
        let mut status = [0; 12];
        stream.read_exact(&mut status).await?;
        std::io::Result::Ok(status)
    };
    ask.await.is_ok_and(|status| &status == b"HTTP/1.1 200")
}
