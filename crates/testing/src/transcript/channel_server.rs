//! A server behind a byte stream: in memory, over a socket, or in a child process.
//!
//! These show that a transport changes nothing: messages may arrive in pieces, several at once, or
//! late, and the answers are the same.

use std::process::Stdio;
use std::time::Duration;

use bowline_transport::lines::Lines;
use bowline_transport::serve::serve;
use bowline_transport::transport::PeerIdentity;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use super::side_under_test::{Output, SideUnderTest};
use crate::clock;
use crate::server_under_test::ServerUnderTest;
use crate::strict_peer::StrictPeer;

/// The capacity of the in-memory stream, in bytes. Small, so that messages arrive in pieces.
const CAPACITY: usize = 64;

/// A server behind a byte stream. The play is its client.
pub(crate) struct ChannelServer {
    client: StrictPeer,
    server: Server,
}

/// Where the server runs.
enum Server {
    /// In a task, in virtual time.
    Task { stop: Option<oneshot::Sender<()>>, drain: Duration },
    /// In a child process, in real time.
    Process(Child),
}

impl ChannelServer {
    /// Serves in a task, in memory. Needs frozen time.
    pub(crate) fn duplex(server: ServerUnderTest) -> Self {
        let (near, far) = tokio::io::duplex(CAPACITY);
        Self::task(near, far, server)
    }

    /// Serves in a task, over a Unix socket. Needs frozen time.
    pub(crate) fn socket(server: ServerUnderTest) -> Result<Self, String> {
        let (near, far) =
            UnixStream::pair().map_err(|error| format!("a socket cannot be opened: {error}"))?;
        Ok(Self::task(near, far, server))
    }

    /// Starts a process that serves over its standard input and output.
    pub(crate) fn process(command: std::process::Command) -> Result<Self, String> {
        let mut command = Command::from(command);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child =
            command.spawn().map_err(|error| format!("the server cannot be started: {error}"))?;
        let (Some(source), Some(sink)) = (child.stdout.take(), child.stdin.take()) else {
            return Err("the server's input and output are taken already".to_owned());
        };
        Ok(Self { client: StrictPeer::over(source, sink), server: Server::Process(child) })
    }

    /// The real driver serves, as in a program.
    fn task<S>(near: S, far: S, server: ServerUnderTest) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (source, sink) = tokio::io::split(far);
        let config = server.config().clone();
        let drain = config.limits().drain;
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            if stopped.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        let channel = Lines::new(source, sink).with_peer_identity(PeerIdentity::local_user());
        tokio::spawn(serve(channel, server, config, stopped));
        let server = Server::Task { stop: Some(stop), drain };
        Self { client: StrictPeer::new(near), server }
    }
}

impl SideUnderTest for ChannelServer {
    async fn send(&mut self, bytes: &[u8]) -> Result<(), String> {
        let sent = self.client.write(bytes).await;
        sent.map_err(|error| format!("the server is gone: {error}"))
    }

    async fn act(&mut self, action: &str) -> Result<(), String> {
        match &mut self.server {
            Server::Task { stop, .. } if action == "stop" => {
                if let Some(stop) = stop.take() {
                    // The receiver is gone if the server has ended already.
                    let _ = stop.send(());
                }
                Ok(())
            }
            _ => Err(format!("unknown action `{action}`; a server in a task can `stop`")),
        }
    }

    async fn advance(&mut self, time: Duration) {
        clock::advance(time).await;
    }

    async fn close(&mut self) -> Result<(), String> {
        self.client.close().await;
        Ok(())
    }

    async fn next(&mut self, _: impl FnMut(&Output) -> bool) -> Option<Output> {
        self.client.line().await.map(Output::Message)
    }

    async fn try_next(&mut self) -> Option<Output> {
        match self.server {
            Server::Task { .. } => self.client.try_next().await.map(Output::Message),
            // It is not known when a process is idle. An unexpected message fails the next
            // expectation, or the end of the play.
            Server::Process(_) => None,
        }
    }

    /// A server in a task has to end within its drain; a process has to exit with success.
    async fn finish(&mut self) -> Result<Vec<Output>, String> {
        self.client.close().await;
        let mut rest = Vec::new();
        match &mut self.server {
            Server::Task { drain, .. } => {
                while let Some(message) = self.client.try_next().await {
                    rest.push(Output::Message(message));
                }
                clock::advance(*drain).await;
            }
            Server::Process(_) => {}
        }
        while let Some(message) = self.client.line().await {
            rest.push(Output::Message(message));
        }
        if let Server::Process(child) = &mut self.server {
            let status = child
                .wait()
                .await
                .map_err(|error| format!("the server cannot be waited for: {error}"))?;
            if !status.success() {
                return Err(format!("the server ended with {status}"));
            }
        }
        Ok(rest)
    }
}
