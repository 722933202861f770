//! The streams of sessions: the answer to a POST, the GET stream, and either told again.
//!
//! An event's id names its stream and its place there, `3.17`, so that nobody who comes back gets
//! what belongs to another stream.

use std::sync::Arc;

use bowline_proto::codec::sse;
use bowline_proto::transmit::Role;
use bowline_store::backend::Position;
use bowline_store::events::{Event, Replay, ReplayError};
use bowline_transport::BoxFuture;
use bowline_types::revision::Revision;
use bytes::{Bytes, BytesMut};

use super::super::body::Tell;
use super::drive::{Drive, Listening, Said};
use super::session::{Busy, STANDALONE, Session};

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
        let revision = drive.session().revision();
        let log = drive.session().new_stream();
        let stream = log.as_ref().map_or(STANDALONE, |log| log.number);
        let has_places = log.is_some() && revision.is_some_and(Revision::has_stream_places);
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
}

/// How a GET stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// With what is said from now on.
    Fresh,
    /// With what the client missed.
    Again,
}

impl GetStream {
    pub(super) fn new(listening: Listening, replay: Replay, start: Start) -> Self {
        let revision = listening.session.revision();
        let has_places = revision.is_some_and(Revision::has_stream_places);
        let mut greeting = BytesMut::new();
        if has_places && start == Start::Fresh {
            sse::write_place(&mut greeting, Some(&id(STANDALONE, replay.position())), None);
        } else {
            // So that the client sees at once that it is heard.
            greeting.extend_from_slice(sse::KEEP_ALIVE);
        }
        Self { listening, replay, greeting: Some(greeting.freeze()) }
    }
}

impl GetStream {
    /// Whether no other endpoint tells the same log. Asked each time, since a message must go to
    /// one stream only.
    async fn is_ours(&mut self) -> bool {
        let session = self.listening.session.clone();
        if session.copy().is_none() {
            return true;
        }
        // A store that fails keeps nobody from hearing what is known.
        session.look().await.is_err() || self.listening.counts()
    }
}

impl Tell for GetStream {
    async fn tell(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        if let Some(greeting) = self.greeting.take() {
            return Some((greeting, self));
        }
        loop {
            match self.replay.known().await {
                Ok(Some(event)) => {
                    let is_ours = self.is_ours().await;
                    return is_ours.then(|| (told(STANDALONE, &event), self));
                }
                // Cut rather than skipped: the client comes back and is told of the gap.
                Err(ReplayError::Gap(_)) => return None,
                Ok(None) | Err(ReplayError::Backend(_)) => {}
            }
            let message = tokio::select! {
                message = self.listening.next() => message?,
                // Somebody else, from whom we have just taken over, had something to say.
                news = self.replay.news() => {
                    news.ok()?;
                    continue;
                }
            };
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
    stream: u64,
    replay: Replay,
    /// Whether more may come than is known.
    is_going_on: bool,
    is_over: bool,
    closed: BoxFuture<()>,
    /// Resolves if whoever feeds it is gone.
    abandoned: BoxFuture<()>,
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
        let abandoned = session.abandoned(stream);
        Self { stream, replay, is_going_on, is_over: false, closed, abandoned, _busy }
    }
}

impl Tell for Resumed {
    async fn tell(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        if self.is_over {
            return None;
        }
        let event = match self.is_going_on {
            true => tokio::select! {
                event = self.replay.next() => Some(event.ok()?),
                () = &mut self.closed => return None,
                () = &mut self.abandoned => None,
            },
            false => None,
        };
        let event = match event {
            Some(event) => event,
            None => {
                self.is_going_on = false;
                self.replay.known().await.ok()??
            }
        };
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
