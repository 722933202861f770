//! Clients that read slowly, in virtual time.

use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

use super::*;

/// A client that takes some bytes from time to time.
struct Slow {
    bytes: usize,
    pause: Duration,
    until: Pin<Box<Sleep>>,
}

impl AsyncRead for Slow {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Pending
    }
}

impl AsyncWrite for Slow {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.until.as_mut().poll(cx));
        let next = Instant::now() + self.pause;
        self.until.as_mut().reset(next);
        Poll::Ready(Ok(bytes.len().min(self.bytes)))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// How long it takes to write a megabyte to such a client, or until it is cut.
async fn write(bytes: usize, pause: Duration) -> (Duration, io::Result<()>) {
    let slow = Slow { bytes, pause, until: Box::pin(sleep(pause)) };
    let least = MinimumPace { bytes: 20_480, within: Duration::from_secs(10) };
    let mut socket = WatchedSocket::new(slow, Arc::default(), least);
    let begun = Instant::now();
    let written = async {
        socket.write_all(&vec![0; 1_000_000]).await?;
        socket.flush().await
    };
    let written = written.await;
    (begun.elapsed(), written)
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_slowly_is_waited_for() {
    let (elapsed, written) = write(10_000, Duration::from_secs(3)).await;
    assert!(written.is_ok(), "{written:?} after {elapsed:?}");
    assert!(elapsed >= Duration::from_secs(300), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_one_byte_now_and_then_is_cut() {
    let (elapsed, written) = write(1, Duration::from_secs(3)).await;
    assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert!(elapsed < Duration::from_secs(21), "{elapsed:?}");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_is_cut() {
    let (elapsed, written) = write(1, Duration::from_secs(3600)).await;
    assert_eq!(written.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert!(elapsed >= Duration::from_secs(10) && elapsed < Duration::from_secs(11));
}
