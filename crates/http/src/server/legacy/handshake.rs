//! POSTs that name no session: `initialize` opens one, and without sessions each request gets one of
//! its own.
//!
//! A session is created only after its `initialize` has been answered well: a client that floods
//! the server with malformed handshakes leaves nothing behind. The handshake takes no slot of a
//! call.

use std::sync::Arc;

use bowline_proto::classify::LegacyFrame;
use bowline_proto::mirror::HeaderField;
use bowline_proto::transmit::Role;
use bowline_types::error::ErrorObject;
use bowline_types::revision::Revision;
use http::header::HeaderValue;
use http::{Response, StatusCode};

use super::super::body::Body;
use super::super::inbound::Inbound;
use super::super::{head, random_id, reply};
use super::driver::{Driver, ToClient};
use super::refusals::{self, STOPPING, TOO_MANY_CALLS};
use super::session::{HttpSession, SessionKind, SessionUse};
use super::sessions::OpenSessions;

/// Answers `initialize`. The session is kept only after the handshake has succeeded.
///
/// The order at the end: the table first, which may refuse, then the record in a shared store, then
/// the answer with `Mcp-Session-Id`. So the client never gets an id that no endpoint knows. If the
/// client hangs up before the answer, the session is swept after
/// [`HttpLimits::session_opening`](super::super::HttpLimits::session_opening).
pub(super) async fn open_session(
    sessions: &Arc<OpenSessions>,
    message: LegacyFrame,
    inbound: &mut Inbound,
) -> Response<Body> {
    let core = &sessions.core;
    let request_id = message.frame.id().cloned();
    if core.is_stopping() {
        return reply::busy(request_id.as_ref(), STOPPING);
    }
    let Some(id) = random_id::new_id() else { return refusals::no_session_id() };
    let session = HttpSession::new(id, inbound.owner(), SessionKind::Streamable, core);
    let received = match session.receive(message, inbound.attach(), None) {
        Ok(received) => received,
        Err(frame) => return reply::busy(frame.id(), TOO_MANY_CALLS),
    };
    let mut driver = Driver::new(SessionUse::new(session.clone()), received);
    let Some(ToClient::Message(Role::Ends, message)) = driver.next().await else {
        return reply::refused(StatusCode::INTERNAL_SERVER_ERROR, "the handshake has no answer");
    };
    if session.revision().is_none() {
        return reply::json(StatusCode::BAD_REQUEST, message);
    }
    if !core.keeps_sessions() {
        return reply::json(StatusCode::OK, message);
    }
    if let Err(why) = sessions.insert(&session, &inbound.caller) {
        return refusals::unavailable(core, request_id.as_ref(), &why);
    }
    if let Err(error) = sessions.share(&session).await {
        sessions.remove(&session);
        return refusals::store_failed(request_id.as_ref(), &error);
    }
    let mut response = reply::json(StatusCode::OK, message);
    if let Ok(id) = HeaderValue::from_str(&session.id) {
        response.headers_mut().insert(reply::SESSION_ID, id);
    }
    response
}

/// A session for a single request, in the revision that its header names. Only an endpoint without
/// sessions makes them; with sessions, the request should have named one.
///
/// The session has no id and is in no table; it is dropped with the answer. A request without a
/// readable `MCP-Protocol-Version` is taken for 2025-03-26 (PV-3).
pub(super) fn session_for_one_request(
    sessions: &OpenSessions,
    inbound: &Inbound,
) -> Result<Arc<HttpSession>, Box<Response<Body>>> {
    let core = &sessions.core;
    if core.keeps_sessions() {
        let reason = "send `initialize` first, and the `Mcp-Session-Id` of its answer with every \
                      further request";
        return Err(Box::new(reply::refused(StatusCode::BAD_REQUEST, reason)));
    }
    let version = match head::version(&inbound.parts.headers) {
        HeaderField::Value(version) => version.trim().parse().ok(),
        _ => None,
    };
    // Clients that send no header are older than the header.
    let revision = version.unwrap_or(Revision::V2025_03_26);
    let spoken = core.server.revisions();
    if !spoken.contains(&revision) {
        let error = ErrorObject::unsupported_version(&revision.to_string(), spoken);
        return Err(Box::new(reply::refusal(StatusCode::BAD_REQUEST, &error)));
    }
    let kind = SessionKind::Streamable;
    let session = HttpSession::new(String::new(), inbound.owner(), kind, core);
    session.open_without_handshake(revision);
    Ok(session)
}
