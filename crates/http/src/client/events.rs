//! The body of an answer: a stream of events, or one message.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bowline_proto::codec::Unit;
use bowline_proto::codec::sse::SseReader;
use bytes::{BufMut, Bytes, BytesMut};
use tokio::time::timeout;

use super::failure::Chain;
use super::fetch::{BoxError, Incoming};
use super::limits::HttpClientLimits;

/// A stream of events as it is read.
pub(super) struct Events {
    body: Incoming,
    reader: SseReader,
    idle: Duration,
    /// Comments that have come. One may be there to open the stream; who sends a second one will go
    /// on with that.
    comments: usize,
}

/// One event.
pub(super) struct Event {
    pub(super) name: Option<String>,
    pub(super) unit: Unit,
}

/// Why a body brings nothing more.
#[derive(Debug)]
pub(super) enum Ended {
    /// The server ended it.
    Closed,
    /// It broke off.
    Broken(BoxError),
    /// Nothing came for this long.
    Silent(Duration),
    /// It is longer than this many bytes.
    TooLong(usize),
}

impl Events {
    pub(super) fn new(body: Incoming, frame: usize, limits: &HttpClientLimits) -> Self {
        Self { body, reader: SseReader::new(frame), idle: limits.idle, comments: 0 }
    }

    /// The next event. Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Result<Event, Ended> {
        loop {
            if let Some(event) = self.reader.next() {
                return Ok(Event { name: event.name, unit: event.data });
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

    /// The next message; other events mean nothing.
    pub(super) async fn message(&mut self) -> Result<Unit, Ended> {
        loop {
            let event = self.next().await?;
            if event.name.is_none() {
                return Ok(event.unit);
            }
        }
    }

    /// Where to go on, if the server said.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.reader.last_id().filter(|id| !id.is_empty())
    }

    /// When to come back, if the server said.
    pub(super) fn retry(&self) -> Option<Duration> {
        self.reader.retry()
    }

    /// Whether the server keeps the stream alive, so that silence means a dead connection. Any other
    /// stream may be silent: a call has a time-out of its own, and news come when there are some.
    fn is_kept_alive(&self) -> bool {
        self.comments > 1
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the server closed the stream before the answer"),
            Self::Broken(error) => write!(f, "the answer broke off: {}", Chain(&**error)),
            Self::Silent(after) => write!(f, "the answer broke off: nothing came for {after:?}"),
            Self::TooLong(most) => write!(f, "the answer is longer than {most} bytes"),
        }
    }
}

/// Reads a body of at most so many bytes.
pub(super) async fn whole(
    body: &mut Incoming,
    most: usize,
    idle: Duration,
) -> Result<Bytes, Ended> {
    let mut first = Bytes::new();
    let mut more = BytesMut::new();
    while !body.is_over() {
        let mut next = pin!(body.next());
        // Most pieces are there already, and need no clock.
        let begun = poll_fn(|cx| Poll::Ready(next.as_mut().poll(cx))).await;
        let next = match begun {
            Poll::Ready(next) => Ok(next),
            Poll::Pending => timeout(idle, next).await,
        };
        match next {
            Ok(Some(Ok(piece))) => {
                if first.len() + more.len() + piece.len() > most {
                    return Err(Ended::TooLong(most));
                }
                // Most bodies come in one piece, which is then not copied.
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
    Ok(if more.is_empty() { first } else { more.freeze() })
}
