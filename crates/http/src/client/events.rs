//! The body of a response: an event stream, or one message.
//!
//! A response without end would fill the memory or block a call forever. So a body read whole is
//! bounded in bytes, an event is bounded by the reader, and both are bounded in silence, where
//! silence means something.

use std::fmt;
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bowline_proto::codec::Received;
use bowline_proto::codec::sse::SseReader;
use bowline_proto::limits::long::{LongMessages, Oversize};
use bowline_proto::sync::poll_once;
use bowline_types::text::with_causes;
use bytes::{BufMut, Bytes, BytesMut};
use tokio::time::timeout;

use super::fetch::{BoxError, Incoming};
use super::limits::HttpClientLimits;

/// An event stream.
///
/// One connection's part of a stream. A resumed stream is a new `EventStream` with the same
/// [`Resumption`](super::legacy::Resumption).
pub(super) struct EventStream {
    body: Incoming,
    reader: SseReader,
    /// How long it may be silent, if the server sends comments.
    idle: Duration,
    /// How many comments came. The first may only open the stream; after a second one, the server is
    /// taken to keep the stream alive with comments.
    comments: usize,
}

/// One event.
pub(super) struct StreamEvent {
    /// `None` for messages.
    pub(super) name: Option<String>,
    pub(super) data: Received,
}

/// Why a body ended. After a silence, attempts to resume are counted anew. Otherwise the kind only
/// decides what the user reads.
#[derive(Debug)]
pub(super) enum Ended {
    /// The server ended it.
    Closed,
    /// It broke off.
    Broken(BoxError),
    /// Nothing came for this long.
    Silent(Duration),
    /// It is too long.
    TooLong(Oversize),
}

impl EventStream {
    pub(super) fn new(body: Incoming, limits: BodyLimits<'_>) -> Self {
        let reader = SseReader::sharing(limits.frame, limits.long_messages);
        Self { body, reader, idle: limits.http.idle, comments: 0 }
    }

    /// Reads the next event. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<StreamEvent, Ended> {
        loop {
            if let Some(event) = self.reader.next() {
                return Ok(StreamEvent { name: event.name, data: event.data });
            }
            let next = match self.is_kept_alive() {
                true => timeout(self.idle, self.body.next()).await,
                false => Ok(self.body.next().await),
            };
            match next {
                Ok(Some(Ok(piece))) => {
                    self.comments += usize::from(piece.starts_with(b":"));
                    self.reader.feed(&piece);
                }
                Ok(Some(Err(error))) => return Err(Ended::Broken(error)),
                Ok(None) => return Err(Ended::Closed),
                Err(_) => return Err(Ended::Silent(self.idle)),
            }
        }
    }

    /// Reads the next message; named events are skipped. Messages have no event name, or the name
    /// `message`, which the reader leaves out.
    pub(super) async fn message(&mut self) -> Result<Received, Ended> {
        loop {
            let event = self.next().await?;
            if event.name.is_none() {
                return Ok(event.data);
            }
        }
    }

    /// The id of the last event, from which the stream can be resumed.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.reader.last_id().filter(|id| !id.is_empty())
    }

    /// The reconnection time that the server asked for.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.reader.retry()
    }

    /// Whether the server keeps the stream alive with comments, so that silence means a dead
    /// connection. Any other stream may be silent: a call has a timeout of its own.
    fn is_kept_alive(&self) -> bool {
        self.comments > 1
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the server closed the stream before the answer"),
            Self::Broken(error) => write!(f, "the answer broke off: {}", with_causes(&**error)),
            Self::Silent(after) => write!(f, "the answer broke off: nothing came for {after:?}"),
            Self::TooLong(why) => write!(f, "the answer is {why}"),
        }
    }
}

/// How much of a body is read, and how long its reader waits.
#[derive(Clone, Copy)]
pub(super) struct BodyLimits<'a> {
    /// The most bytes of a message.
    pub(super) frame: usize,
    /// The room for long messages.
    pub(super) long_messages: &'a LongMessages,
    /// The limits of the connection.
    pub(super) http: &'a HttpClientLimits,
}

/// Reads a body of at most `most` bytes, with pauses of at most `idle`.
pub(super) async fn whole(
    body: &mut Incoming,
    most: usize,
    idle: Duration,
    room: &LongMessages,
) -> Result<Bytes, Ended> {
    let mut share = None;
    let mut first = Bytes::new();
    let mut more = BytesMut::new();
    while !body.is_over() {
        let mut next = pin!(body.next());
        // Most pieces have arrived already and need no timer.
        let next = match poll_once(&mut next).await {
            Poll::Ready(next) => Ok(next),
            Poll::Pending => timeout(idle, next).await,
        };
        match next {
            Ok(Some(Ok(piece))) => {
                let length = first.len() + more.len() + piece.len();
                if length > most {
                    return Err(Ended::TooLong(Oversize::Longer(most)));
                }
                if length > LongMessages::FREE {
                    let share = share.get_or_insert_with(|| room.share());
                    share.grow(length).map_err(Ended::TooLong)?;
                }
                // Most bodies come in one piece, which is not copied.
                if first.is_empty() && more.is_empty() {
                    first = piece;
                } else {
                    more.put(std::mem::take(&mut first));
                    more.put(piece);
                }
            }
            Ok(Some(Err(error))) => return Err(Ended::Broken(error)),
            Ok(None) => break,
            Err(_) => return Err(Ended::Silent(idle)),
        }
    }
    let text = if more.is_empty() { first } else { more.freeze() };
    Ok(match share {
        Some(share) => share.keep(text),
        None => text,
    })
}
