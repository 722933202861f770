//! GET: opens the GET stream (stream 0) of messages that belong to no call, or resumes any stream of
//! a session.
//!
//! The GET stream sends what is in its log, and appends to the log what comes on the standalone line.
//! So a message survives from one connection to the next, even if the server has not noticed yet that
//! the first is gone.
//!
//! At most one GET stream of a session is sent to at a time: the newest, at whichever endpoint.
//! Every message must go to exactly one stream (HTTP-47), and the server cannot see whether the
//! client still has an older one. An older stream ends itself when it notices, with a request to
//! reconnect later (HTTP-45).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bowline_proto::codec::sse;
use bowline_proto::mirror::HeaderField;
use bowline_store::backend::Position;
use bowline_store::events::{Replay, ReplayError, StoredEvent};
use bowline_types::revision::Revision;
use bytes::{Bytes, BytesMut};
use http::{HeaderName, Response, StatusCode};

use super::super::body::{Body, EventStream, StreamSource};
use super::super::inbound::Inbound;
use super::super::{head, reply};
use super::event_id::{EventId, GET_STREAM};
use super::lookup::{check_version, find};
use super::session::{HttpSession, Start};
use super::sessions::OpenSessions;
use super::standalone::{Append, StandaloneReader};
use super::{refusals, resume, sse2024};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// How long a client waits before it comes back to a stream that another has taken over. Without the
/// pause, two clients with one session would take the stream from each other all the time.
const TAKEN_OVER: Duration = Duration::from_secs(5);

/// How many GET streams this process has opened. Names each of them in the news of a log.
static STREAMS: AtomicU64 = AtomicU64::new(0);

/// Answers a GET: a new stream, or with `Last-Event-ID` the rest of an earlier one. The checks come
/// in the order of their cost: headers, then the session, then the log.
pub(in super::super) async fn get(
    sessions: &Arc<OpenSessions>,
    inbound: &Inbound,
) -> Response<Body> {
    if let Err(refusal) = check_version(sessions, inbound) {
        return *refusal;
    }
    if !head::accepts(&inbound.parts.headers, [head::EVENTS]) {
        let reason = "send `Accept: text/event-stream`; the answer is a stream";
        return reply::refused(StatusCode::NOT_ACCEPTABLE, reason);
    }
    let session = match find(sessions, inbound, None).await {
        Ok(Some(session)) => session,
        Ok(None) if sessions.core.config.sse2024 => return sse2024::open(sessions, inbound),
        Ok(None) => {
            let reason = "a stream belongs to a session: send its `Mcp-Session-Id`";
            return reply::refused(StatusCode::BAD_REQUEST, reason);
        }
        Err(refusal) => return *refusal,
    };
    let id = match head::field(&inbound.parts.headers, &LAST_EVENT_ID) {
        HeaderField::Absent => return open(session, None).await,
        HeaderField::Value(id) => EventId::parse(id.trim()),
        HeaderField::Repeated | HeaderField::Unreadable => None,
    };
    match id {
        None => refusals::unknown_event(),
        Some(id) if id.stream == GET_STREAM => match resume::replay_after(&session, id).await {
            Ok(missed) => open(session, Some(missed)).await,
            Err(refusal) => *refusal,
        },
        Some(id) => resume::resume_post_stream(session, id).await,
    }
}

/// Opens the GET stream, with what the client missed if it comes back.
///
/// In this order the record names a copy that listens, unless the store fails. The stream is announced
/// before it claims the session, so that an older stream that ends meanwhile does not undo the claim.
/// The older stream is ended last ([`StandaloneReader::open`]), when nothing can fail any more.
///
/// If the store fails before that, the client gets 503, and an older stream at this endpoint goes
/// on.
async fn open(session: Arc<HttpSession>, missed: Option<Replay>) -> Response<Body> {
    let keep_alive = session.core.limits().keep_alive;
    let _announced = session.announce_get_stream();
    if let Err(error) = session.claim_get_stream().await {
        return refusals::store_failed(None, &error);
    }
    let (replay, start) = match missed {
        Some(replay) => {
            let after = replay.position();
            (replay, Start::Resumed(after))
        }
        // Follows the log only after the claim: events that another endpoint sends before it has
        // seen the claim are not sent again here.
        None => match session.log(GET_STREAM).follow().await {
            Ok(replay) => {
                let after = replay.position();
                (replay, Start::Fresh(after))
            }
            Err(error) => return refusals::store_failed(None, &error),
        },
    };
    reply::events(StreamSource::new(GetStream::new(&session, replay, start)), keep_alive)
}

/// The GET stream.
///
/// The body of the answer to a GET. Dropped when the client hangs up; what it had taken off the
/// line but not begun to record goes back onto the line.
struct GetStream {
    reader: StandaloneReader,
    /// The log, read from where the client is.
    replay: Replay,
    /// What is sent first.
    greeting: Option<Bytes>,
    /// Set once the client has been asked to reconnect.
    is_over: bool,
}

impl GetStream {
    /// A stream that begins where `replay` does.
    fn new(session: &Arc<HttpSession>, mut replay: Replay, start: Start) -> Self {
        let (reader, after) = StandaloneReader::open(session, start);
        replay.skip_to(after);
        let number = STREAMS.fetch_add(1, Ordering::Relaxed);
        let replay = replay.named(format!("{}.{number}", session.core.replica));
        let mut greeting = BytesMut::new();
        if has_first_id(session) && matches!(start, Start::Fresh(_)) {
            let id = EventId::new(GET_STREAM, after).to_string();
            sse::write_empty_event(&mut greeting, Some(&id), None);
        } else {
            // The client sees at once that the stream is open.
            greeting.extend_from_slice(sse::KEEP_ALIVE);
        }
        Self { reader, replay, greeting: Some(greeting.freeze()), is_over: false }
    }

    /// Whether this stream, and no other of this or another endpoint, has to send an event. In a
    /// shared session the record is read first, for every event: another endpoint may have taken
    /// over a moment ago.
    async fn may_send(&mut self, position: Position) -> bool {
        let session = self.reader.session.clone();
        if session.is_shared() {
            // If the store fails, what this copy knows decides.
            let _ = session.refresh().await;
        }
        self.reader.may_send(position)
    }

    /// Sends an event of the log, or ends the stream if another has to send it.
    async fn send(mut self: Box<Self>, event: &StoredEvent) -> Option<(Bytes, Box<Self>)> {
        match self.may_send(event.position).await {
            true => Some((resume::event_text(GET_STREAM, event), self)),
            false => self.end(),
        }
    }

    /// Appends a message to the log.
    fn append(&self, message: Bytes) -> Append {
        let append = self.replay.append(message);
        let (session, log) = (self.reader.session.clone(), self.replay.log().clone());
        Box::pin(async move {
            let appended = append.await;
            // The session may have ended, and deleted its logs, while we wrote.
            if session.is_over() {
                let _ = log.delete().await;
            }
            appended
        })
    }

    /// A message that the store did not take: sent without an id, so the client cannot resume after
    /// it.
    fn unstored(&mut self, message: &[u8]) -> Bytes {
        self.replay.note_unstored();
        let mut text = BytesMut::new();
        sse::write_event(&mut text, None, message);
        text.freeze()
    }

    /// Ends the stream. A client whose stream was taken over is asked to reconnect later.
    fn end(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        if !self.reader.is_superseded() || !has_first_id(&self.reader.session) {
            return None;
        }
        self.is_over = true;
        let mut text = BytesMut::new();
        sse::write_empty_event(&mut text, None, Some(TAKEN_OVER));
        Some((text.freeze(), self))
    }
}

/// Whether streams begin with an event id and may ask the client to reconnect. 2025-11-25 asks for
/// it (HTTP-16, HTTP-19); older clients might take an event without data for a malformed message.
fn has_first_id(session: &HttpSession) -> bool {
    session.revision().is_some_and(Revision::has_first_event_id)
}

/// One loop for two sources. What is in the log is sent first. What comes on the line is appended
/// to the log, and sent by this stream, or found there by the one that has taken over meanwhile. So no
/// message is sent twice or lost between two streams, unless the store fails.
impl EventStream for GetStream {
    async fn next_piece(mut self: Box<Self>) -> Option<(Bytes, Box<Self>)> {
        if let Some(greeting) = self.greeting.take() {
            return Some((greeting, self));
        }
        if self.is_over {
            return None;
        }
        loop {
            match self.replay.next_stored().await {
                Ok(Some(event)) => return self.send(&event).await,
                // The stream ends here, so that the client comes back and learns of the gap.
                Err(ReplayError::Gap) => return None,
                // A store that failed is treated as an empty log: messages that come meanwhile are
                // sent without an id, and a client that came back would meet the same store.
                Ok(None) | Err(ReplayError::Backend(_)) => {}
            }
            let message = tokio::select! {
                message = self.reader.next() => message,
                // Another endpoint has written into the log, as a relay or just before it lost the
                // stream to us.
                news = self.replay.wait_for_news() => {
                    news.ok()?;
                    continue;
                }
            };
            let Some(message) = message else { return self.end() };
            // Recorded before it is sent.
            let append = self.append(message.clone());
            let Ok(appended) = self.reader.record(append).await else {
                return Some((self.unstored(&message), self));
            };
            if let Some(event) = self.replay.note_appended(message, appended) {
                return self.send(&event).await;
            }
            // Others come first. It is sent when the replay finds it in the log.
        }
    }
}
