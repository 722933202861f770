//! A client that says exactly what it is told, and takes nothing that it did not expect.
//!
//! Real clients are tolerant: they drop answers that come late, twice or unasked, and so hide the
//! servers that send them. This one fails.

use std::fmt;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::transcript::{Text, Values};

/// How long to wait for a message. In a runtime with paused time that is no time at all.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often everything else may run before it is taken for quiet.
const QUIET: usize = 32;

/// A strict client over any two streams of bytes.
///
/// ```
/// use bowline_testing::Strict;
///
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() {
/// let (near, far) = tokio::io::duplex(1024);
/// let mut server = Strict::new(far);
/// let mut client = Strict::new(near);
/// client.send(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
/// server.expect(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;
/// server.send(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#).await;
/// client.expect(r#"{"jsonrpc":"2.0","id":1,"result":@any}"#).await;
/// client.expect_silence().await;
/// # }
/// ```
pub struct Strict {
    source: Box<dyn AsyncRead + Send + Unpin>,
    /// Gone once our direction is closed.
    sink: Option<Box<dyn AsyncWrite + Send + Unpin>>,
    buffer: Vec<u8>,
    values: Values,
}

impl Strict {
    /// A client over one stream that goes both ways.
    pub fn new(stream: impl AsyncRead + AsyncWrite + Send + 'static) -> Self {
        let (source, sink) = tokio::io::split(stream);
        Self::over(source, sink)
    }

    /// A client over one stream to read from and one to write to.
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

    /// Sends a message.
    ///
    /// # Panics
    ///
    /// If the peer is gone.
    pub async fn send(&mut self, message: &str) {
        let sent = self.write(format!("{message}\n").as_bytes()).await;
        assert!(sent.is_ok(), "the peer is gone; it cannot be told {message}");
    }

    /// Expects a message, exactly as it is written here. In it `@any` stands for any JSON value,
    /// and `@name` for any the first time and for the same from then on.
    ///
    /// # Panics
    ///
    /// If another message comes, or none.
    pub async fn expect(&mut self, message: &str) {
        let expected = Text::literal(message);
        match self.next().await {
            Some(said) => assert!(
                expected.matches(&said, &mut self.values),
                "the peer said something else\nexpected {expected}\n     got {said}"
            ),
            None => panic!("the peer said nothing more; expected {expected}"),
        }
    }

    /// Expects that nothing has come by now.
    ///
    /// # Panics
    ///
    /// If something has.
    pub async fn expect_silence(&mut self) {
        if let Some(said) = self.spare().await {
            panic!("the peer said something that nobody expected: {said}");
        }
    }

    /// Closes our direction, and expects that the peer says nothing more and closes its own.
    ///
    /// # Panics
    ///
    /// If the peer says something, or stays.
    pub async fn expect_end(mut self) {
        self.end().await;
        if let Some(said) = self.next().await {
            panic!("the peer said something that nobody expected: {said}");
        }
    }

    /// The next message; `None` if the peer closed its end.
    ///
    /// # Panics
    ///
    /// If none comes for a long time.
    pub async fn next(&mut self) -> Option<String> {
        match timeout(PATIENCE, self.line()).await {
            Ok(line) => line,
            Err(_) => panic!("the peer said nothing for {PATIENCE:?}"),
        }
    }

    /// Closes our direction.
    pub async fn end(&mut self) {
        if let Some(mut sink) = self.sink.take() {
            // A peer that is gone already needs no word of it.
            let _ = sink.shutdown().await;
        }
    }

    /// Sends bytes as they are.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let Some(sink) = &mut self.sink else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        sink.write_all(bytes).await?;
        sink.flush().await
    }

    /// The next message, without any limit on the wait.
    pub(crate) async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return Some(String::from_utf8_lossy(line.trim_ascii_end()).into_owned());
            }
            // A channel that breaks has ended all the same.
            if self.source.read_buf(&mut self.buffer).await.unwrap_or(0) == 0 {
                let rest = std::mem::take(&mut self.buffer);
                return (!rest.is_empty()).then(|| String::from_utf8_lossy(&rest).into_owned());
            }
        }
    }

    /// A message that has come by now.
    pub(crate) async fn spare(&mut self) -> Option<String> {
        for _ in 0..QUIET {
            let mut line = std::pin::pin!(self.line());
            let polled =
                std::future::poll_fn(|cx| Poll::Ready(Pin::new(&mut line).as_mut().poll(cx)));
            if let Poll::Ready(line) = polled.await {
                return line;
            }
            yield_now().await;
        }
        None
    }
}

impl fmt::Debug for Strict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Strict").field("values", &self.values).finish_non_exhaustive()
    }
}
