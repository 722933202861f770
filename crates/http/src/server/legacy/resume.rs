//! Resumes the stream of a POST after the event that the client saw last.
//!
//! The server sends every missed event, or refuses the request. If a gap appears later, while the
//! stream is being sent, the stream ends. The GET stream is resumed in `get.rs`, which uses
//! [`replay_after`] and [`event_text`] too.

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

/// Answers a GET whose `Last-Event-ID` names an event of a POST's stream. The id names the stream,
/// so only its own events are sent (RESUME-5, RESUME-6).
pub(super) async fn resume_post_stream(session: Arc<HttpSession>, id: EventId) -> Response<Body> {
    // Asked before the log is read. In the other order, a stream that ended in between would look
    // ended and its last event lost.
    let may_grow = match session.stream_state(id.stream).await {
        Ok(StreamState::Open) => true,
        Ok(StreamState::Ended) => false,
        Ok(StreamState::Unknown) => return refusals::unknown_event(),
        Err(error) => return refusals::store_failed(None, &error),
    };
    let replay = match replay_after(&session, id).await {
        Ok(replay) => replay,
        Err(refusal) => return *refusal,
    };
    // An ended stream with no event after the id is a gap, unless the id is that of its last event:
    // the store failed to save the last event, or the log has expired.
    if !may_grow && !replay.has_buffered() {
        match session.log(id.stream).is_last_at(id.position).await {
            Ok(true) => {}
            Ok(false) => return refusals::gap_after(id),
            Err(error) => return refusals::store_failed(None, &error),
        }
    }
    let keep_alive = session.core.limits().keep_alive;
    let stream = ResumedStream::new(session, id.stream, replay, may_grow);
    reply::events(StreamSource::new(stream), keep_alive)
}

/// The events of a stream after the one that the client saw last. Serves the GET stream too.
///
/// # Errors
///
/// The refusal to send, if some of the events are not kept any more or the store failed.
pub(super) async fn replay_after(
    session: &HttpSession,
    id: EventId,
) -> Result<Replay, Box<Response<Body>>> {
    match session.log(id.stream).replay(id.position).await {
        Ok(replay) => Ok(replay),
        Err(ReplayError::Gap) => Err(Box::new(refusals::gap_after(id))),
        Err(ReplayError::Backend(error)) => Err(Box::new(refusals::store_failed(None, &error))),
    }
}

/// An event of a POST's stream or of the GET stream, as server-sent event.
pub(super) fn event_text(stream: u64, event: &StoredEvent) -> Bytes {
    let mut text = BytesMut::new();
    let id = EventId::new(stream, event.position).to_string();
    sse::write_event(&mut text, Some(&id), &event.message);
    text.freeze()
}

/// The stream of a POST, sent again from its log. It only reads the log. The driver, or the task
/// that replaced it, writes it. Several may read one log at the same time, for example while an old
/// connection has not been noticed as dead.
struct ResumedStream {
    session: Arc<HttpSession>,
    number: u64,
    replay: Replay,
    /// Whether events may come that are not in the log yet.
    may_grow: bool,
    /// Whether the last event was sent.
    sent_last: bool,
    /// Resolves when the session is closed.
    session_closed: BoxFuture<()>,
    /// Resolves when the stream has ended, or the endpoint that writes it is gone.
    stream_ended: BoxFuture<()>,
    _use: SessionUse,
}

impl ResumedStream {
    fn new(session: Arc<HttpSession>, number: u64, replay: Replay, may_grow: bool) -> Self {
        let (session_closed, stream_ended) = (session.closed(), session.stream_ended(number));
        let _use = SessionUse::new(session.clone());
        let sent_last = false;
        Self { session, number, replay, may_grow, sent_last, session_closed, stream_ended, _use }
    }

    /// The next event. `None` at the end, also when the store did not save the last event.
    ///
    /// # Errors
    ///
    /// If a gap appears, or the store fails.
    async fn next(&mut self) -> Result<Option<StoredEvent>, ReplayError> {
        loop {
            if let Some(event) = self.replay.next_stored().await? {
                return Ok(Some(event));
            }
            if !self.may_grow {
                return Ok(None);
            }
            self.may_grow = tokio::select! {
                news = self.replay.wait_for_news() => {
                    news.map_err(ReplayError::Backend)?;
                    if let Some(event) = self.replay.next_stored().await? {
                        return Ok(Some(event));
                    }
                    // Woken without a new event: the stream may have ended at another endpoint.
                    let state = self.session.stream_state(self.number).await;
                    state.map_err(ReplayError::Backend)? == StreamState::Open
                }
                () = &mut self.session_closed => return Ok(None),
                () = &mut self.stream_ended => false,
            };
            if !self.may_grow {
                // The log is read once more: the last event was written before the end.
                self.replay.read_again();
            }
        }
    }
}

impl EventStream for ResumedStream {
    async fn next_piece(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        if self.sent_last {
            return None;
        }
        let event = match self.next().await {
            Ok(event) => event?,
            // The status of the answer is sent already, so the stream just ends. The client comes
            // back with `Last-Event-ID`, and `resume_post_stream` sends the rest or refuses with the
            // reason.
            Err(ReplayError::Gap | ReplayError::Backend(_)) => return None,
        };
        self.sent_last = event.is_last;
        // A cancelled call, or an endpoint that closed its copy, leaves an empty last event. It is not
        // sent.
        if event.message.is_empty() {
            return None;
        }
        Some((event_text(self.number, &event), self))
    }
}
