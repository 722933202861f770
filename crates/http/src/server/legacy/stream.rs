//! The streams of sessions: the answer to a POST, the GET stream, and either told again.
//!
//! An event's id names its stream and its place there, `3.17`, so that nobody who comes back gets
//! what belongs to another stream.

use std::sync::Arc;
use std::time::Duration;

use bowline_proto::codec::sse;
use bowline_proto::transmit::Role;
use bowline_store::backend::Position;
use bowline_store::events::{Event, Replay, ReplayError};
use bowline_transport::BoxFuture;
use bowline_types::revision::Revision;
use bytes::{Bytes, BytesMut};

use super::super::body::Tell;
use super::drive::{Drive, Listening, Said};
use super::session::{Busy, STANDALONE, Session, Start};

/// Where a stream was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) stream: u64,
    pub(super) position: Position,
}

impl Place {
    /// Reads the id of an event of ours.
    pub(super) fn parse(id: &str) -> Option<Self> {
        let (stream, position) = id.split_once('.')?;
        Some(Self { stream: digits(stream)?, position: Position(digits(position)?) })
    }
}

fn digits(text: &str) -> Option<u64> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then(|| text.parse().ok()).flatten()
}

fn id(stream: u64, position: Position) -> String {
    format!("{stream}.{}", position.0)
}

/// The answer to a POST, once it is a stream.
pub(super) struct PostStream {
    drive: Drive,
    stream: u64,
    /// Whether it begins with a place to come back to.
    has_places: bool,
    first: Option<Said>,
    is_begun: bool,
    is_over: bool,
}

impl PostStream {
    /// A stream that begins with what was said first.
    pub(super) fn new(mut drive: Drive, first: Said) -> Self {
        let log = drive.session().new_stream();
        let stream = log.as_ref().map_or(STANDALONE, |log| log.number);
        let has_places = log.is_some() && has_places(drive.session());
        if let Some(log) = log {
            drive.log_to(log, &first);
        }
        Self { drive, stream, has_places, first: Some(first), is_begun: false, is_over: false }
    }
}

impl Tell for PostStream {
    async fn tell(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        let mut text = BytesMut::new();
        if !std::mem::replace(&mut self.is_begun, true) {
            self.drive.begin().await;
            if self.has_places {
                sse::write_place(&mut text, Some(&id(self.stream, Position(0))), None);
            }
        }
        loop {
            if self.is_over {
                return None;
            }
            let said = match self.first.take() {
                Some(said) => Some(said),
                None => self.drive.next().await,
            };
            match said {
                Some(Said::Message(role, message)) => {
                    let position = self.drive.record(role, &message).await;
                    let id = position.map(|position| id(self.stream, position));
                    sse::write_event(&mut text, id.as_deref(), &message);
                    self.is_over = role == Role::Ends;
                }
                // What runs goes on without us, and the client comes back for the rest.
                Some(Said::Pause(after)) if self.has_places => {
                    sse::write_place(&mut text, None, Some(after));
                    self.is_over = true;
                }
                Some(Said::Pause(_)) => continue,
                None => {
                    self.drive.finish().await;
                    self.is_over = true;
                    if text.is_empty() {
                        return None;
                    }
                }
            }
            return Some((text.freeze(), self));
        }
    }
}

/// The GET stream. It tells what is in its log, and writes there what is to be told; so nothing is
/// lost between two of them that take turns.
pub(super) struct GetStream {
    listening: Listening,
    replay: Replay,
    /// What to begin with.
    greeting: Option<Bytes>,
    is_over: bool,
}

/// How long a client waits before it comes back to a stream that another has taken over from: two
/// clients with one session must not take it from each other all the time.
const TAKEN_OVER: Duration = Duration::from_secs(5);

impl GetStream {
    /// A stream that begins where a replay of its log does.
    pub(super) fn new(session: &Arc<Session>, mut replay: Replay, start: Start) -> Self {
        let (listening, after) = Listening::new(session, start);
        replay.skip_to(after);
        let mut greeting = BytesMut::new();
        if has_places(session) && matches!(start, Start::Fresh(_)) {
            sse::write_place(&mut greeting, Some(&id(STANDALONE, after)), None);
        } else {
            // So that the client sees at once that it is heard.
            greeting.extend_from_slice(sse::KEEP_ALIVE);
        }
        Self { listening, replay, greeting: Some(greeting.freeze()), is_over: false }
    }

    /// Whether an event is told here and on no other stream, of this endpoint or of another.
    async fn may_tell(&mut self, position: Position) -> bool {
        let session = self.listening.session.clone();
        if session.copy().is_some() {
            // A store that fails keeps nobody from hearing what is known.
            let _ = session.look().await;
        }
        self.listening.may_tell(position)
    }

    /// Ends the stream; a client that may come back is told to do so later.
    fn end(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        if !self.listening.is_superseded() || !has_places(&self.listening.session) {
            return None;
        }
        self.is_over = true;
        let mut text = BytesMut::new();
        sse::write_place(&mut text, None, Some(TAKEN_OVER));
        Some((text.freeze(), self))
    }
}

/// Whether streams of a session have places that the client comes back to.
fn has_places(session: &Session) -> bool {
    session.revision().is_some_and(Revision::has_stream_places)
}

impl Tell for GetStream {
    async fn tell(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        if let Some(greeting) = self.greeting.take() {
            return Some((greeting, self));
        }
        if self.is_over {
            return None;
        }
        loop {
            match self.replay.known().await {
                Ok(Some(event)) => {
                    return match self.may_tell(event.position).await {
                        true => Some((told(STANDALONE, &event), self)),
                        false => self.end(),
                    };
                }
                // Cut rather than skipped: the client comes back and is told of the gap.
                Err(ReplayError::Gap(_)) => return None,
                Ok(None) | Err(ReplayError::Backend(_)) => {}
            }
            let message = tokio::select! {
                message = self.listening.next() => message,
                // Another endpoint, from which we have just taken over, had something to say.
                news = self.replay.news() => {
                    news.ok()?;
                    continue;
                }
            };
            let Some(message) = message else { return self.end() };
            let place = self.listening.session.record(self.replay.log(), &message, false).await;
            self.listening.recorded();
            if place.is_none() {
                let mut text = BytesMut::new();
                sse::write_event(&mut text, None, &message);
                return Some((text.freeze(), self));
            }
        }
    }
}

/// The stream of a POST, told again from where the client left it.
pub(super) struct Resumed {
    session: Arc<Session>,
    stream: u64,
    replay: Replay,
    /// Whether more may come than is known.
    is_going_on: bool,
    is_over: bool,
    closed: BoxFuture<()>,
    /// Resolves if nobody feeds it any more.
    ended: BoxFuture<()>,
    _busy: Busy,
}

impl Resumed {
    pub(super) fn new(
        session: &Arc<Session>,
        stream: u64,
        replay: Replay,
        is_going_on: bool,
    ) -> Self {
        let (closed, _busy) = (session.closed(), Busy::new(session.clone()));
        let (session, ended) = (session.clone(), session.ended(stream));
        Self { session, stream, replay, is_going_on, is_over: false, closed, ended, _busy }
    }

    /// The next event, or `None` if there is none. Usually the last one says that it is; but the
    /// store may have refused it.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.replay.known().await.ok()? {
                return Some(event);
            }
            if !self.is_going_on {
                return None;
            }
            tokio::select! {
                news = self.replay.news() => news.ok()?,
                () = &mut self.closed => return None,
                () = &mut self.ended => {
                    self.is_going_on = false;
                    continue;
                }
            }
            let event = self.replay.known().await.ok()?;
            if event.is_some() {
                return event;
            }
            // News of nothing that could be read: has it ended?
            self.is_going_on = self.session.knows(self.stream).await.ok()? == Some(true);
        }
    }
}

impl Tell for Resumed {
    async fn tell(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        if self.is_over {
            return None;
        }
        let event = self.next().await?;
        self.is_over = event.is_last;
        if event.message.is_empty() {
            return None;
        }
        Some((told(self.stream, &event), self))
    }
}

/// An event of a stream, as text.
fn told(stream: u64, event: &Event) -> Bytes {
    let mut text = BytesMut::new();
    sse::write_event(&mut text, Some(&id(stream, event.position)), &event.message);
    text.freeze()
}

/// A stream on which nothing is said.
pub(super) struct Silence;

impl Tell for Silence {
    async fn tell(self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        None
    }
}
