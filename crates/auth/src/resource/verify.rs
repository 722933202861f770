//! The trait that verifies tokens, and a function as one.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::SystemTime;

use bowline_proto::request::{Claims, Peer};

use super::policy::{Policy, policy_methods};
use crate::fetch::{BoxFuture, Fetcher};
use crate::jose::sha256;
use crate::secret::Secret;
use crate::url::Url;

/// Verifies access tokens.
pub trait Verify: Send + Sync + 'static {
    /// Verifies that a token is genuine, has not expired, and is meant for this resource.
    fn verify<'a>(
        &'a self,
        token: &'a Presented,
        context: VerifyContext<'a>,
    ) -> BoxFuture<'a, Result<Verified, Denied>>;

    /// The issuer of the tokens, which clients learn from the metadata document. `None` if no
    /// authorization server issues them; then there is no document.
    fn issuer(&self) -> Option<&str>;

    /// What a caller needs beside a token that verifies.
    fn policy(&self) -> Policy {
        Policy::default()
    }

    /// The addresses that the operator configured. Their hosts may be in a private network.
    fn addresses(&self) -> Vec<Url> {
        Vec::new()
    }

    /// Whether the tokens are too weak for a resource that other machines can reach.
    fn is_for_loopback_only(&self) -> bool {
        false
    }
}

impl<V: Verify + ?Sized> Verify for Arc<V> {
    fn verify<'a>(
        &'a self,
        token: &'a Presented,
        context: VerifyContext<'a>,
    ) -> BoxFuture<'a, Result<Verified, Denied>> {
        (**self).verify(token, context)
    }

    fn issuer(&self) -> Option<&str> {
        (**self).issuer()
    }

    fn policy(&self) -> Policy {
        (**self).policy()
    }

    fn addresses(&self) -> Vec<Url> {
        (**self).addresses()
    }

    fn is_for_loopback_only(&self) -> bool {
        (**self).is_for_loopback_only()
    }
}

/// A token as a request presented it.
#[derive(Clone, Debug)]
pub struct Presented(Secret<String>);

impl Presented {
    /// A token.
    pub fn new(token: impl Into<Secret<String>>) -> Self {
        Self(token.into())
    }

    /// The text of the token. It must not be sent on or logged, nor leave the memory of this process.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The SHA-256 digest of the token, which may be stored in its place.
    pub fn digest(&self) -> [u8; 32] {
        sha256(self.expose().as_bytes())
    }
}

/// What a verifier may use.
#[derive(Clone, Copy)]
pub struct VerifyContext<'a> {
    /// The current time.
    pub now: SystemTime,
    /// The address that the request comes from, if it is known.
    pub peer: Option<Peer>,
    /// Sends requests to the authorization server. A task that outlives the request may keep a clone.
    pub fetcher: &'a Arc<dyn Fetcher>,
}

impl fmt::Debug for VerifyContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { now, peer, .. } = self;
        f.debug_struct("VerifyContext")
            .field("now", now)
            .field("peer", peer)
            .finish_non_exhaustive()
    }
}

/// A verified token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// What it says about the caller.
    pub claims: Claims,
    /// The thumbprint of the key that the caller must prove to have, if the token is bound to one.
    pub key_thumbprint: Option<String>,
}

impl From<Claims> for Verified {
    /// A token that is bound to no key.
    fn from(claims: Claims) -> Self {
        Self { claims, key_thumbprint: None }
    }
}

/// Why a token was denied. The caller sees a fixed sentence for each reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Denied {
    /// It does not have the form of a token.
    Malformed,
    /// Its signature, key, algorithm or type is not acceptable, or it is unknown.
    Unverifiable,
    /// Another authorization server issued it.
    OtherIssuer,
    /// It is for another resource.
    OtherAudience,
    /// It has expired, or says no time of expiry.
    Expired,
    /// It will be valid later.
    NotYetValid,
    /// It names neither a subject nor a client.
    NoSubject,
    /// It is bound to a TLS certificate, which this resource cannot check.
    CertificateBound,
    /// It could not be verified now. Not the caller's fault.
    Unavailable,
}

impl Denied {
    /// The sentence for the caller.
    pub fn description(self) -> &'static str {
        match self {
            Self::Malformed => "the access token is malformed",
            Self::Unverifiable => "the access token cannot be verified",
            Self::OtherIssuer => "the access token is from another issuer",
            Self::OtherAudience => "the access token is for another resource",
            Self::Expired => "the access token has expired",
            Self::NotYetValid => "the access token is not valid yet",
            Self::NoSubject => "the access token names no subject",
            Self::CertificateBound => "the access token is bound to a certificate",
            Self::Unavailable => "access tokens cannot be verified now",
        }
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description())
    }
}

impl std::error::Error for Denied {}

/// Verifies tokens of an issuer by a function.
///
/// The function must check everything that the trait demands: that the token is genuine, has not
/// expired, and was issued for this resource.
///
/// ```
/// use bowline_auth::resource::{Denied, Presented, verify_fn};
/// use bowline_proto::request::Claims;
///
/// let verifier = verify_fn("https://as.example", |token: Presented| async move {
///     match token.expose() {
///         "abc" => Ok(Claims::new("https://as.example", "ann").scopes(["mcp"])),
///         _ => Err(Denied::Unverifiable),
///     }
/// });
/// let verifier = verifier.require_scope("mcp");
/// ```
pub fn verify_fn<F, A, V>(issuer: impl Into<String>, function: F) -> VerifyFn<F>
where
    F: Fn(Presented) -> A + Send + Sync + 'static,
    A: Future<Output = Result<V, Denied>> + Send + 'static,
    V: Into<Verified>,
{
    VerifyFn { issuer: issuer.into(), function, policy: Policy::default() }
}

/// A function that verifies tokens; see [`verify_fn`].
#[derive(Clone)]
pub struct VerifyFn<F> {
    issuer: String,
    function: F,
    policy: Policy,
}

impl<F> VerifyFn<F> {
    policy_methods!();
}

impl<F, A, V> Verify for VerifyFn<F>
where
    F: Fn(Presented) -> A + Send + Sync + 'static,
    A: Future<Output = Result<V, Denied>> + Send + 'static,
    V: Into<Verified>,
{
    fn verify<'a>(
        &'a self,
        token: &'a Presented,
        _context: VerifyContext<'a>,
    ) -> BoxFuture<'a, Result<Verified, Denied>> {
        let verdict = (self.function)(token.clone());
        Box::pin(async move { verdict.await.map(Into::into) })
    }

    fn issuer(&self) -> Option<&str> {
        Some(&self.issuer)
    }

    fn policy(&self) -> Policy {
        self.policy.clone()
    }
}

impl<F> fmt::Debug for VerifyFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyFn").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}
