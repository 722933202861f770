//! A peer that sends exactly the given messages, and fails on every message it does not expect.
//!
//! Real clients are tolerant: they drop answers that are late, duplicate or unrequested, and so hide
//! the faults of the server. This one fails.

use std::fmt;
use std::task::Poll;
use std::time::Duration;

use bowline_proto::sync::poll_once;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::transcript::template::{MessageTemplate, Values};

/// How long to wait for a message. In a runtime with paused time this takes no real time.
const TIMEOUT: Duration = Duration::from_secs(30);

/// How often other tasks are polled before the peer counts as silent.
const POLLS: usize = 32;

/// A strict client or server over any byte stream, with one message per line.
///
/// ```
/// use bowline_testing::StrictPeer;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let (near, far) = tokio::io::duplex(1024);
/// let mut server = StrictPeer::new(far);
/// let mut client = StrictPeer::new(near);
/// client.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
/// server.expect(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
/// server.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
/// client.expect(r#"{"jsonrpc":"2.0","id":1,"result":@any}"#).await;
/// client.expect_silence().await;
/// # }
/// ```
pub struct StrictPeer {
    source: Box<dyn AsyncRead + Send + Unpin>,
    /// `None` once our direction is closed.
    sink: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    buffer: Vec<u8>,
    /// What `@name` stands for so far.
    values: Values,
}

impl StrictPeer {
    /// A peer over one stream for both directions.
    pub fn new(stream: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        let (source, sink) = tokio::io::split(stream);
        Self::over(source, sink)
    }

    /// A peer over one stream to read from and one to write to.
    pub fn over(
        source: impl AsyncRead + Send + Unpin + 'static,
        sink: impl AsyncWrite + Send + Unpin + 'static,
    ) -> Self {
        Self {
            source: Box::new(source),
            sink: Some(Box::new(sink)),
            buffer: Vec::new(),
            values: Values::new(),
        }
    }

    /// Sends a message and a newline.
    ///
    /// # Panics
    ///
    /// Panics if the other side has closed the stream.
    pub async fn send(&mut self, message: &str) {
        let sent = self.write(format!("{message}\n").as_bytes()).await;
        assert!(sent.is_ok(), "the peer has closed the stream; this cannot be sent: {message}");
    }

    /// Expects exactly this message. In it `@any` is any JSON value; `@name` is any value the first
    /// time, and the same value in later calls.
    ///
    /// # Panics
    ///
    /// Panics if another message comes, if the other side closes the stream, or after 30 seconds.
    pub async fn expect(&mut self, message: &str) {
        let expected = MessageTemplate::literal(message);
        match self.next().await {
            Some(received) => assert!(
                expected.matches(&received, &mut self.values),
                "the peer sent another message\nexpected {expected}\n     got {received}"
            ),
            None => panic!("the peer closed the stream; expected {expected}"),
        }
    }

    /// Expects that no message has arrived.
    ///
    /// # Panics
    ///
    /// Panics if one has.
    pub async fn expect_silence(&mut self) {
        if let Some(received) = self.try_next().await {
            panic!("unexpected message: {received}");
        }
    }

    /// Closes our direction, and expects that the other side closes its own without another message.
    ///
    /// # Panics
    ///
    /// Panics if a message comes, or if the stream is still open after 30 seconds.
    pub async fn expect_end(mut self) {
        self.close().await;
        if let Some(received) = self.next().await {
            panic!("unexpected message: {received}");
        }
    }

    /// Returns the next message; `None` if the other side closed the stream.
    ///
    /// # Panics
    ///
    /// Panics if none comes within 30 seconds.
    pub async fn next(&mut self) -> Option<String> {
        match timeout(TIMEOUT, self.line()).await {
            Ok(line) => line,
            Err(_) => panic!("the peer sent nothing for {TIMEOUT:?}"),
        }
    }

    /// Closes our direction.
    pub async fn close(&mut self) {
        if let Some(mut sink) = self.sink.take() {
            // An error means that the other side has closed the stream already.
            let _ = sink.shutdown().await;
        }
    }

    /// Sends bytes without a newline.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let Some(sink) = &mut self.sink else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        sink.write_all(bytes).await?;
        sink.flush().await
    }

    /// Waits for the next message without a time limit. Cancel-safe: bytes that have come stay in
    /// the buffer.
    pub(crate) async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(String::from_utf8_lossy(line.trim_ascii_end()).into_owned());
            }
            // A read error counts as the end of the stream.
            if self.source.read_buf(&mut self.buffer).await.unwrap_or(0) == 0 {
                let rest = std::mem::take(&mut self.buffer);
                return (!rest.is_empty()).then(|| String::from_utf8_lossy(&rest).into_owned());
            }
        }
    }

    /// Takes a message that has arrived, without waiting.
    pub(crate) async fn try_next(&mut self) -> Option<String> {
        for _ in 0..POLLS {
            let mut line = std::pin::pin!(self.line());
            if let Poll::Ready(line) = poll_once(&mut line).await {
                return line;
            }
            yield_now().await;
        }
        None
    }
}

impl fmt::Debug for StrictPeer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StrictPeer").field("values", &self.values).finish_non_exhaustive()
    }
}
