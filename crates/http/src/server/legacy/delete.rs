//! DELETE: the client ends its session.
//!
//! The protocol asks clients to send it when they are done (SESS-10). It is answered 204, and later
//! requests with this session id get 404 (SESS-8).

use http::{Response, StatusCode};

use super::super::body::Body;
use super::super::inbound::Inbound;
use super::super::reply;
use super::lookup::{check_version, find};
use super::refusals;
use super::sessions::OpenSessions;

/// Ends a session, at every endpoint that serves it.
///
/// The record goes first. If the store fails, the session stays as it is and the client may try
/// again; the other order could leave a record that revives the session at another endpoint.
pub(in super::super) async fn delete(sessions: &OpenSessions, inbound: &Inbound) -> Response<Body> {
    if let Err(refusal) = check_version(sessions, inbound) {
        return *refusal;
    }
    match find(sessions, inbound, None).await {
        Ok(Some(session)) => {
            if let Err(error) = session.delete_record().await {
                return refusals::store_failed(None, &error);
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
