//! Builds every HTTP answer.
//!
//! All answers are made here, so that every refusal has the same form: a status, and a JSON-RPC
//! error as its body (HTTP-12), which clients show to their users. The texts say what the client
//! should send instead.
//!
//! Which function a refusal uses depends on one question: may the client send the message again?
//! [`refuse`] and [`busy`] say that the message was not served, and carry `Retry-After` if waiting
//! helps. A call that may have run is refused by `refusals::outcome_lost` of the sessions.

use std::time::Duration;

use bowline_proto::wire;
use bowline_types::error::{ErrorObject, TooManyRequests, code};
use bowline_types::id::RequestId;
use bytes::Bytes;
use http::header::{self, HeaderValue};
use http::{HeaderName, Response, StatusCode};

use super::body::{Body, EventSource};
use super::gate::Refusal;

/// The header that names a session. Among answers, only those to `initialize` carry it (SESS-1);
/// 2026-07-28 has no session ids (SESS-17).
pub(super) const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// One message as JSON. The usual answer to a request, and the body of every refusal.
pub(super) fn json(status: StatusCode, message: Bytes) -> Response<Body> {
    let mut response = Response::new(Body::full(message));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response
}

/// A stream of events. Its headers ask proxies not to buffer, cache or change it.
/// `X-Accel-Buffering: no` is for nginx (HTTP-33). A comment is sent after `keep_alive` of silence
/// (HTTP-34).
pub(super) fn events(source: Box<dyn EventSource>, keep_alive: Duration) -> Response<Body> {
    let mut response = Response::new(Body::events(source, keep_alive));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, EVENTS);
    let cache = HeaderValue::from_static("no-cache, no-transform");
    headers.insert(header::CACHE_CONTROL, cache);
    let buffering = HeaderName::from_static("x-accel-buffering");
    headers.insert(buffering, HeaderValue::from_static("no"));
    response
}

/// 202: the message was taken, and has no answer. For notifications and for answers of the client
/// (HTTP-10).
pub(super) fn accepted() -> Response<Body> {
    status(StatusCode::ACCEPTED)
}

/// 204: the request was carried out, and has no answer.
pub(super) fn done() -> Response<Body> {
    status(StatusCode::NO_CONTENT)
}

/// An answer without a body.
pub(super) fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = status;
    response
}

/// A JSON-RPC error without an id: it answers no request, or one whose id could not be read. The
/// client cannot match it with a request, so it uses the status.
#[cold]
pub(super) fn refusal(status: StatusCode, error: &ErrorObject) -> Response<Body> {
    json(status, wire::refusal(None, error))
}

/// The same, with a reason as its text.
#[cold]
pub(super) fn refused(status: StatusCode, reason: impl Into<String>) -> Response<Body> {
    refusal(status, &ErrorObject::invalid_request(reason))
}

/// Refuses a message that has not been served, with the id of its request if it has one. The status
/// is that of the error. If the error has a time to try again after, so has the header `Retry-After`.
///
/// Clients may repeat a request that is refused with that header, so a call that has run is never
/// answered so.
#[cold]
pub(super) fn refuse(id: Option<&RequestId>, error: &ErrorObject) -> Response<Body> {
    let status = match status_of(error) {
        StatusCode::OK => StatusCode::BAD_REQUEST,
        status => status,
    };
    let mut response = json(status, wire::refusal(id, error));
    if let Some(TooManyRequests { retry_after_ms }) = error.parse_data() {
        let seconds = retry_after_ms.div_ceil(1000);
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

/// 503: the client may try again.
#[cold]
pub(super) fn busy(id: Option<&RequestId>, reason: &str) -> Response<Body> {
    refuse(id, &ErrorObject::unavailable(reason))
}

/// 415: the body has a coding, and the server reads none.
pub(super) fn coded() -> Response<Body> {
    let reason = "send the message as it is, without `Content-Encoding`";
    let mut response = refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, reason);
    let identity = HeaderValue::from_static("identity");
    response.headers_mut().insert(header::ACCEPT_ENCODING, identity);
    response
}

/// 405: only these methods, and OPTIONS, are served.
pub(super) fn method_not_allowed(methods: &str) -> Response<Body> {
    let reason = format!("only {methods} and OPTIONS are served here");
    let mut response = refused(StatusCode::METHOD_NOT_ALLOWED, reason);
    response.headers_mut().extend(allow(methods));
    response
}

/// The answer to OPTIONS: these methods, and OPTIONS, are served.
pub(super) fn options(methods: &str) -> Response<Body> {
    let mut response = done();
    response.headers_mut().extend(allow(methods));
    response
}

/// The header `Allow`, which HTTP demands of every 405.
fn allow(methods: &str) -> Option<(HeaderName, HeaderValue)> {
    let methods = HeaderValue::from_str(&format!("{methods}, OPTIONS")).ok()?;
    Some((header::ALLOW, methods))
}

impl From<Refusal> for Response<Body> {
    fn from(refusal: Refusal) -> Self {
        refused(refusal.status, refusal.reason)
    }
}

/// The HTTP status of an error that answers a modern request. 2026-07-28 fixes it for an unknown
/// method (404) and for what is wrong with headers, capabilities or the version (400). A request
/// that was refused because of a limit gets 429 or 503. Every other error answers a request that
/// was processed, so it travels with 200.
pub(super) fn status_of(error: &ErrorObject) -> StatusCode {
    match error.code {
        code::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        code::HEADER_MISMATCH
        | code::MISSING_CLIENT_CAPABILITY
        | code::UNSUPPORTED_PROTOCOL_VERSION => StatusCode::BAD_REQUEST,
        code::TOO_MANY_REQUESTS => StatusCode::TOO_MANY_REQUESTS,
        code::UNAVAILABLE => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    }
}
