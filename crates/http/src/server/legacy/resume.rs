//! Resumes the stream of a POST from the event that the client saw last.
//!
//! What a client missed is sent completely, or the request is refused: a gap is an error, never
//! skipped.

use std::sync::Arc;

use bowline_proto::codec::sse;
use bowline_store::events::{Replay, ReplayError, StoredEvent};
use bowline_transport::BoxFuture;
use bytes::{Bytes, BytesMut};
use http::Response;

use super::super::body::{Body, EventStream, StreamSource};
use super::super::reply;
use super::event_id::EventId;
use super::refusals;
use super::session::{HttpSession, SessionUse, StreamState};

/// Answers a GET whose `Last-StoredEvent-ID` names an event of a POST's stream.
pub(super) async fn resume(session: Arc<HttpSession>, id: EventId) -> Response<Body> {
    // Asked before the log is read: a stream that ends in between has its last event in the log.
    let is_open = match session.stream_state(id.stream).await {
        Ok(StreamState::Open) => true,
        Ok(StreamState::Ended) => false,
        Ok(StreamState::Unknown) => return refusals::unknown_event(),
        Err(error) => return refusals::store_failed(None, &error),
    };
    let replay = match replay_after(&session, id).await {
        Ok(replay) => replay,
        Err(refusal) => return *refusal,
    };
    // A stream that has ended has a last event, unless the store refused it.
    if !is_open && !replay.has_more() {
        match session.log(id.stream).ends_at(id.position).await {
            Ok(true) => {}
            Ok(false) => return refusals::gap_after(id),
            Err(error) => return refusals::store_failed(None, &error),
        }
    }
    let keep_alive = session.core.limits().keep_alive;
    let stream = ResumedStream::new(session, id.stream, replay, is_open);
    reply::events(StreamSource::new(stream), keep_alive)
}

/// The events of a stream after the one that the client saw last. Refused if some of them are not
/// kept any more.
pub(super) async fn replay_after(
    session: &HttpSession,
    id: EventId,
) -> Result<Replay, Box<Response<Body>>> {
    match session.log(id.stream).replay(id.position).await {
        Ok(replay) => Ok(replay),
        Err(ReplayError::Gap(_)) => Err(Box::new(refusals::gap_after(id))),
        Err(ReplayError::Backend(error)) => Err(Box::new(refusals::store_failed(None, &error))),
    }
}

/// An event of a stream as text.
pub(super) fn event_text(stream: u64, event: &StoredEvent) -> Bytes {
    let mut text = BytesMut::new();
    let id = EventId::new(stream, event.position).to_string();
    sse::write_event(&mut text, Some(&id), &event.message);
    text.freeze()
}

/// The stream of a POST, sent again from its log. It never touches the calls: their driver, or the
/// task that took over from it, writes the log.
struct ResumedStream {
    session: Arc<HttpSession>,
    number: u64,
    replay: Replay,
    /// Whether events may come that are not in the log yet.
    is_open: bool,
    is_over: bool,
    closed: BoxFuture<()>,
    /// Resolves when the stream has ended.
    ended: BoxFuture<()>,
    _use: SessionUse,
}

impl ResumedStream {
    fn new(session: Arc<HttpSession>, number: u64, replay: Replay, is_open: bool) -> Self {
        let (closed, ended) = (session.closed(), session.stream_ended(number));
        let _use = SessionUse::new(session.clone());
        Self { session, number, replay, is_open, is_over: false, closed, ended, _use }
    }

    /// The next event. `None` at the end, which the last event usually marks; but the store may have
    /// refused that event.
    async fn next(&mut self) -> Option<StoredEvent> {
        loop {
            if let Some(event) = self.replay.known().await.ok()? {
                return Some(event);
            }
            if !self.is_open {
                return None;
            }
            tokio::select! {
                news = self.replay.news() => news.ok()?,
                () = &mut self.closed => return None,
                () = &mut self.ended => {
                    // The log is read once more: the last event was written before the end.
                    self.is_open = false;
                    continue;
                }
            }
            let event = self.replay.known().await.ok()?;
            if event.is_some() {
                return event;
            }
            // Woken without a new event: the stream may have ended at another endpoint.
            let state = self.session.stream_state(self.number).await.ok()?;
            self.is_open = state == StreamState::Open;
        }
    }
}

impl EventStream for ResumedStream {
    async fn next_piece(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        if self.is_over {
            return None;
        }
        let event = self.next().await?;
        self.is_over = event.is_last;
        // An empty last event ends the stream of a call that was cancelled.
        if event.message.is_empty() {
            return None;
        }
        Some((event_text(self.number, &event), self))
    }
}
