//! Requests to an endpoint with authorization: the documents that every client may read, then the
//! verdict about the credential, then the request itself.

use std::fmt;
use std::pin::Pin;

use bytes::Bytes;
use http::request::Parts;
use http::{Method, Response};
use tokio::time::Instant;

use super::admit::{Admit, VerifiedCaller};
use super::body::Body;
use super::endpoint::Endpoint;
use super::inbound::Inbound;
use super::{head, reply};

impl Endpoint {
    /// Answers a request that passed the gate, if its credential is good enough.
    pub(super) async fn serve_admitted<B: http_body::Body<Error: fmt::Display>>(
        &self,
        admit: &dyn Admit,
        inbound: &mut Inbound,
        body: Pin<&mut B>,
    ) -> Response<Body> {
        if let Some(response) = document(admit, &inbound.parts) {
            return response;
        }
        if let Some(peer) = inbound.peer() {
            inbound.parts.extensions.insert(peer);
        }
        let caller = match admit.admit(&inbound.parts).await {
            Ok(caller) => caller,
            Err(refusal) if head::wants_page(&inbound.parts) => {
                return Box::pin(self.page(inbound, refusal.into())).await;
            }
            Err(refusal) => return refusal.into(),
        };
        let VerifiedCaller { owner, claims, access, valid_for, headers } = caller;
        let is_get = inbound.parts.method == Method::GET;
        inbound.verified(owner, claims, access);
        inbound.expires = valid_for.and_then(|time| Instant::now().checked_add(time));
        let expires = inbound.expires;
        let mut response = self.serve(inbound, body).await;
        if let (true, Some(expires)) = (is_get, expires) {
            response = response.map(|body| body.until(expires));
        }
        response.headers_mut().extend(headers);
        response
    }
}

/// Where clients look for the metadata of a protected resource
/// ([RFC 9728](https://www.rfc-editor.org/rfc/rfc9728#section-3)), with the path of the resource or
/// without.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

impl Endpoint {
    /// Answers a request for the metadata document of an endpoint with authorization, for a program
    /// that mounts the endpoint below a path. The path of the request may lack the beginning
    /// `/.well-known/oauth-protected-resource`, as it does if the program mounts the answer there.
    pub fn metadata(&self, head: &Parts) -> Response<Body> {
        self.answer_gated(head, || {
            let admit = self.config().verification.admit()?;
            let path = head.uri.path();
            let below = format!("{WELL_KNOWN}{}", path.trim_end_matches('/'));
            let found = admit.document(path).or_else(|| admit.document(&below))?;
            Some(as_answer(found, &head.method))
        })
    }
}

/// The answer to a request for a document, if its path is that of one.
pub(super) fn document(admit: &dyn Admit, head: &Parts) -> Option<Response<Body>> {
    let document = admit.document(head.uri.path())?;
    Some(as_answer(document, &head.method))
}

fn as_answer(document: Bytes, method: &Method) -> Response<Body> {
    match *method {
        Method::GET | Method::HEAD => reply::json(http::StatusCode::OK, document),
        Method::OPTIONS => reply::options("GET, HEAD"),
        _ => reply::method_not_allowed("GET, HEAD"),
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::{Arc, Mutex};

    use bowline_proto::request::Peer;
    use bowline_proto::sync::lock;
    use futures_core::future::BoxFuture;
    use http::header::HeaderMap;
    use http_body_util::Empty;

    use super::super::admit::CredentialRefusal;
    use super::super::inbound::Sender;
    use super::super::{HttpConfig, test_endpoint};
    use super::*;

    /// Admits every request, and remembers the address that the last one came from.
    #[derive(Default)]
    struct Seen(Mutex<Option<Peer>>);

    impl Admit for Seen {
        fn admit<'a>(
            &'a self,
            head: &'a Parts,
        ) -> BoxFuture<'a, Result<VerifiedCaller, CredentialRefusal>> {
            *lock(&self.0) = head.extensions.get::<Peer>().copied();
            Box::pin(async { Ok(VerifiedCaller::anonymous()) })
        }

        fn insufficient_scope(&self, _: &[String]) -> HeaderMap {
            HeaderMap::new()
        }
    }

    #[tokio::test]
    async fn the_address_of_the_connection_is_known_when_a_credential_is_judged() {
        let seen = Arc::new(Seen::default());
        let endpoint = test_endpoint::endpoint(HttpConfig::new().with_admit(seen.clone()));
        let peer = Peer([192, 0, 2, 7].into());
        let request = http::Request::post("/mcp").header("host", "localhost").body(());
        let (parts, ()) = request.unwrap().into_parts();
        let mut inbound = Inbound::new(parts, Sender::connected(peer), endpoint.caller(peer));
        endpoint.answer_to(&mut inbound, pin!(Empty::<Bytes>::new())).await;
        assert_eq!(*lock(&seen.0), Some(peer));
    }
}
