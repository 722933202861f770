//! The era of handshakes: sessions, their streams, and what came before them.

mod drive;
mod line;
mod session;
mod sessions;
mod sse2024;
mod stream;

use std::sync::Arc;

use bowline_proto::frame::{Frame, Message, MethodName};
use bowline_proto::mirror::Field;
use bowline_proto::transmit::Role;
use bowline_store::events::ReplayError;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use http::header::HeaderValue;
use http::{HeaderName, Response, StatusCode};

pub(super) use self::sessions::Sessions;
use self::drive::{Drive, Listening, Said};
use self::session::{Kind, STANDALONE, Session};
use self::stream::{GetStream, Place, PostStream, Resumed};
use super::body::{Body, Told};
use super::config;
use super::endpoint::{Knock, Shared};
use super::{head, reply};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Serves a message of a client that shakes hands.
pub(super) async fn post(shared: &Arc<Shared>, frame: Frame, knock: Knock) -> Response<Body> {
    let is_handshake = matches!(
        &frame,
        Frame::Message(Message::Request(request))
            if request.method == MethodName::Known(Method::Initialize)
    );
    if let Some(session) = sse2024::named(shared, &knock) {
        return sse2024::post(&session, frame, knock);
    }
    match find(shared, &knock) {
        Ok(Some(session)) => in_session(&session, frame, knock).await,
        Ok(None) if is_handshake => shake_hands(shared, frame, knock).await,
        Ok(None) if !keeps_sessions(shared) => stateless(shared, frame, knock).await,
        Ok(None) => {
            let reason = "send `initialize` first, and the `Mcp-Session-Id` of its answer with \
                          every further request";
            reply::refused(StatusCode::BAD_REQUEST, reason)
        }
        Err(refusal) => refusal,
    }
}

/// Opens a session, if the handshake succeeds. Until then nothing is kept.
async fn shake_hands(shared: &Arc<Shared>, frame: Frame, knock: Knock) -> Response<Body> {
    let core = &shared.core;
    if core.is_stopping() {
        return reply::busy("the server is stopping");
    }
    let Some(id) = Sessions::new_id() else {
        return reply::refused(StatusCode::INTERNAL_SERVER_ERROR, "no randomness for a session id");
    };
    let session = Session::new(id, knock.owner(), Kind::Streamable, core);
    let received = session.receive(Ok(frame), knock.attach());
    let mut drive = Drive::new(session.clone(), received.line);
    let Some(Said::Message(Role::Ends, message)) = drive.next().await else {
        return reply::refused(StatusCode::INTERNAL_SERVER_ERROR, "the handshake has no answer");
    };
    if session.revision().is_none() {
        return reply::json(StatusCode::BAD_REQUEST, message);
    }
    if !keeps_sessions(shared) {
        return reply::json(StatusCode::OK, message);
    }
    if !shared.sessions.insert(&session) {
        return reply::busy("too many sessions are open; try again later");
    }
    let mut response = reply::json(StatusCode::OK, message);
    if let Ok(id) = HeaderValue::from_str(&session.id) {
        response.headers_mut().insert(reply::SESSION_ID, id);
    }
    response
}

/// Serves a message of a client that shook hands, in the revision that its header names, as if
/// nobody had ever met it.
async fn stateless(shared: &Arc<Shared>, frame: Frame, knock: Knock) -> Response<Body> {
    let version = match head::mirrored(&knock.0.headers).version {
        Field::Value(version) => version.trim().parse().ok(),
        _ => None,
    };
    // Clients that send no header are older than the header.
    let revision = version.unwrap_or(Revision::V2025_03_26);
    let session = Session::new(String::new(), knock.owner(), Kind::Streamable, &shared.core);
    session.assume(revision);
    in_session(&session, frame, knock).await
}

fn keeps_sessions(shared: &Shared) -> bool {
    shared.core.config.sessions == config::Sessions::Kept
}

/// Serves a message in its session: in place, as JSON or as a stream.
async fn in_session(session: &Arc<Session>, frame: Frame, knock: Knock) -> Response<Body> {
    let received = session.receive(Ok(frame), knock.attach());
    if !received.awaits {
        return reply::accepted();
    }
    let mut drive = Drive::new(session.clone(), received.line);
    let keep_alive = session.core.limits().keep_alive;
    match drive.next().await {
        Some(Said::Message(Role::Ends, message)) => reply::json(StatusCode::OK, message),
        Some(said) => reply::events(Told::by(PostStream::new(drive, said)), keep_alive),
        // The request was cancelled: there is no answer, and so the stream of answers is empty.
        None => reply::events(Told::by(stream::Silence), keep_alive),
    }
}

/// Opens the stream of a session, or goes on with one.
pub(super) async fn get(shared: &Arc<Shared>, knock: &Knock) -> Response<Body> {
    let speaks_legacy = shared.core.server.newest_legacy().is_some();
    if !speaks_legacy || !keeps_sessions(shared) {
        return reply::method_not_allowed("POST");
    }
    if !head::accepts(&knock.0.headers, "text/event-stream") {
        let reason = "send `Accept: text/event-stream`; the answer is a stream";
        return reply::refused(StatusCode::NOT_ACCEPTABLE, reason);
    }
    let session = match find(shared, knock) {
        Ok(Some(session)) => session,
        Ok(None) if shared.core.config.sse2024 => return sse2024::open(shared, knock),
        Ok(None) => {
            let reason = "a stream belongs to a session: send its `Mcp-Session-Id`";
            return reply::refused(StatusCode::BAD_REQUEST, reason);
        }
        Err(refusal) => return refusal,
    };
    match head::field(&knock.0.headers, &LAST_EVENT_ID) {
        Field::Absent if session.is_listened_to() => {
            let reason = "the stream of this session is open already";
            reply::refused(StatusCode::CONFLICT, reason)
        }
        Field::Absent => listen(session, None),
        Field::Value(id) => resume(session, id).await,
        Field::Repeated | Field::Unreadable => unknown_place(),
    }
}

fn listen(session: Arc<Session>, missed: Option<bowline_store::events::Replay>) -> Response<Body> {
    let keep_alive = session.core.limits().keep_alive;
    let stream = GetStream::new(Listening::new(session), missed);
    reply::events(Told::by(stream), keep_alive)
}

/// Goes on with a stream from where the client left it. What cannot be told any more is an error,
/// never passed over.
async fn resume(session: Arc<Session>, id: &str) -> Response<Body> {
    let Some(place) = Place::parse(id.trim()) else { return unknown_place() };
    let is_first = place.position.0 == 0;
    let replay = match session.log(place.stream).replay(place.position).await {
        Ok(replay) => Some(replay),
        // Nothing was ever said there, so nothing was missed.
        Err(ReplayError::Gap(_)) if is_first && place.stream == STANDALONE => None,
        Err(ReplayError::Gap(oldest)) => {
            let reason = format!(
                "what followed the event `{id}` is not kept any more (the oldest is `{}.{}`); \
                 answers may be lost, ask again",
                place.stream, oldest.0,
            );
            return reply::refused(StatusCode::BAD_REQUEST, reason);
        }
        Err(ReplayError::Backend(error)) => {
            return reply::busy(&format!("the store of events fails: {error}"));
        }
    };
    match replay {
        replay if place.stream == STANDALONE => listen(session, replay),
        Some(replay) => {
            let stopped = session.core.stopped();
            let keep_alive = session.core.limits().keep_alive;
            let resumed = Resumed {
                stream: place.stream,
                replay,
                stopped,
                is_over: false,
                _busy: session.busy(),
            };
            reply::events(Told::by(resumed), keep_alive)
        }
        None => unknown_place(),
    }
}

/// Ends a session.
pub(super) async fn delete(shared: &Arc<Shared>, knock: &Knock) -> Response<Body> {
    let speaks_legacy = shared.core.server.newest_legacy().is_some();
    if !speaks_legacy || !keeps_sessions(shared) {
        return reply::method_not_allowed("POST");
    }
    match find(shared, knock) {
        Ok(Some(session)) => {
            shared.sessions.remove(&session);
            reply::done()
        }
        Ok(None) => {
            let reason = "which session? send its `Mcp-Session-Id`";
            reply::refused(StatusCode::BAD_REQUEST, reason)
        }
        Err(refusal) => refusal,
    }
}

/// The session that a request names, if it names one.
fn find(shared: &Shared, knock: &Knock) -> Result<Option<Arc<Session>>, Response<Body>> {
    match head::field(&knock.0.headers, &reply::SESSION_ID) {
        Field::Absent => Ok(None),
        Field::Value(id) => {
            let session = shared.sessions.find(id.trim(), &knock.owner());
            session.map(Some).ok_or_else(|| {
                let reason = "there is no such session; it ended or expired: `initialize` again";
                reply::refused(StatusCode::NOT_FOUND, reason)
            })
        }
        Field::Repeated | Field::Unreadable => {
            let reason = "the header `Mcp-Session-Id` must come once and be plain text";
            Err(reply::refused(StatusCode::BAD_REQUEST, reason))
        }
    }
}

fn unknown_place() -> Response<Body> {
    let reason = "`Last-Event-ID` names no event of this session";
    reply::refused(StatusCode::BAD_REQUEST, reason)
}
