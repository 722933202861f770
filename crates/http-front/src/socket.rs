//! The socket of a connection, which fails when the client takes too little of what is written.
//!
//! hyper waits for a slow client as long as the client likes. Meanwhile the answer, its session and
//! its slots stay in memory, so a client that reads nothing could hold them forever. This
//! socket therefore fails the pending write after [`MinimumPace`], and hyper drops the connection
//! with everything on it. Over HTTP/2 one stream can stall while others flow, which the socket does
//! not see; `flow.rs` watches that.

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::read_pace::{MinimumPace, ReadPace};

/// A socket whose writes have to keep the [`MinimumPace`]. One for each accepted connection,
/// between TCP and hyper.
pub(crate) struct WatchedSocket<T> {
    inner: T,
    /// What the checks of [`Connections`](crate::connections::Connections) read.
    traffic: Arc<Traffic>,
    minimum: MinimumPace,
    /// Runs only while a write is pending, so a client that reads fast never has a timer.
    pace: ReadPace,
    /// Runs while the rest of what the client sends is read and thrown away.
    lingering: Option<Pin<Box<Sleep>>>,
    #[cfg(feature = "http2")]
    first: FirstBytes,
}

/// What a socket is seen to do. Written by the task of the connection, read by the accept loop. An
/// older value only delays a check.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Set by each read that brought bytes.
    has_read: AtomicBool,
    /// Set from a pending write until everything has been flushed.
    waits: AtomicBool,
}

impl Traffic {
    /// Notes that a request has been answered: bytes that are read from now on belong to the next one.
    pub(crate) fn answered(&self) {
        self.has_read.store(false, Ordering::Relaxed);
    }

    /// Whether anything was read since the last answer and since the last call of this method.
    pub(crate) fn has_read(&self) -> bool {
        self.has_read.swap(false, Ordering::Relaxed)
    }

    /// Whether something waits to be written.
    pub(crate) fn waits(&self) -> bool {
        self.waits.load(Ordering::Relaxed)
    }
}

impl<T> WatchedSocket<T> {
    pub(crate) fn new(inner: T, traffic: Arc<Traffic>, minimum: MinimumPace) -> Self {
        Self {
            inner,
            traffic,
            minimum,
            pace: ReadPace::new(minimum),
            lingering: None,
            #[cfg(feature = "http2")]
            first: FirstBytes::default(),
        }
    }

    /// Turns a write that is pending for too long into an error. The error ends the connection:
    /// part of an answer may be written already, so there is no way to send a status.
    fn watch<R>(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<R>>) -> Poll<io::Result<R>> {
        if poll.is_ready() {
            return poll;
        }
        self.traffic.waits.store(true, Ordering::Relaxed);
        ready!(self.pace.poll_stalled(cx));
        let reason = "the client takes too little of what is sent to it";
        Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, reason)))
    }

    /// The same for a write of bytes. What the client's system has accepted counts as read, which
    /// is why little may be unsent (`tcp.rs`).
    fn written(
        &mut self,
        cx: &mut Context<'_>,
        poll: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(count)) = poll {
            self.pace.take(count);
        }
        self.watch(cx, poll)
    }

    /// The same for a flush or shutdown: after it nothing waits to be written.
    fn done(&mut self, cx: &mut Context<'_>, poll: Poll<io::Result<()>>) -> Poll<io::Result<()>> {
        if poll.is_ready() && self.pace.is_waiting() {
            self.pace.rest();
            self.traffic.waits.store(false, Ordering::Relaxed);
        }
        self.watch(cx, poll)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for WatchedSocket<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        #[cfg(feature = "http2")]
        if self.first.give(buffer) {
            return Poll::Ready(Ok(()));
        }
        let before = buffer.filled().len();
        let poll = Pin::new(&mut self.inner).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.traffic.has_read.store(true, Ordering::Relaxed);
        }
        poll
    }
}

impl<T: AsyncRead + Unpin> WatchedSocket<T> {
    /// Reads and throws away what the client still sends, until it ends or takes too long. A socket
    /// that is closed with unread bytes resets the connection, and the client might lose the
    /// answer. Bounded by `stall`, from the first byte that is thrown away. A client that has sent
    /// everything costs one read.
    fn linger(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut space = [MaybeUninit::uninit(); 8192];
        loop {
            if let Some(lingering) = &mut self.lingering
                && lingering.as_mut().poll(cx).is_ready()
            {
                return Poll::Ready(());
            }
            let mut buffer = ReadBuf::uninit(&mut space);
            match Pin::new(&mut self.inner).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    let within = self.minimum.within;
                    self.lingering.get_or_insert_with(|| Box::pin(sleep(within)));
                }
                Poll::Pending if self.lingering.is_some() => return Poll::Pending,
                // The client has closed its side, or sends nothing.
                _ => return Poll::Ready(()),
            }
        }
    }
}

impl<T: AsyncRead + AsyncWrite + Unpin> AsyncWrite for WatchedSocket<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.inner).poll_write(cx, bytes);
        self.written(cx, poll)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let poll = Pin::new(&mut self.inner).poll_write_vectored(cx, slices);
        self.written(cx, poll)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    // hyper calls it once everything has been written.
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.inner).poll_flush(cx);
        self.done(cx, poll)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let poll = Pin::new(&mut self.inner).poll_shutdown(cx);
        ready!(self.done(cx, poll))?;
        self.linger(cx).map(Ok)
    }
}

/// The first bytes of a connection. They show whether the client speaks HTTP/2, and are then read
/// again as the beginning of the stream. Three bytes tell the two protocols apart.
#[cfg(feature = "http2")]
#[derive(Debug, Default)]
struct FirstBytes {
    bytes: [u8; 3],
    count: usize,
    given: usize,
}

#[cfg(feature = "http2")]
impl FirstBytes {
    /// How the preface of HTTP/2 begins. HTTP/1.1 has no method of this name (RFC 9113, 11.6).
    const PREFACE: [u8; 3] = *b"PRI";

    /// Copies bytes into a read buffer. Returns whether there were any left.
    fn give(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let left = self.bytes.get(self.given..self.count).unwrap_or_default();
        let given = left.get(..buffer.remaining().min(left.len())).unwrap_or_default();
        buffer.put_slice(given);
        self.given += given.len();
        !given.is_empty()
    }
}

#[cfg(feature = "http2")]
impl<T: AsyncRead + Unpin> WatchedSocket<T> {
    /// Whether the client speaks HTTP/2. Called before anything else reads the socket. A client
    /// that closes before three bytes have come is treated as HTTP/1.1, which then sees the end.
    pub(crate) fn poll_is_http2(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<bool>> {
        loop {
            let FirstBytes { bytes, count, .. } = &mut self.first;
            let (read, rest) = bytes.split_at_mut(*count);
            let is_like = FirstBytes::PREFACE.starts_with(read);
            if !is_like || rest.is_empty() {
                return Poll::Ready(Ok(is_like));
            }
            let mut buffer = ReadBuf::new(rest);
            ready!(Pin::new(&mut self.inner).poll_read(cx, &mut buffer))?;
            match buffer.filled().len() {
                0 => return Poll::Ready(Ok(false)),
                some => *count += some,
            }
        }
    }
}

#[cfg(test)]
mod tests;
