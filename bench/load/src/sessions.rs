//! Many sessions at once: idle, to measure their memory, or notified of a change, to measure the
//! time.

use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::task::JoinSet;

use crate::http::{Connection, Endpoint};
use crate::message::Call;

/// Sessions that stay open as long as this does.
pub struct Sessions {
    first: Connection,
    headers: Vec<String>,
    streams: Vec<Connection>,
}

impl Sessions {
    /// Opens sessions over one connection, as a proxy would.
    ///
    /// # Errors
    ///
    /// If the server refuses one.
    pub async fn open(endpoint: &Endpoint, count: usize) -> Result<Self> {
        let mut first = Connection::open(endpoint).await?;
        let mut headers = Vec::with_capacity(count);
        for _ in 0..count {
            headers.push(first.handshake(endpoint).await?);
        }
        Ok(Self { first, headers, streams: Vec::new() })
    }

    /// Opens the stream of every session, each on a connection of its own.
    ///
    /// # Errors
    ///
    /// If the server refuses one.
    pub async fn open_streams(&mut self, endpoint: &Endpoint) -> Result<()> {
        for headers in &self.headers {
            let mut stream = Connection::open_small(endpoint).await?;
            stream.open_stream(endpoint, headers).await?;
            self.streams.push(stream);
        }
        Ok(())
    }

    /// Calls the tool `touch` in the first session; returns the time until every stream has its
    /// notification.
    ///
    /// # Errors
    ///
    /// If the call fails or a stream ends.
    pub async fn tell_all(mut self, endpoint: &Endpoint) -> Result<Duration> {
        let mut listeners = JoinSet::new();
        for mut stream in self.streams.drain(..) {
            listeners.spawn(async move {
                stream.wait_for(b"notifications/tools/list_changed").await?;
                anyhow::Ok(stream)
            });
        }
        // Every stream is read before the measurement starts.
        tokio::task::yield_now().await;
        let headers = self.headers.first().cloned().unwrap_or_default();
        let begin = Instant::now();
        let call = Call::Plain { tool: "touch".to_owned() };
        self.first.call_once(endpoint, &headers, &call).await?;
        while let Some(stream) = listeners.join_next().await {
            self.streams.push(stream??);
        }
        Ok(begin.elapsed())
    }
}
