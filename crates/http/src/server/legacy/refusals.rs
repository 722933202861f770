//! The refusals of requests that concern sessions, and their texts.
//!
//! There are three kinds:
//!
//! * The request was not served, and the client may send it again. The refusal carries `Retry-After`
//!   if waiting may help ([`unavailable`], [`store_failed`]).
//! * A call may have run, so the client must not send it again by itself. The refusal says that it may
//!   have run ([`outcome_lost`]).
//! * Repeating the request does not help ([`gap_after`], [`unknown_event`], [`unknown_session`]). After
//!   a gap, the client decides whether to send earlier calls again.

use bowline_proto::wire;
use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::text::counted;
use http::{Response, StatusCode};

use super::super::body::Body;
use super::super::core::Core;
use super::super::{callers, reply};
use super::event_id::EventId;
use super::posted::Posted;
use super::sessions::{Full, SessionUnavailable};

/// The refusal of a call when too many calls already wait in its session.
pub(super) const TOO_MANY_CALLS: &str =
    "too many calls wait for their turn in this session; try again";

/// The refusal of a request that comes after the server began to stop.
pub(super) const STOPPING: &str = "the server is stopping";

const STORE_FAILED: &str = "the store of sessions and events failed";

/// The session does not exist, or belongs to another owner. 404 obliges the client to open a new
/// session with `initialize` (SESS-8, SESS-9).
pub(super) fn unknown_session() -> Response<Body> {
    let reason = "there is no such session; it ended or expired: `initialize` again";
    reply::refused(StatusCode::NOT_FOUND, reason)
}

/// The system has no randomness for a session id.
pub(super) fn no_session_id() -> Response<Body> {
    reply::refused(StatusCode::INTERNAL_SERVER_ERROR, "no randomness for a session id")
}

/// `Last-Event-ID` cannot be resumed from. It is not one of our ids, or of a stream that this
/// session never had.
pub(super) fn unknown_event() -> Response<Body> {
    let reason = "`Last-Event-ID` names no event of this session";
    reply::refused(StatusCode::BAD_REQUEST, reason)
}

/// Events after `id` are lost, so the stream cannot be resumed without a gap. Not 404: the session
/// still exists.
pub(super) fn gap_after(id: EventId) -> Response<Body> {
    let reason = format!(
        "what followed the event `{id}` is not kept any more; answers to earlier calls may be lost, \
         open a new stream"
    );
    reply::refused(StatusCode::BAD_REQUEST, reason)
}

/// The session cannot be served at this moment. The bound of the caller gives 429, everything else
/// 503.
pub(super) fn unavailable(
    core: &Core,
    id: Option<&RequestId>,
    why: &SessionUnavailable,
) -> Response<Body> {
    match why {
        SessionUnavailable::Full(Full::OfCaller) => {
            let most = counted(core.limits().sessions_per_caller, "session");
            reply::refuse(id, &callers::too_many(&format!("{most} of one caller")))
        }
        SessionUnavailable::Store(error) => store_failed(id, error),
        SessionUnavailable::Full(Full::OfAll) => {
            reply::busy(id, "too many sessions are open; try again later")
        }
        SessionUnavailable::Stopping => reply::busy(id, STOPPING),
    }
}

/// The store failed before the request was served.
pub(super) fn store_failed(id: Option<&RequestId>, error: &bowline_store::Error) -> Response<Body> {
    reply::busy(id, &format!("{STORE_FAILED}: {error}"))
}

/// The store failed after a call had begun.
#[cold]
pub(super) fn store_failed_after(posted: &Posted, error: &bowline_store::Error) -> Response<Body> {
    outcome_lost(posted, &format!("{STORE_FAILED}: {error}"))
}

/// A call has begun, and its outcome cannot be sent. Without `Retry-After`: the call may have run,
/// so the client must not send it again by itself.
#[cold]
pub(super) fn outcome_lost(posted: &Posted, why: &str) -> Response<Body> {
    let error = ErrorObject::internal(format!("{why}; the call may have run"));
    reply::json(StatusCode::SERVICE_UNAVAILABLE, wire::refusal(posted.id(), &error))
}
