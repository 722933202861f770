//! Web pages of other origins: answers preflights, and lets allowed pages read answers ([CORS]).
//!
//! The [gate](super::Gate) decides which origins may call. A request that it refuses gets none of
//! these headers, so the page can read nothing of the answer.
//!
//! [CORS]: https://fetch.spec.whatwg.org/#http-cors-protocol

use bowline_proto::mirror;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Method, Response};

use super::body::Body;
use super::reply;

/// The request headers of the protocol, beside those that repeat arguments.
const REQUEST_HEADERS: &str = "content-type, accept, authorization, dpop, mcp-session-id, \
     mcp-protocol-version, last-event-id, mcp-method, mcp-name";

/// The answer headers that a page may read, beside those that browsers always show.
const ANSWER_HEADERS: HeaderValue = HeaderValue::from_static(
    "mcp-session-id, mcp-protocol-version, www-authenticate, dpop-nonce, retry-after, allow, \
     accept-encoding",
);

/// Seconds for which a browser may remember the answer to a preflight: two hours, the most that
/// Chromium takes. An origin that is removed meanwhile is refused by the gate all the same.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");

/// Chromium asks with it before a page of a public site may call a server in a private network.
const REQUEST_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

/// Whether a request is a preflight: the browser asks what a page may send. A plain OPTIONS,
/// without the header, comes from a program and is answered with `Allow` only.
pub(super) fn is_preflight(parts: &Parts) -> bool {
    parts.method == Method::OPTIONS
        && parts.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Answers a preflight: pages may send these methods, and the headers of the protocol.
///
/// A method or header that is not among them is left out and not refused with a status, because the
/// browser then names it in its error message.
pub(super) fn preflight(asked: &HeaderMap, methods: &'static str) -> Response<Body> {
    let mut response = reply::done();
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static(methods);
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, allowed_headers(asked));
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    // The origin is one that the server's owner named, or one of this machine. Both may call a
    // server in a private network.
    if asked.get(REQUEST_PRIVATE_NETWORK).is_some_and(|value| value == "true") {
        headers.insert(ALLOW_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    response
}

/// The headers of the protocol, and those among the requested ones that repeat arguments. No pattern
/// can stand for the latter, so each is named. They are as many as fit into the head of a request.
fn allowed_headers(asked: &HeaderMap) -> HeaderValue {
    let mut allowed = REQUEST_HEADERS.to_owned();
    let requested = asked.get_all(header::ACCESS_CONTROL_REQUEST_HEADERS).iter();
    for name in requested.flat_map(|value| value.as_bytes().split(|byte| *byte == b',')) {
        // In lower case, and only characters that a header name may have.
        let Ok(name) = HeaderName::from_bytes(name.trim_ascii()) else { continue };
        if name.as_str().strip_prefix(mirror::PARAM_PREFIX).is_some_and(|param| !param.is_empty()) {
            allowed.push_str(", ");
            allowed.push_str(name.as_str());
        }
    }
    HeaderValue::from_str(&allowed).unwrap_or(HeaderValue::from_static(REQUEST_HEADERS))
}

/// Lets a page read an answer and those of its headers that the protocol uses.
///
/// The origin is repeated as the browser wrote it, which is how the browser compares it. There is no
/// `Access-Control-Allow-Credentials`: credentials travel in `Authorization`, which the page sets
/// itself, and no cookie means anything here.
pub(super) fn expose(response: &mut Response<Body>, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, ANSWER_HEADERS);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}
