//! One message per line, over any two byte streams.
//!
//! Framing is [`bowline_proto::codec::lines`]; this file adds the reading and the writing. All
//! state lives in the reader and the writer and none in their futures, so a future that is dropped
//! in the middle of a message loses nothing.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::time::Duration;

use bowline_proto::codec::Received;
use bowline_proto::codec::lines::LineReader;
use bowline_proto::limits::Limits;
use bowline_proto::one_line::in_one_line;
use bowline_proto::transmit::Transmit;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use crate::error::Error;
use crate::transport::{PeerIdentity, Reader, Transport, Writer};

/// Bytes reserved for one read while messages are small.
const READ: usize = 8 * 1024;

/// Bytes reserved for a read after one that filled its buffer: the capacity of a pipe.
const READ_MORE: usize = 64 * 1024;

/// Messages up to this many bytes are copied together; that is cheaper than one more slice.
const COPY: usize = 4 * 1024;

/// How many bytes are gathered for one write: the capacity of a pipe.
const BATCH: usize = 64 * 1024;

/// How long a peer may delay `close`.
const CLOSE: Duration = Duration::from_secs(2);

/// Two byte streams as a transport, such as the two directions of a TCP connection.
///
/// The streams say nothing about the client of a server, so it is anonymous and has no scopes, unless
/// [`with_peer_identity`](Self::with_peer_identity) says who it is.
///
/// ```
/// use bowline_transport::lines::Lines;
///
/// let (near, _far) = tokio::io::duplex(1024);
/// let (reader, writer) = tokio::io::split(near);
/// let transport = Lines::new(reader, writer);
/// # let _ = transport;
/// ```
#[derive(Debug)]
pub struct Lines<R, W> {
    source: R,
    sink: W,
    client: PeerIdentity,
}

impl<R, W> Lines<R, W> {
    /// A transport that reads from one stream and writes to the other.
    pub fn new(source: R, sink: W) -> Self {
        Self { source, sink, client: PeerIdentity::anonymous() }
    }

    /// States who the client of a server is. The program must have verified that.
    #[must_use]
    pub fn with_peer_identity(mut self, client: PeerIdentity) -> Self {
        self.client = client;
        self
    }
}

impl<R, W> Transport for Lines<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Reader = LinesReader<R>;
    type Writer = LinesWriter<W>;

    fn peer_identity(&self) -> PeerIdentity {
        self.client.clone()
    }

    fn split(self, limits: &Limits) -> (Self::Reader, Self::Writer) {
        (LinesReader::new(self.source, limits), LinesWriter::new(self.sink))
    }
}

/// The receiving half of [`Lines`]. Reads ahead as far as bytes have come, and gives whole lines.
#[derive(Debug)]
pub struct LinesReader<R> {
    /// `None` once the stream has ended.
    source: Option<R>,
    lines: LineReader,
    /// How many bytes the next read reserves.
    room: usize,
}

impl<R> LinesReader<R> {
    /// A reader of lines of at most [`Limits::frame`] bytes.
    pub fn new(source: R, limits: &Limits) -> Self {
        let lines = LineReader::sharing(limits.frame, &limits.long_messages);
        Self { source: Some(source), lines, room: READ }
    }
}

impl<R: AsyncRead + Unpin + Send + 'static> Reader for LinesReader<R> {
    type Item = Received;

    async fn read(&mut self) -> Result<Option<Received>, Error> {
        loop {
            if let Some(received) = self.lines.next() {
                return Ok(Some(received));
            }
            let Some(source) = &mut self.source else {
                return Ok(None);
            };
            let buffer = self.lines.buffer();
            buffer.reserve(self.room);
            let room = buffer.capacity() - buffer.len();
            match source.read_buf(buffer).await {
                Ok(0) => return Ok(self.finish()),
                Ok(count) => self.room = if count < room { READ } else { READ_MORE },
                Err(error) => {
                    let last = self.finish();
                    let error = Error::io("cannot read from the channel", error);
                    // A peer that closes without having read our messages resets the channel. That
                    // counts as a normal end, and its last messages are still delivered.
                    return if error.is_closed() { Ok(last) } else { Err(error) };
                }
            }
        }
    }
}

impl<R> LinesReader<R> {
    /// Ends the reading. A last line without a newline is still delivered.
    fn finish(&mut self) -> Option<Received> {
        self.source = None;
        self.lines.finish()
    }
}

/// The sending half of [`Lines`]. After a failed write it is closed: part of a line may be written,
/// so nothing can follow.
#[derive(Debug)]
pub struct LinesWriter<W> {
    /// `None` once it is closed or broken.
    sink: Option<W>,
    backlog: Backlog,
}

impl<W> LinesWriter<W> {
    /// A writer of lines.
    pub fn new(sink: W) -> Self {
        Self { sink: Some(sink), backlog: Backlog::default() }
    }
}

impl<W: AsyncWrite + Unpin + Send + 'static> Writer for LinesWriter<W> {
    async fn write(&mut self, queue: &mut VecDeque<Transmit>) -> Result<(), Error> {
        let Some(sink) = &mut self.sink else {
            return Err(Error::closed());
        };
        let result = write_all(sink, &mut self.backlog, queue).await;
        result.map_err(|error| {
            self.sink = None;
            Error::io("cannot write to the channel", error)
        })
    }

    async fn close(&mut self) {
        if let Some(mut sink) = self.sink.take() {
            // If this fails or the peer stalls, dropping the stream ends it all the same.
            let _ = timeout(CLOSE, sink.shutdown()).await;
        }
    }
}

/// Whether a line begins as a message does: with an object, or with an array of objects. A banner such
/// as `[INFO] listening` is not one, nor is an object that is no JSON.
pub fn may_be_message(line: &[u8]) -> bool {
    let mut bytes = line.iter().filter(|byte| !byte.is_ascii_whitespace());
    let begins = (bytes.next(), bytes.next());
    matches!(begins, (Some(b'{'), Some(b'"' | b'}')) | (Some(b'['), Some(b'{' | b']')))
}

/// Goes on until the queue is empty, in pieces of about [`BATCH`] bytes.
async fn write_all<W: AsyncWrite + Unpin>(
    sink: &mut W,
    backlog: &mut Backlog,
    queue: &mut VecDeque<Transmit>,
) -> io::Result<()> {
    loop {
        backlog.fill(queue);
        if !backlog.has_remaining() {
            return sink.flush().await;
        }
        sink.write_all_buf(backlog).await?;
    }
}

/// Lines that were taken from the queue and are not written yet. Part of the writer and not of a
/// future, so a write that is dropped half-way goes on where it was.
#[derive(Debug, Default)]
struct Backlog {
    chunks: VecDeque<Bytes>,
    remaining: usize,
    /// Small messages, copied together.
    joined: BytesMut,
}

impl Backlog {
    /// Takes messages from the queue until there is enough for one write. Short messages are copied
    /// together into one slice; a long one becomes a slice of its own without a copy.
    fn fill(&mut self, queue: &mut VecDeque<Transmit>) {
        while self.remaining + self.joined.len() < BATCH {
            let Some(transmit) = queue.pop_front() else {
                break;
            };
            let frame = in_one_line(transmit.frame);
            if frame.len() <= COPY {
                self.joined.reserve(frame.len() + 1);
                self.joined.put_slice(&frame);
            } else {
                self.seal();
                self.push(frame);
            }
            self.joined.put_u8(b'\n');
        }
        self.seal();
    }

    /// Ends the slice of copied messages, so that order is kept.
    fn seal(&mut self) {
        if !self.joined.is_empty() {
            let joined = self.joined.split().freeze();
            self.push(joined);
        }
    }

    fn push(&mut self, chunk: Bytes) {
        self.remaining += chunk.len();
        self.chunks.push_back(chunk);
    }
}

impl Buf for Backlog {
    fn remaining(&self) -> usize {
        self.remaining
    }

    fn chunk(&self) -> &[u8] {
        self.chunks.front().map_or(&[], |chunk| chunk)
    }

    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut count = 0;
        for (slice, chunk) in slices.iter_mut().zip(&self.chunks) {
            *slice = IoSlice::new(chunk);
            count += 1;
        }
        count
    }

    fn advance(&mut self, mut count: usize) {
        self.remaining -= count;
        while let Some(chunk) = self.chunks.front_mut() {
            if count < chunk.len() {
                chunk.advance(count);
                return;
            }
            count -= chunk.len();
            self.chunks.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use bowline_proto::transmit::{Role, Route};

    use super::*;

    fn queue(frames: &[Bytes]) -> VecDeque<Transmit> {
        let transmit = |frame: &Bytes| Transmit {
            route: Route::Standalone,
            role: Role::Within,
            frame: frame.clone(),
            mirror: None,
        };
        frames.iter().map(transmit).collect()
    }

    // spec: STDIO-2
    #[test]
    fn a_line_end_inside_a_message_becomes_a_space() {
        let mut backlog = Backlog::default();
        backlog.fill(&mut queue(&[Bytes::from_static(b"{\r\n  \"a\": 1\n}")]));
        assert_eq!(backlog.chunk(), b"{    \"a\": 1 }\n");
    }

    #[test]
    fn small_messages_are_joined_and_large_ones_are_not_copied() {
        let large = Bytes::from(vec![b'x'; COPY + 1]);
        let mut backlog = Backlog::default();
        let small = Bytes::from_static(b"{}");
        backlog.fill(&mut queue(&[small.clone(), small.clone(), large.clone(), small]));
        assert_eq!(backlog.chunks.len(), 3);
        assert_eq!(backlog.chunks[0], "{}\n{}\n");
        assert_eq!(backlog.chunks[1].as_ptr(), large.as_ptr());
        assert_eq!(backlog.chunks[2], "\n{}\n");
    }

    #[test]
    fn a_backlog_may_be_written_in_steps_of_any_size() {
        let frames: Vec<_> = (0..50).map(|n| Bytes::from(vec![b'a'; n * 300])).collect();
        let expected: Vec<u8> =
            frames.iter().flat_map(|frame| frame.iter().copied().chain([b'\n'])).collect();
        for step in [1, 7, 4096, 100_000] {
            let (mut backlog, mut queue) = (Backlog::default(), queue(&frames));
            let mut written = Vec::new();
            loop {
                backlog.fill(&mut queue);
                if !backlog.has_remaining() {
                    break;
                }
                let count = step.min(backlog.chunk().len());
                written.extend_from_slice(&backlog.chunk()[..count]);
                backlog.advance(count);
            }
            assert!(written == expected, "{step}");
        }
    }

    #[test]
    fn the_backlog_takes_no_more_than_it_needs_for_one_write() {
        let frames = vec![Bytes::from(vec![b'x'; 16 * 1024]); 100];
        let (mut backlog, mut queue) = (Backlog::default(), queue(&frames));
        backlog.fill(&mut queue);
        assert_eq!(queue.len(), 96);
    }
}
