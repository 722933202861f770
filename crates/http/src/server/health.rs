//! What balancers and orchestrators ask: is the process alive, and may it get requests?
//!
//! A listener answers `/livez` and `/readyz` to every client, without looking at the host that it
//! names: probes name the address of a machine. The answers reveal nothing else.
//!
//! The store has no part in it. Most requests need none, and if every replica reported its failure,
//! the balancer would have no replica left.

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response, StatusCode};

use super::body::Body;
use super::endpoint::Endpoint;

/// The answer to a request for one of the two paths; `None` for every other path.
pub(super) fn answer(endpoint: &Endpoint, head: &Parts) -> Option<Response<Body>> {
    let is_well = match head.uri.path() {
        "/livez" => true,
        "/readyz" => endpoint.is_ready(),
        _ => return None,
    };
    let (status, text) = match is_well {
        _ if head.method != Method::GET && head.method != Method::HEAD => {
            (StatusCode::METHOD_NOT_ALLOWED, "use GET\n")
        }
        true => (StatusCode::OK, "ok\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "this replica is about to stop\n"),
    };
    let mut response = Response::new(Body::full(Bytes::from_static(text.as_bytes())));
    *response.status_mut() = status;
    Some(response)
}
