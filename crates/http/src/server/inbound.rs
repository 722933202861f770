//! A request as the endpoint gets it: its head, and what is known of its sender.

use std::sync::Arc;

use bowline_proto::admission::{Admitted, admit_modern, admit_notification};
use bowline_proto::classify::ModernClaim;
use bowline_proto::frame::RequestMessage;
use bowline_proto::members::Members;
use bowline_proto::mirror;
use bowline_proto::request::{Access, Claims, Extensions, Owner, Peer};
use bowline_proto::server::Attached;
use bowline_proto::wire::KnownClient;
use bowline_types::error::ErrorObject;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use http::HeaderValue;
use http::header::AUTHORIZATION;
use http::request::Parts;
use tokio::time::Instant;

use super::callers::Caller;

/// An HTTP request without its body.
///
/// It is large, so functions borrow it. Only [`attach`](Self::attach) moves its content, into the
/// call that the request becomes.
///
/// The listener, or [`Endpoint::answer`](super::Endpoint::answer), makes one for each request. It
/// lives until the head of the answer is ready, not until its body has been sent.
pub(super) struct Inbound {
    /// Method, target, headers and the extensions that outer layers set.
    pub(super) parts: Parts,
    /// Whose pace and slots the request counts for. The address decides until
    /// [`Owner`] is looked at.
    pub(super) caller: Caller,
    /// When its credential expires, if it has one that does.
    pub(super) expires: Option<Instant>,
    /// The scopes that the endpoint has verified. `None` if it verifies nothing.
    access: Option<Access>,
    /// What the connection knows of its peer, cloned for each request.
    sender: Sender,
}

/// What is known of a connection's peer before any of its requests is read.
#[derive(Clone)]
pub(super) struct Sender {
    /// What handlers can read of it, such as the [`Peer`].
    extensions: Extensions,
    /// What modern requests on this connection said of their client. `None` if an outer HTTP server
    /// owns the connections, since it does not tell which requests share one.
    known: Option<Arc<KnownClient>>,
}

impl Sender {
    /// The peer of a connection that we accepted ourselves.
    pub(super) fn connected(peer: Peer) -> Self {
        Self { known: Some(Arc::default()), ..Self::unconnected(peer) }
    }

    /// The peer of a single request that an outer HTTP server passes on.
    pub(super) fn unconnected(peer: Peer) -> Self {
        let mut extensions = Extensions::default();
        extensions.insert(peer);
        Self { extensions, known: None }
    }
}

impl Inbound {
    pub(super) fn new(parts: Parts, sender: Sender, caller: Caller) -> Self {
        Self { parts, caller, expires: None, access: None, sender }
    }

    /// The head of a request that the endpoint sends to itself on behalf of the same sender: a POST
    /// of a method of 2026-07-28 that names nothing.
    pub(super) fn own_request(&self, method: Method) -> Self {
        let (mut parts, ()) = http::Request::new(()).into_parts();
        parts.method = http::Method::POST;
        parts.uri = self.parts.uri.clone();
        parts.extensions = self.parts.extensions.clone();
        let version = HeaderValue::from_static(Revision::V2026_07_28.as_str());
        parts.headers.insert(mirror::PROTOCOL_VERSION, version);
        parts.headers.insert(mirror::METHOD, HeaderValue::from_static(method.name()));
        Self::new(parts, self.sender.clone(), self.caller.clone())
    }

    /// Notes what was verified, for handlers and for the owner of sessions, and takes the credential
    /// away: no handler can pass it on. What outer layers attached of these kinds does not count.
    pub(super) fn verified(&mut self, owner: Owner, claims: Option<Claims>, access: Access) {
        self.parts.headers.remove(AUTHORIZATION);
        let outer = &mut self.parts.extensions;
        outer.remove::<Claims>();
        outer.remove::<Access>();
        outer.insert(owner);
        self.access = Some(access);
        if let Some(claims) = claims {
            self.sender.extensions.insert(claims);
        }
    }

    /// On whose behalf the request is made; anonymous unless an outer layer says so.
    pub(super) fn owner(&self) -> Owner {
        self.parts.extensions.get::<Owner>().cloned().unwrap_or_default()
    }

    /// The address that it comes from. `None` after [`attach`](Self::attach).
    pub(super) fn peer(&self) -> Option<Peer> {
        self.sender.extensions.get::<Peer>().copied()
    }

    /// Admits the modern request that its body holds.
    ///
    /// What the client said of itself is remembered for the connection, so that the next request
    /// with the same text is not parsed again.
    ///
    /// # Errors
    ///
    /// If the method does not exist, or a key of `_meta` is missing or malformed.
    pub(super) fn admit(
        &self,
        request: RequestMessage,
        claim: ModernClaim,
    ) -> Result<Admitted, ErrorObject> {
        match &self.sender.known {
            Some(known) => admit_modern(request, claim, known),
            None => admit_modern(request, claim, &KnownClient::default()),
        }
    }

    /// Admits the notification of an extension that its body holds (2026-07-28).
    ///
    /// # Errors
    ///
    /// If a key of `_meta` is missing or malformed, or `spoken` lacks the revision that it names.
    pub(super) fn admit_notification(
        &self,
        method: Method,
        params: Members,
        spoken: &[Revision],
    ) -> Result<Admitted, ErrorObject> {
        match &self.sender.known {
            Some(known) => admit_notification(method, params, spoken, known),
            None => admit_notification(method, params, spoken, &KnownClient::default()),
        }
    }

    /// Takes out what belongs to the calls of the request: its scopes, and what handlers may read of
    /// it, which is the head and what is known of its sender.
    pub(super) fn attach(&mut self) -> Attached {
        let access = self.access.take().unwrap_or_else(|| outer_access(&self.parts.extensions));
        let (nothing, ()) = http::Request::new(()).into_parts();
        let mut extensions = std::mem::take(&mut self.sender.extensions);
        extensions.insert(std::mem::replace(&mut self.parts, nothing));
        Attached { extensions, access }
    }
}

/// The scopes that outer layers granted: an [`Access`], or else those of [`Claims`], or else none.
fn outer_access(outer: &http::Extensions) -> Access {
    let by_claims = || outer.get::<Claims>().map(|claims| Access::to(&claims.scopes));
    outer.get::<Access>().cloned().or_else(by_claims).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(attach: impl FnOnce(&mut http::Extensions)) -> Access {
        let mut outer = http::Extensions::new();
        attach(&mut outer);
        outer_access(&outer)
    }

    #[test]
    fn outer_layers_grant_scopes_by_access_or_else_by_claims() {
        let claims = || Claims::new("issuer", "ann").scopes(["a"]);
        assert_eq!(granted(|_| {}), Access::none());
        assert_eq!(granted(|outer| _ = outer.insert(claims())), Access::to(["a"]));
        assert_eq!(granted(|outer| _ = outer.insert(Access::to(["b"]))), Access::to(["b"]));
        let both = granted(|outer| {
            outer.insert(claims());
            outer.insert(Access::none());
        });
        assert_eq!(both, Access::none());
    }
}
