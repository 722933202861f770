//! Authorization: decides by the head of a request on whose behalf it is made, and with which scopes.
//!
//! The endpoint asks its [`Admit`] after the [gate](super::Gate) and before it reads the body. A
//! request that is not admitted is answered with the status and the headers of the refusal. Without
//! an `Admit` none of this runs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::{Access, Claims, Owner, Response as Outcome};
use bowline_types::error::{InsufficientScope, code};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::header::{HeaderMap, HeaderName, HeaderValue};
use http::request::Parts;
use http::{Response, StatusCode};

use super::body::Body;
use super::reply;

/// Verifies the credentials of requests.
///
/// It judges every request by itself, also within a session: knowing the id of a session is no
/// credential.
pub trait Admit: Send + Sync + 'static {
    /// Judges the head of a request. A body that is refused so is never read. The extensions of the
    /// head hold the [`Peer`](bowline_proto::request::Peer) that the request comes from.
    ///
    /// # Errors
    ///
    /// If the credential is missing or not good enough, or cannot be verified now.
    fn admit<'a>(
        &'a self,
        head: &'a Parts,
    ) -> BoxFuture<'a, Result<VerifiedCaller, CredentialRefusal>>;

    /// The headers of the answer to a call whose caller lacks scopes, such as `WWW-Authenticate`:
    /// its status is 403. `needed` are all scopes that the called feature needs.
    fn insufficient_scope(&self, needed: &[String]) -> HeaderMap;

    /// The document at a path below `/.well-known/`, in JSON. It is sent to every client that passes
    /// the gate, because clients read it before they have a credential.
    fn document(&self, path: &str) -> Option<Bytes> {
        let _ = path;
        None
    }
}

/// A caller whose credential was verified.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct VerifiedCaller {
    /// On whose behalf it calls. Sessions and everything else that outlives the request belong to
    /// this owner.
    pub owner: Owner,
    /// What its credential says.
    pub claims: Option<Claims>,
    /// The scopes that it was granted.
    pub access: Access,
    /// How long the credential will be valid. A stream that belongs to no call ends then.
    pub valid_for: Option<Duration>,
    /// Headers for the answer.
    pub headers: HeaderMap,
}

impl VerifiedCaller {
    /// The caller with these claims, with their scopes.
    pub fn new(claims: Claims) -> Self {
        Self {
            owner: claims.owner(),
            access: Access::to(&claims.scopes),
            claims: Some(claims),
            valid_for: None,
            headers: HeaderMap::new(),
        }
    }

    /// A caller that sent no credential. It has no scopes.
    pub fn anonymous() -> Self {
        Self {
            owner: Owner::anonymous(),
            access: Access::none(),
            claims: None,
            valid_for: None,
            headers: HeaderMap::new(),
        }
    }

    /// Sets the granted scopes, if they are others than those of the claims.
    #[must_use]
    pub fn with_access(mut self, access: Access) -> Self {
        self.access = access;
        self
    }

    /// Sets how long the credential will be valid.
    #[must_use]
    pub fn with_validity(mut self, time: Duration) -> Self {
        self.valid_for = Some(time);
        self
    }

    /// Adds a header to the answer.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }
}

/// Why a request is not admitted.
#[derive(Clone, Debug)]
pub struct CredentialRefusal {
    status: StatusCode,
    reason: String,
    /// Boxed, because a refusal is the error of a result.
    headers: Box<HeaderMap>,
}

impl CredentialRefusal {
    /// A refusal with a status (400, 401, 403 or 503), a reason for people and headers, such as
    /// `WWW-Authenticate`. The reason must not quote the credential.
    pub fn new(status: StatusCode, reason: impl Into<String>, headers: HeaderMap) -> Self {
        Self { status, reason: reason.into(), headers: Box::new(headers) }
    }
}

impl From<CredentialRefusal> for Response<Body> {
    fn from(refusal: CredentialRefusal) -> Self {
        let mut response = reply::refused(refusal.status, refusal.reason);
        response.headers_mut().extend(*refusal.headers);
        response
    }
}

/// Where the identity of callers comes from.
#[derive(Clone, Default)]
pub(super) enum Verification {
    /// Nothing is verified, or by outer layers that do not know about scopes.
    #[default]
    None,
    /// Outer layers verify credentials, and attach claims to the request.
    Outer,
    /// The endpoint verifies credentials itself.
    Own(Arc<dyn Admit>),
}

impl Verification {
    /// What verifies credentials, if the endpoint does.
    pub(super) fn admit(&self) -> Option<&Arc<dyn Admit>> {
        match self {
            Self::Own(admit) => Some(admit),
            Self::None | Self::Outer => None,
        }
    }

    /// The scopes that a call needed, if it was refused because its caller lacks some of them.
    pub(super) fn lacking(&self, outcome: &Outcome) -> Option<Box<InsufficientScope>> {
        match outcome {
            Err(error) if error.code == code::INSUFFICIENT_SCOPE && !self.is_none() => {
                let nothing = InsufficientScope { required_scopes: Vec::new() };
                Some(Box::new(error.parse_data().unwrap_or(nothing)))
            }
            _ => None,
        }
    }

    /// The refusal of a call whose caller lacks scopes: 403, and what the client has to do.
    #[cold]
    pub(super) fn forbidden(&self, lacking: &InsufficientScope, message: Bytes) -> Response<Body> {
        let mut response = reply::json(StatusCode::FORBIDDEN, message);
        if let Self::Own(admit) = self {
            let headers = admit.insufficient_scope(&lacking.required_scopes);
            response.headers_mut().extend(headers);
        }
        response
    }

    fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }
}

impl fmt::Debug for Verification {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "None",
            Self::Outer => "Outer",
            Self::Own(_) => "Own",
        })
    }
}
