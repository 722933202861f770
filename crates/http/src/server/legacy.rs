//! The era of handshakes: sessions, their streams, and what came before them.

mod drive;
mod item;
mod news;
mod record;
mod session;
mod sessions;
mod sse2024;
mod stream;

use std::sync::Arc;

use bowline_proto::admission;
use bowline_proto::classify::LegacyFrame;
use bowline_proto::frame::{Frame, Message, MethodName};
use bowline_proto::mirror::Field;
use bowline_proto::transmit::Role;
use bowline_proto::wire;
use bowline_store::events::{Replay, ReplayError};
use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::text::counted;
use bytes::Bytes;
use http::header::HeaderValue;
use http::{HeaderName, Response, StatusCode};

use self::drive::{Drive, Said};
use self::session::{Busy, Kind, STANDALONE, Session, Start};
use self::sessions::NotNow;
pub(super) use self::sessions::Sessions;
use self::stream::{GetStream, Place, PostStream, Resumed};
use super::body::{Body, Told};
use super::callers;
use super::core::Core;
use super::inbound::Inbound;
use super::places::Places;
use super::{head, reply};

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Serves a message of a client that shakes hands.
pub(super) async fn post(
    sessions: &Arc<Sessions>,
    frame: LegacyFrame,
    text: &Bytes,
    inbound: &mut Inbound,
) -> Response<Body> {
    let is_handshake = matches!(
        &frame.frame,
        Frame::Message(Message::Request(request))
            if request.method == MethodName::Known(Method::Initialize)
    );
    if let Some(id) = sse2024::named(sessions, inbound) {
        return match sessions.known(id, &inbound.owner(), Kind::Sse2024) {
            Some(session) => sse2024::post(&session, frame, inbound),
            None => unknown_session(),
        };
    }
    match find(sessions, inbound, Some(&frame.frame)).await {
        Ok(Some(session)) => match enter(session, frame, inbound) {
            Ok(entered) => answer(entered, text).await,
            Err(refusal) => *refusal,
        },
        Ok(None) if is_handshake => Box::pin(shake_hands(sessions, frame, inbound)).await,
        Ok(None) if !sessions.core.keeps_sessions() => {
            Box::pin(stateless(sessions, frame, text, inbound)).await
        }
        Ok(None) => {
            let reason = "send `initialize` first, and the `Mcp-Session-Id` of its answer with \
                          every further request";
            reply::refused(StatusCode::BAD_REQUEST, reason)
        }
        Err(refusal) => *refusal,
    }
}

/// Opens a session, if the handshake succeeds. Until then nothing is kept.
async fn shake_hands(
    sessions: &Arc<Sessions>,
    frame: LegacyFrame,
    inbound: &mut Inbound,
) -> Response<Body> {
    let core = &sessions.core;
    let asked = frame.frame.id().cloned();
    if core.is_stopping() {
        return reply::busy(asked.as_ref(), STOPPING);
    }
    let Some(id) = Sessions::new_id() else {
        return reply::refused(StatusCode::INTERNAL_SERVER_ERROR, "no randomness for a session id");
    };
    let session = Session::new(id, inbound.owner(), Kind::Streamable, core);
    let received = match session.receive(frame, inbound.attach()) {
        Ok(received) => received,
        Err(frame) => return reply::busy(frame.id(), TOO_MANY_CALLS),
    };
    let mut drive = Drive::new(Busy::new(session.clone()), received);
    let Some(Said::Message(Role::Ends, message)) = drive.next().await else {
        return reply::refused(StatusCode::INTERNAL_SERVER_ERROR, "the handshake has no answer");
    };
    if session.revision().is_none() {
        return reply::json(StatusCode::BAD_REQUEST, message);
    }
    if !core.keeps_sessions() {
        return reply::json(StatusCode::OK, message);
    }
    if let Err(why) = sessions.insert(&session, &inbound.caller) {
        return not_now(core, asked.as_ref(), &why);
    }
    if let Err(error) = sessions.share(&session).await {
        sessions.remove(&session);
        return failing(asked.as_ref(), &error);
    }
    let mut response = reply::json(StatusCode::OK, message);
    if let Ok(id) = HeaderValue::from_str(&session.id) {
        response.headers_mut().insert(reply::SESSION_ID, id);
    }
    response
}

/// Serves a message of a client that shook hands, in the revision that its header names, as if
/// nobody had ever met it.
async fn stateless(
    sessions: &Arc<Sessions>,
    frame: LegacyFrame,
    text: &Bytes,
    inbound: &mut Inbound,
) -> Response<Body> {
    let version = match head::version(&inbound.parts.headers) {
        Field::Value(version) => version.trim().parse().ok(),
        _ => None,
    };
    // Clients that send no header are older than the header.
    let revision = version.unwrap_or(Revision::V2025_03_26);
    let spoken = sessions.core.server.revisions();
    if !spoken.contains(&revision) {
        let error = ErrorObject::unsupported_version(&revision.to_string(), spoken);
        return reply::refusal(StatusCode::BAD_REQUEST, &error);
    }
    let session = Session::new(String::new(), inbound.owner(), Kind::Streamable, &sessions.core);
    session.assume(revision);
    match enter(session, frame, inbound) {
        Ok(entered) => answer(entered, text).await,
        Err(refusal) => *refusal,
    }
}

/// Said when no more calls are taken for now.
const TOO_MANY_CALLS: &str = "too many calls wait for their turn in this session; try again";

/// Said to clients whose request comes too late.
const STOPPING: &str = "the server is stopping";

/// A message that its session has taken.
struct Entered {
    drive: Drive,
    /// Whether there will be an answer.
    awaits: bool,
    /// Whether it concerns what other endpoints have of the session.
    concerns_others: bool,
}

/// Hands a message to its session, if it may be served.
fn enter(
    session: Arc<Session>,
    frame: LegacyFrame,
    inbound: &mut Inbound,
) -> Result<Entered, Box<Response<Body>>> {
    if matches!(frame.frame, Frame::Batch(_)) {
        admission::check_batch(session.revision())
            .map_err(|error| Box::new(reply::refusal(StatusCode::BAD_REQUEST, &error)))?;
    }
    let busy = match frame.frame.requests() {
        0 => Busy::new(session),
        calls => match Places::of_calls(&session.core, &inbound.caller, calls) {
            Ok(places) => Busy::with_calls(session, places),
            Err(error) => return Err(Box::new(reply::refuse(frame.frame.id(), &error))),
        },
    };
    let session = &busy.session;
    let concerns_others =
        session.copy().is_some_and(|copy| news::concerns_others(&frame.frame, copy));
    let received = session
        .receive(frame, inbound.attach())
        .map_err(|frame| Box::new(reply::busy(frame.id(), TOO_MANY_CALLS)))?;
    let awaits = received.awaits;
    Ok(Entered { drive: Drive::new(busy, received), awaits, concerns_others })
}

/// Answers a message in its session: in place, as JSON or as a stream.
async fn answer(entered: Entered, text: &Bytes) -> Response<Body> {
    let Entered { mut drive, awaits, concerns_others } = entered;
    if concerns_others && let Err(error) = drive.session().pass_on(text).await {
        return match awaits {
            true => unfinished(drive.session(), text, &format!("{STORE_FAILS}: {error}")),
            // Whatever is no call may be said twice.
            false => failing(None, &error),
        };
    }
    if !awaits {
        let saved = drive.session().save().await;
        return saved.map_or_else(|error| failing(None, &error), |()| reply::accepted());
    }
    let said = drive.next().await;
    let session = drive.session();
    let keep_alive = session.core.limits().keep_alive;
    match said {
        Some(Said::Message(Role::Ends, message)) => match session.save().await {
            Ok(()) => reply::json(StatusCode::OK, message),
            Err(error) => unfinished(session, text, &format!("{STORE_FAILS}: {error}")),
        },
        Some(said) => reply::events(Told::by(PostStream::new(drive, said)), keep_alive),
        None if session.core.is_stopping() => unfinished(session, text, STOPPING),
        None if session.is_over() => unknown_session(),
        None if session.is_closed() => unfinished(session, text, "the session is served elsewhere"),
        // The request was cancelled: there is no answer, and so the stream of answers is empty.
        None => reply::events(Told::by(stream::Silence), keep_alive),
    }
}

/// Opens the stream of a session, or goes on with one.
pub(super) async fn get(sessions: &Arc<Sessions>, inbound: &Inbound) -> Response<Body> {
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
    match head::field(&inbound.parts.headers, &LAST_EVENT_ID) {
        Field::Absent => listen(session, None).await,
        Field::Value(id) => resume(session, id.trim()).await,
        Field::Repeated | Field::Unreadable => unknown_place(),
    }
}

/// Opens the GET stream, with what the client missed if it comes back. A stream that is open is
/// ended only once nothing can keep the new one from being opened.
async fn listen(session: Arc<Session>, missed: Option<Replay>) -> Response<Body> {
    let keep_alive = session.core.limits().keep_alive;
    let _coming = session.announce_listener();
    if let Err(error) = session.claim().await {
        return failing(None, &error);
    }
    let (replay, start) = match missed {
        Some(replay) => {
            let after = replay.position();
            (replay, Start::Again(after))
        }
        // Followed only now: what another endpoint tells before it has heard of us is not ours to
        // tell.
        None => match session.log(STANDALONE).follow().await {
            Ok(replay) => {
                let after = replay.position();
                (replay, Start::Fresh(after))
            }
            Err(error) => return failing(None, &error),
        },
    };
    reply::events(Told::by(GetStream::new(&session, replay, start)), keep_alive)
}

/// Goes on with a stream from where the client left it. What cannot be told any more is an error,
/// never passed over.
async fn resume(session: Arc<Session>, id: &str) -> Response<Body> {
    let Some(place) = Place::parse(id) else { return unknown_place() };
    // Known before the log is read: a stream that ends meanwhile says so there.
    let is_going_on = match session.knows(place.stream).await {
        Ok(Some(is_going_on)) => is_going_on,
        Ok(None) => return unknown_place(),
        Err(error) => return failing(None, &error),
    };
    let replay = match session.log(place.stream).replay(place.position).await {
        Ok(replay) => replay,
        Err(ReplayError::Gap(_)) => return forgotten(id),
        Err(ReplayError::Backend(error)) => return failing(None, &error),
    };
    if place.stream == STANDALONE {
        return listen(session, Some(replay)).await;
    }
    // Every stream that has ended has a last event, unless the store refused it.
    if !is_going_on && !replay.has_more() {
        match session.log(place.stream).ends_at(place.position).await {
            Ok(true) => {}
            Ok(false) => return forgotten(id),
            Err(error) => return failing(None, &error),
        }
    }
    let keep_alive = session.core.limits().keep_alive;
    reply::events(Told::by(Resumed::new(&session, place.stream, replay, is_going_on)), keep_alive)
}

/// Ends a session.
pub(super) async fn delete(sessions: &Arc<Sessions>, inbound: &Inbound) -> Response<Body> {
    if let Err(refusal) = check_version(sessions, inbound) {
        return *refusal;
    }
    match find(sessions, inbound, None).await {
        Ok(Some(session)) => {
            if let Err(error) = session.delete().await {
                return failing(None, &error);
            }
            sessions.remove(&session);
            reply::done()
        }
        Ok(None) => {
            let reason = "which session? send its `Mcp-Session-Id`";
            reply::refused(StatusCode::BAD_REQUEST, reason)
        }
        Err(refusal) => *refusal,
    }
}

/// Whether a request without a message speaks a revision that we do; clients older than the header
/// send none.
fn check_version(sessions: &Sessions, inbound: &Inbound) -> Result<(), Box<Response<Body>>> {
    let spoken = sessions.core.server.revisions();
    let version = match head::version(&inbound.parts.headers) {
        Field::Absent => return Ok(()),
        version => version.required("MCP-Protocol-Version"),
    };
    let refused = |error| Box::new(reply::refusal(StatusCode::BAD_REQUEST, &error));
    let version = version.map_err(refused)?;
    let is_spoken = version.parse().is_ok_and(|version| spoken.contains(&version));
    is_spoken
        .then_some(())
        .ok_or_else(|| refused(ErrorObject::unsupported_version(version, spoken)))
}

/// The session that an HTTP request names, if it names one. A refusal has the id of the request that
/// `frame` is.
async fn find(
    sessions: &Sessions,
    inbound: &Inbound,
    frame: Option<&Frame>,
) -> Result<Option<Arc<Session>>, Box<Response<Body>>> {
    match head::field(&inbound.parts.headers, &reply::SESSION_ID) {
        Field::Absent => Ok(None),
        Field::Value(id) => {
            let (id, owner) = (id.trim(), inbound.owner());
            let session =
                match sessions.core.config.is_shared {
                    false => sessions.known(id, &owner, Kind::Streamable),
                    // Boxed, since every connection has room for what a request waits for.
                    true => Box::pin(sessions.find(id, &owner, &inbound.caller)).await.map_err(
                        |why| Box::new(not_now(&sessions.core, frame.and_then(Frame::id), &why)),
                    )?,
                };
            session.map(Some).ok_or_else(|| Box::new(unknown_session()))
        }
        Field::Repeated | Field::Unreadable => {
            let reason = "the header `Mcp-Session-Id` must come once and be plain text";
            Err(Box::new(reply::refused(StatusCode::BAD_REQUEST, reason)))
        }
    }
}

fn unknown_session() -> Response<Body> {
    let reason = "there is no such session; it ended or expired: `initialize` again";
    reply::refused(StatusCode::NOT_FOUND, reason)
}

fn unknown_place() -> Response<Body> {
    let reason = "`Last-Event-ID` names no event of this session";
    reply::refused(StatusCode::BAD_REQUEST, reason)
}

fn forgotten(id: &str) -> Response<Body> {
    let reason = format!(
        "what followed the event `{id}` is not kept any more; answers may be lost, ask again"
    );
    reply::refused(StatusCode::BAD_REQUEST, reason)
}

fn not_now(core: &Core, id: Option<&RequestId>, why: &NotNow) -> Response<Body> {
    match why {
        NotNow::FullOfCaller => {
            let most = counted(core.limits().sessions_per_caller, "session");
            reply::refuse(id, &callers::too_many(&format!("{most} of one caller")))
        }
        NotNow::Store(error) => failing(id, error),
        NotNow::Full => reply::busy(id, "too many sessions are open; try again later"),
        NotNow::Stopping => reply::busy(id, STOPPING),
    }
}

const STORE_FAILS: &str = "the store of sessions and events fails";

fn failing(id: Option<&RequestId>, error: &bowline_store::Error) -> Response<Body> {
    reply::busy(id, &format!("{STORE_FAILS}: {error}"))
}

/// The answer to calls that have begun and whose outcome cannot be told. They may have run, so the
/// client is not asked to send them again.
#[cold]
fn unfinished(session: &Session, text: &Bytes, why: &str) -> Response<Body> {
    let error = ErrorObject::internal(format!("{why}; the call may have run"));
    // Read again, since every other answer has its id already.
    let frame = Frame::parse(text, session.core.server.limits()).ok();
    let id = frame.as_ref().and_then(Frame::id);
    reply::json(StatusCode::SERVICE_UNAVAILABLE, wire::refusal(id, &error))
}
