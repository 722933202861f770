//! Which HTTP a client speaks, by what it says first.
//!
//! Found out before there is anything of either protocol, so that a connection has room for the one
//! that it speaks only. What was read meanwhile is read again, together with what follows: a buffer
//! that was filled by a few bytes first would be made twice as large for the rest.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// What every client of HTTP/2 says first, and no other.
const PREFACE: [u8; 24] = *b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The protocols that there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Http1,
    Http2,
}

/// A connection whose first bytes can be looked at.
pub(super) struct Begun<T> {
    inner: T,
    /// What was looked at, as far as it was not read since.
    seen: Seen,
}

#[derive(Default)]
struct Seen {
    bytes: [u8; PREFACE.len()],
    from: usize,
    to: usize,
}

impl Seen {
    fn rest(&self) -> &[u8] {
        self.bytes.get(self.from..self.to).unwrap_or_default()
    }
}

impl<T> Begun<T> {
    pub(super) fn new(inner: T) -> Self {
        Self { inner, seen: Seen::default() }
    }
}

impl<T: AsyncRead + Unpin> Begun<T> {
    /// Looks at as much as it takes to tell the protocols apart. To be asked before anything is read.
    pub(super) async fn protocol(&mut self) -> io::Result<Protocol> {
        poll_fn(|cx| self.poll_protocol(cx)).await
    }

    fn poll_protocol(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Protocol>> {
        let Self { inner, seen } = self;
        loop {
            if !PREFACE.starts_with(seen.rest()) {
                return Poll::Ready(Ok(Protocol::Http1));
            }
            let mut buffer = ReadBuf::new(seen.bytes.get_mut(seen.to..).unwrap_or_default());
            if buffer.remaining() == 0 {
                return Poll::Ready(Ok(Protocol::Http2));
            }
            ready!(Pin::new(&mut *inner).poll_read(cx, &mut buffer))?;
            match buffer.filled().len() {
                // A client that ends before it has said which is of the older kind.
                0 => return Poll::Ready(Ok(Protocol::Http1)),
                read => seen.to += read,
            }
        }
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Begun<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { inner, seen } = &mut *self;
        let again = seen.rest();
        if again.is_empty() {
            return Pin::new(inner).poll_read(cx, buffer);
        }
        let again = again.get(..buffer.remaining()).unwrap_or(again);
        buffer.put_slice(again);
        seen.from += again.len();
        if buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        match Pin::new(inner).poll_read(cx, buffer) {
            Poll::Pending => Poll::Ready(Ok(())),
            read => read,
        }
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Begun<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    /// What a client that says this, in these pieces, is taken for; and what is read afterwards.
    async fn met(pieces: &[&[u8]]) -> (Protocol, Vec<u8>) {
        let (mut client, server) = tokio::io::duplex(1024);
        let mut begun = Begun::new(server);
        let saying = async move {
            for piece in pieces {
                client.write_all(piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let meeting = async {
            let protocol = begun.protocol().await.unwrap();
            let mut read = Vec::new();
            begun.read_to_end(&mut read).await.unwrap();
            (protocol, read)
        };
        tokio::join!(saying, meeting).1
    }

    #[tokio::test]
    async fn only_the_whole_preface_is_http_2() {
        let bytes: Vec<_> = PREFACE.chunks(1).collect();
        for (pieces, protocol) in [
            (&[&PREFACE[..], b"rest"][..], Protocol::Http2),
            (&bytes, Protocol::Http2),
            (&[b"GET / HTTP/1.1\r\n\r\n"], Protocol::Http1),
            (&[b"P", b"OST / HTTP/1.1\r\n\r\n"], Protocol::Http1),
            (&[b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r", b"x"], Protocol::Http1),
            (&[b"PRI"], Protocol::Http1),
            (&[], Protocol::Http1),
        ] {
            assert_eq!(met(pieces).await, (protocol, pieces.concat()));
        }
    }

    #[tokio::test]
    async fn what_follows_is_read_together_with_what_was_seen() {
        let head = b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let mut begun = Begun::new(&head[..]);
        begun.protocol().await.unwrap();
        let mut buffer = [0; 1024];
        assert_eq!(begun.read(&mut buffer).await.unwrap(), head.len());
        assert_eq!(buffer[..head.len()], *head);
    }

    #[tokio::test]
    async fn what_was_seen_is_read_in_pieces_if_there_is_no_room() {
        let mut begun = Begun::new(&b"GET / HTTP/1.1\r\n\r\n"[..]);
        begun.protocol().await.unwrap();
        let mut buffer = [0; 5];
        begun.read_exact(&mut buffer).await.unwrap();
        assert_eq!(buffer, *b"GET /");
        begun.read_exact(&mut buffer).await.unwrap();
        assert_eq!(buffer, *b" HTTP");
    }
}
