//! Finds the session that an HTTP request names.
//!
//! Every request of Streamable HTTP that belongs to a session passes here, after the gate and after
//! its era has been decided. A session is bound to the owner that opened it (SESS-16): to any other
//! owner it does not exist, and the answer is the same 404 as for an id that never existed.

use std::sync::Arc;

use bowline_proto::frame::Frame;
use bowline_proto::mirror::HeaderField;
use bowline_types::error::ErrorObject;
use http::{Response, StatusCode};

use super::super::body::Body;
use super::super::inbound::Inbound;
use super::super::{head, reply};
use super::refusals;
use super::session::{HttpSession, SessionKind};
use super::sessions::OpenSessions;

/// The session that a request names in `Mcp-Session-Id`. `None` without that header. A refusal
/// carries the id of the request that `frame` is.
///
/// Without a shared store this is one look into the table. With one, the record is read for every
/// request, because another endpoint may have changed or deleted the session.
pub(super) async fn find(
    sessions: &OpenSessions,
    inbound: &Inbound,
    frame: Option<&Frame>,
) -> Result<Option<Arc<HttpSession>>, Box<Response<Body>>> {
    match head::field(&inbound.parts.headers, &reply::SESSION_ID) {
        HeaderField::Absent => Ok(None),
        HeaderField::Value(id) => {
            let (id, owner) = (id.trim(), inbound.owner());
            let session = match sessions.core.config.is_shared {
                false => sessions.known(id, &owner, SessionKind::Streamable),
                // Boxed, because every open connection stores the future of a request.
                true => {
                    let found = Box::pin(sessions.find(id, &owner, &inbound.caller)).await;
                    let request_id = || frame.and_then(Frame::id);
                    found.map_err(|why| {
                        Box::new(refusals::unavailable(&sessions.core, request_id(), &why))
                    })?
                }
            };
            session.map(Some).ok_or_else(|| Box::new(refusals::unknown_session()))
        }
        HeaderField::Repeated | HeaderField::Unreadable => {
            let reason = "the header `Mcp-Session-Id` must come once and be plain text";
            Err(Box::new(reply::refused(StatusCode::BAD_REQUEST, reason)))
        }
    }
}

/// Refuses a GET or DELETE in a revision that the server does not speak. Clients that are older
/// than the header send none. The protocol demands 400 for such a value (PV-4). For a POST,
/// classification has checked the header already.
pub(super) fn check_version(
    sessions: &OpenSessions,
    inbound: &Inbound,
) -> Result<(), Box<Response<Body>>> {
    let spoken = sessions.core.server.revisions();
    let version = match head::version(&inbound.parts.headers) {
        HeaderField::Absent => return Ok(()),
        version => version.required("MCP-Protocol-Version"),
    };
    let refused = |error| Box::new(reply::refusal(StatusCode::BAD_REQUEST, &error));
    let version = version.map_err(refused)?;
    let is_spoken = version.parse().is_ok_and(|version| spoken.contains(&version));
    is_spoken
        .then_some(())
        .ok_or_else(|| refused(ErrorObject::unsupported_version(version, spoken)))
}
