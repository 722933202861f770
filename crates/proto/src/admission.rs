//! Lets a request in or refuses it, by the same rules on every transport.
//!
//! A request passes these checks in this order. The first that fails gives the error that answers
//! the request.
//!
//! 1. Pace: the caller makes no more than [`Limits::requests_per_minute`] ([`hold_pace`]).
//! 2. Era: the request names a revision that the server speaks, or belongs to a session
//!    ([`classify`](crate::classify)). An array of messages needs a session of 2025-03-26
//!    ([`check_batch`]).
//! 3. Method: [`METHODS`] has a row for it that clients may send in this revision.
//! 4. Envelope: `_meta` has the keys that the era requires, in the right shape ([`crate::wire`]).
//! 5. Room: no more than [`Limits::subscriptions`] are open ([`too_many_subscriptions`]).
//!
//! An [`Admitted`] request becomes an [`Exchange`](crate::server::Exchange). On stdio
//! [`ServerConnection`](crate::server::ServerConnection) runs all five checks. Over HTTP one caller
//! may use many connections, so the HTTP server counts pace and room per caller itself; it calls
//! [`admit_modern`] for a request that stands alone ([`admit_notification`] for a notification of an
//! extension), and hands every other request to the
//! `ServerConnection` of its session.
//!
//! [`METHODS`]: bowline_types::method::METHODS

use std::time::Instant;

use bowline_types::error::ErrorObject;
use bowline_types::id::RequestId;
use bowline_types::method::{MessageKind, Method};
use bowline_types::revision::Revision;
use bowline_types::text::{counted, excerpt};

use crate::classify::{ModernClaim, modern_revision};
use crate::frame::{MethodName, RequestMessage};
use crate::limits::Limits;
use crate::members::Members;
use crate::pace::Pace;
use crate::wire::{Envelope, KnownClient, modern};

/// A request that passed the checks and may be served.
#[derive(Debug)]
pub struct Admitted {
    /// The id on the wire, repeated in the answer.
    pub id: RequestId,
    /// The method, known to exist in the revision of the caller.
    pub method: Method,
    /// The members of `params`.
    pub params: Members,
    /// The revision, the client and the other facts that the era gives beside the params.
    pub envelope: Envelope,
}

/// Counts `requests` that arrive together against the pace of their caller.
///
/// # Errors
///
/// If they come too fast. Then none of them is counted, and the error says how long to wait.
pub fn hold_pace(
    pace: &mut Pace,
    requests: usize,
    limits: &Limits,
    now: Instant,
) -> Result<(), ErrorObject> {
    if requests == 0 || pace.admits(requests, now) {
        return Ok(());
    }
    let most = counted(limits.requests_per_minute, "request");
    let message = format!("more than {most} per minute; wait");
    Err(ErrorObject::too_many_requests(message, pace.wait_for(requests, now)))
}

/// Admits a request that stands alone (2026-07-28). `known` is the client that sent the last
/// request on the same connection.
///
/// # Errors
///
/// If the revision has no such method, or a key of `_meta` is missing or has the wrong shape.
pub fn admit_modern(
    request: RequestMessage,
    claim: ModernClaim,
    known: &KnownClient,
) -> Result<Admitted, ErrorObject> {
    let method = method_of(&request.method, claim.revision)?;
    let envelope = modern::read_envelope(method, &request.params, claim, known)?;
    Ok(Admitted { id: request.id, method, params: request.params, envelope })
}

/// Admits a notification of an extension that stands alone (2026-07-28): its `_meta` names the
/// revision and the capabilities of the client, as that of a request does.
///
/// # Errors
///
/// If a key of `_meta` is missing or has the wrong shape, or the server does not speak the revision.
pub fn admit_notification(
    method: Method,
    params: Members,
    spoken: &[Revision],
    known: &KnownClient,
) -> Result<Admitted, ErrorObject> {
    let meta = params.object("_meta").map_err(ErrorObject::misread_params)?;
    let revision = modern_revision(&meta, spoken)?;
    let claim = ModernClaim { revision, meta };
    let envelope = modern::read_envelope(method, &params, claim, known)?;
    Ok(Admitted { id: RequestId::from(0), method, params, envelope })
}

/// Checks that the session of an array of messages has batches. `session` is the revision of the
/// session, if there is one.
///
/// # Errors
///
/// If it has none.
pub fn check_batch(session: Option<Revision>) -> Result<(), ErrorObject> {
    match session {
        Some(revision) if revision.has_batches() => Ok(()),
        _ => Err(ErrorObject::invalid_request(
            "a message is one object; only 2025-03-26 has batches",
        )),
    }
}

/// The error for a subscription beyond [`Limits::subscriptions`].
#[cold]
pub fn too_many_subscriptions(limits: &Limits) -> ErrorObject {
    let most = counted(limits.subscriptions, "subscription");
    ErrorObject::invalid_request(format!("no more than {most} at a time; end one first"))
}

/// The method of a request, if clients may send it in this revision.
///
/// # Errors
///
/// If the revision has no such request from clients.
pub(crate) fn method_of(name: &MethodName, revision: Revision) -> Result<Method, ErrorObject> {
    match name {
        MethodName::Known(method)
            if method.row().kind == MessageKind::Request && method.is_from_client(revision) =>
        {
            Ok(*method)
        }
        _ => Err(ErrorObject::method_not_found(format!(
            "{revision} has no method `{}`",
            excerpt(name.as_str())
        ))),
    }
}
