//! A server behind a real channel: in memory, over a socket, or in a process of its own.

use std::process::Stdio;
use std::time::Duration;

use bowline_transport::lines::Lines;
use bowline_transport::serve::serve;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

use super::stage::{Heard, Stage};
use crate::clock;
use crate::strict::Strict;
use crate::subject::Subject;

/// How much of a message fits into the channel in memory before its writer has to wait. Small, so
/// that messages come in pieces.
const CAPACITY: usize = 64;

/// A server behind a channel.
pub(crate) struct Channel {
    client: Strict,
    server: Server,
}

/// Where the server is.
enum Server {
    /// In a task, whose time we hold.
    Task { stop: Option<oneshot::Sender<()>>, drain: Duration },
    /// In a process, which has a time of its own.
    Process(Child),
}

impl Channel {
    /// Serves in a task, in memory. Wants paused time that is held still.
    pub(crate) fn duplex(subject: Subject) -> Self {
        let (near, far) = tokio::io::duplex(CAPACITY);
        Self::task(near, far, subject)
    }

    /// Serves in a task, over a Unix socket. Wants paused time that is held still.
    pub(crate) fn socket(subject: Subject) -> Result<Self, String> {
        let (near, far) =
            UnixStream::pair().map_err(|error| format!("no socket can be had: {error}"))?;
        Ok(Self::task(near, far, subject))
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
        Ok(Self { client: Strict::over(source, sink), server: Server::Process(child) })
    }

    fn task<S>(near: S, far: S, subject: Subject) -> Self
    where
        S: AsyncRead + AsyncWrite + Send + 'static,
    {
        let (source, sink) = tokio::io::split(far);
        let config = subject.config().clone();
        let drain = config.limits().drain;
        let (stop, stopped) = oneshot::channel();
        let stopped = async {
            if stopped.await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::spawn(serve(Lines::new(source, sink), subject, config, stopped));
        let server = Server::Task { stop: Some(stop), drain };
        Self { client: Strict::new(near), server }
    }
}

impl Stage for Channel {
    async fn tell(&mut self, bytes: &[u8]) -> Result<(), String> {
        let told = self.client.write(bytes).await;
        told.map_err(|error| format!("the server is gone: {error}"))
    }

    async fn act(&mut self, action: &str) -> Result<(), String> {
        match &mut self.server {
            Server::Task { stop, .. } if action == "stop" => {
                if let Some(stop) = stop.take() {
                    // A server that ended by itself does not have to be stopped.
                    let _ = stop.send(());
                }
                Ok(())
            }
            _ => Err(format!("nobody knows how to `{action}`; a server in a task can `stop`")),
        }
    }

    async fn pass(&mut self, time: Duration) {
        clock::pass(time).await;
    }

    async fn end(&mut self) -> Result<(), String> {
        self.client.end().await;
        Ok(())
    }

    async fn next(&mut self, _: impl FnMut(&Heard) -> bool) -> Option<Heard> {
        self.client.line().await.map(Heard::Message)
    }

    async fn spare(&mut self) -> Option<Heard> {
        match self.server {
            Server::Task { .. } => self.client.spare().await.map(Heard::Message),
            // What comes unasked is met when the next message is expected, or at the end.
            Server::Process(_) => None,
        }
    }

    async fn finish(&mut self) -> Result<Vec<Heard>, String> {
        self.client.end().await;
        let mut rest = Vec::new();
        match &mut self.server {
            Server::Task { drain, .. } => {
                while let Some(said) = self.client.spare().await {
                    rest.push(Heard::Message(said));
                }
                clock::pass(*drain).await;
            }
            Server::Process(_) => {}
        }
        while let Some(said) = self.client.line().await {
            rest.push(Heard::Message(said));
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
