//! A server process that is stopped by signals.
#![cfg(unix)]

use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use bowline::Client;
use serde_json::json;
use tokio::net::{TcpSocket, TcpStream};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::test_server::within;

/// A server in its own process.
struct Process {
    address: SocketAddr,
    process: Child,
    /// Holds the port, so that no other process gets it.
    _held: TcpSocket,
}

impl Process {
    async fn start() -> Self {
        let held = TcpSocket::new_v4().unwrap();
        // The server sets this too, and may then listen here.
        held.set_reuseaddr(true).unwrap();
        held.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = held.local_addr().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_echo"));
        command.args(["http", &address.to_string()]).kill_on_drop(true);
        let process = command.spawn().unwrap();
        within(async { while TcpStream::connect(address).await.is_err() {} }).await;
        Self { address, process, _held: held }
    }

    /// Starts a call that takes this long; the task returns its outcome.
    async fn sleep(&self, seconds: f64) -> JoinHandle<Result<String, bowline::client::Error>> {
        let url = format!("http://{}/mcp", self.address);
        let client = Client::http(url).connect().await.unwrap();
        let (report, mut reported) = mpsc::unbounded_channel();
        let call = tokio::spawn(async move {
            let call = client.call("sleep", json!({ "seconds": seconds }));
            let outcome = call.progress(move |_| _ = report.send(())).await?;
            Ok(outcome.text())
        });
        within(reported.recv()).await.unwrap();
        call
    }

    async fn tell(&self, signal: &str) {
        let process = self.process.id().unwrap().to_string();
        let told = Command::new("kill").args(["-s", signal, &process]).status();
        assert!(told.await.unwrap().success());
    }

    async fn end(&mut self) -> ExitStatus {
        within(self.process.wait()).await.unwrap()
    }
}

#[tokio::test]
async fn a_process_that_gets_a_signal_finishes_its_calls() {
    for signal in ["TERM", "INT"] {
        let mut server = Process::start().await;
        let call = server.sleep(0.5).await;
        server.tell(signal).await;
        assert_eq!(within(call).await.unwrap().unwrap(), "slept 0.5 s");
        assert_eq!(server.end().await.code(), Some(0));
    }
}

#[tokio::test]
async fn a_process_that_gets_two_signals_exits_at_once() {
    for (first, second, number) in [("TERM", "TERM", 15), ("INT", "TERM", 15), ("TERM", "INT", 2)] {
        let mut server = Process::start().await;
        let call = server.sleep(3600.0).await;
        server.tell(first).await;
        // Sent only after the server got the first one: two pending signals may be merged.
        within(async { while TcpStream::connect(server.address).await.is_ok() {} }).await;
        server.tell(second).await;
        assert_eq!(server.end().await.signal(), Some(number));
        assert!(within(call).await.unwrap().is_err());
    }
}
