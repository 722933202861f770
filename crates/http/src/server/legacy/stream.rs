//! The streams of sessions: the answer to a POST, the GET stream, and either told again.
//!
//! An event's id names its stream and its place there, `3.17`, so that nobody who comes back gets
//! what belongs to another stream.

use std::sync::atomic::Ordering;

use bowline_proto::codec::sse;
use bowline_proto::transmit::Role;
use bowline_store::backend::Position;
use bowline_store::events::{EventLog, Replay};
use bowline_transport::BoxFuture;
use bytes::{Bytes, BytesMut};

use super::super::body::Tell;
use super::drive::{Drive, Listening, Said};
use super::session::{Busy, STANDALONE};

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
        let revision = drive.session.revision();
        let log = drive.session.new_log();
        let stream = log.as_ref().map_or(0, |(stream, _)| *stream);
        let has_places = log.is_some() && revision.is_some_and(|it| it.has_stream_places());
        if let Some((_, log)) = log {
            drive.log_to(log);
        }
        Self { drive, stream, has_places, first: Some(first), is_begun: false, is_over: false }
    }
}

impl Tell for PostStream {
    async fn tell(mut self) -> Option<(Bytes, Self)> {
        let mut text = BytesMut::new();
        if !std::mem::replace(&mut self.is_begun, true) && self.has_places {
            sse::write_place(&mut text, Some(&id(self.stream, Position(0))), None);
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

/// The GET stream.
pub(super) struct GetStream {
    listening: Listening,
    log: EventLog,
    has_places: bool,
    /// What was said while nobody listened.
    missed: Option<Replay>,
    is_begun: bool,
}

impl GetStream {
    pub(super) fn new(listening: Listening, missed: Option<Replay>) -> Self {
        let revision = listening.session.revision();
        let has_places = revision.is_some_and(|revision| revision.has_stream_places());
        let log = listening.session.log(STANDALONE);
        Self { listening, log, has_places, missed, is_begun: false }
    }
}

impl Tell for GetStream {
    async fn tell(mut self) -> Option<(Bytes, Self)> {
        let mut text = BytesMut::new();
        if !std::mem::replace(&mut self.is_begun, true) {
            let told = Position(self.listening.session.told.load(Ordering::Relaxed));
            if self.has_places && self.missed.is_none() {
                sse::write_place(&mut text, Some(&id(STANDALONE, told)), None);
            } else {
                // So that the client sees at once that it is heard.
                text.extend_from_slice(sse::KEEP_ALIVE);
            }
            return Some((text.freeze(), self));
        }
        if let Some(missed) = &mut self.missed {
            match missed.known().await {
                Ok(Some(event)) => {
                    let id = id(STANDALONE, event.position);
                    sse::write_event(&mut text, Some(&id), &event.message);
                    return Some((text.freeze(), self));
                }
                Ok(None) => self.missed = None,
                // Cut rather than skipped: the client comes back and is told of the gap.
                Err(_) => return None,
            }
        }
        let (_, message) = self.listening.next().await?;
        let position = self.log.append(&message, false).await.ok();
        if let Some(position) = position {
            self.listening.session.told.store(position.0, Ordering::Relaxed);
        }
        let id = position.map(|position| id(STANDALONE, position));
        sse::write_event(&mut text, id.as_deref(), &message);
        Some((text.freeze(), self))
    }
}

/// The stream of a POST, told again from where the client left it.
pub(super) struct Resumed {
    pub(super) stream: u64,
    pub(super) replay: Replay,
    pub(super) stopped: BoxFuture<()>,
    pub(super) is_over: bool,
    pub(super) _busy: Busy,
}

impl Tell for Resumed {
    async fn tell(mut self) -> Option<(Bytes, Self)> {
        if self.is_over {
            return None;
        }
        let event = tokio::select! {
            event = self.replay.next() => event.ok()?,
            () = &mut self.stopped => return None,
        };
        self.is_over = event.is_last;
        if event.message.is_empty() {
            return None;
        }
        let mut text = BytesMut::new();
        let id = id(self.stream, event.position);
        sse::write_event(&mut text, Some(&id), &event.message);
        Some((text.freeze(), self))
    }
}

/// A stream on which nothing is said.
pub(super) struct Silence;

impl Tell for Silence {
    async fn tell(self) -> Option<(Bytes, Self)> {
        None
    }
}
