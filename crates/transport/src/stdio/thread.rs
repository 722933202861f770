//! Blocking files, read and written by one thread each.
//!
//! For terminals and regular files, which cannot be polled. The threads do not belong to the
//! runtime: a runtime waits for its blocking threads when it shuts down, and one that is stuck in a
//! read would keep the process alive.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::thread;

use bytes::{Buf, Bytes};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// Bytes of one blocking read or write.
const CHUNK: usize = 64 * 1024;

/// A blocking reader behind a thread. The thread reads a chunk or two ahead, then waits. It ends
/// with the file, or at its next chunk after this was dropped.
#[derive(Debug)]
pub(super) struct ThreadReader {
    chunks: mpsc::Receiver<io::Result<Bytes>>,
    rest: Bytes,
}

impl ThreadReader {
    pub(super) fn start(file: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(1);
        let name = "bowline-stdin".to_owned();
        thread::Builder::new().name(name).spawn(move || read_all(file, &sender))?;
        Ok(Self { chunks, rest: Bytes::new() })
    }

    /// A reader that reports an error once and then ends.
    pub(super) fn broken(error: io::Error) -> Self {
        let (sender, chunks) = mpsc::channel(1);
        // The channel is new and has room.
        let _ = sender.try_send(Err(error));
        Self { chunks, rest: Bytes::new() }
    }
}

impl AsyncRead for ThreadReader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.rest.is_empty() {
            match ready!(self.chunks.poll_recv(context)) {
                Some(Ok(chunk)) => self.rest = chunk,
                Some(Err(error)) => return Poll::Ready(Err(error)),
                None => return Poll::Ready(Ok(())),
            }
        }
        let count = self.rest.len().min(buffer.remaining());
        let chunk = self.rest.split_to(count);
        buffer.put_slice(&chunk);
        Poll::Ready(Ok(()))
    }
}

/// What the thread does.
fn read_all(mut file: impl Read, chunks: &mpsc::Sender<io::Result<Bytes>>) {
    let mut buffer = vec![0; CHUNK];
    loop {
        let chunk = match file.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => Ok(buffer.iter().take(count).copied().collect()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => Err(error),
        };
        let is_last = chunk.is_err();
        if chunks.blocking_send(chunk).is_err() || is_last {
            return;
        }
    }
}

/// A blocking writer behind a thread. One chunk is under way at a time, so what is accepted is
/// written or reported.
#[derive(Debug)]
pub(super) struct ThreadWriter {
    chunks: mpsc::Sender<Bytes>,
    written: mpsc::Receiver<io::Result<()>>,
    /// Whether the thread is writing a chunk.
    busy: bool,
}

impl ThreadWriter {
    pub(super) fn start(file: impl Write + Send + 'static) -> io::Result<Self> {
        let (chunks, work) = mpsc::channel(1);
        let (report, written) = mpsc::channel(1);
        let name = "bowline-stdout".to_owned();
        thread::Builder::new().name(name).spawn(move || write_all(file, work, &report))?;
        Ok(Self { chunks, written, busy: false })
    }

    /// A writer that reports an error once and then is closed.
    pub(super) fn broken(error: io::Error) -> Self {
        let (chunks, _) = mpsc::channel(1);
        let (report, written) = mpsc::channel(1);
        // The channel is new and has room.
        let _ = report.try_send(Err(error));
        Self { chunks, written, busy: true }
    }

    /// Ready when the thread has written what it had, with the outcome.
    fn poll_idle(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.busy {
            return Poll::Ready(Ok(()));
        }
        let report = ready!(self.written.poll_recv(context));
        self.busy = false;
        Poll::Ready(report.unwrap_or_else(|| Err(io::ErrorKind::BrokenPipe.into())))
    }
}

impl AsyncWrite for ThreadWriter {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        ready!(self.poll_idle(context))?;
        let chunk: Bytes = bytes.iter().take(CHUNK).copied().collect();
        let count = chunk.remaining();
        match self.chunks.try_send(chunk) {
            Ok(()) => {
                self.busy = true;
                Poll::Ready(Ok(count))
            }
            Err(_) => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_idle(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}

/// What the thread does. It flushes after each chunk, since a message may be in it that the client
/// waits for.
fn write_all(
    mut file: impl Write,
    mut chunks: mpsc::Receiver<Bytes>,
    report: &mpsc::Sender<io::Result<()>>,
) {
    while let Some(chunk) = chunks.blocking_recv() {
        let result = file.write_all(&chunk).and_then(|()| file.flush());
        let is_last = result.is_err();
        if report.blocking_send(result).is_err() || is_last {
            return;
        }
    }
}
