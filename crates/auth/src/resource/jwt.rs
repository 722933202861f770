//! Tokens that the authorization server signed (RFC 9068, and JSON Web Tokens like it).

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use super::cache::VerdictCache;
use super::expected::{Expected, Source, verify_by_check};
use super::failures::{FailureHook, failure_methods};
use super::jwks::{KeyCache, KeySource, KeyVersion};
use super::policy::{Policy, policy_methods};
use super::verify::{Denied, Presented, Verified, Verify, VerifyContext};
use crate::fetch::BoxFuture;
use crate::jose::jwk::JwkSet;
use crate::jose::jws::{Algorithm, Jws};
use crate::url::Url;

/// The types that an access token may have, in lower case. Tokens of other types, such as
/// `dpop+jwt`, are signed by clients.
const MEDIA_TYPES: [&str; 3] = ["jwt", "at+jwt", "application/at+jwt"];

/// Verifies tokens that one issuer signed for this resource.
///
/// ```
/// use bowline_auth::resource::Jwt;
///
/// let jwt = Jwt::issuer("https://as.example")
///     .audience("https://mcp.example.com/mcp")
///     .require_scope("mcp");
/// ```
pub struct Jwt {
    expected: Expected,
    algorithms: Vec<Algorithm>,
    keys: KeyCache,
    verdicts: VerdictCache<Verified>,
    policy: Policy,
    failures: FailureHook,
}

/// The issuer of tokens. It verifies nothing before it knows the audience.
#[derive(Clone, Debug)]
pub struct JwtIssuer(String);

impl Jwt {
    /// Accepts tokens of this issuer, named exactly as in its metadata.
    pub fn issuer(issuer: impl Into<String>) -> JwtIssuer {
        JwtIssuer(issuer.into())
    }

    /// Accepts tokens for another name of this resource too.
    #[must_use]
    pub fn audience(mut self, audience: &str) -> Self {
        self.expected.add_audience(audience);
        self
    }

    /// Accepts only these algorithms. By default all that exist here.
    #[must_use]
    pub fn algorithms(mut self, algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        self.algorithms = algorithms.into_iter().collect();
        self
    }

    /// Takes the keys from this address, in place of the one in the issuer's metadata.
    #[must_use]
    pub fn jwks_uri(mut self, address: Url) -> Self {
        self.keys = KeyCache::new(KeySource::Address(address));
        self
    }

    /// Uses these keys and fetches none.
    #[must_use]
    pub fn keys(mut self, keys: JwkSet) -> Self {
        self.keys = KeyCache::new(KeySource::Fixed(Arc::new(keys)));
        self
    }

    policy_methods!();
    failure_methods!();

    /// The checks in their order: form, algorithm, type, key, signature, claims. A token that passed
    /// them before, with the keys of now, is not read again.
    async fn check(
        &self,
        token: &Presented,
        context: VerifyContext<'_>,
    ) -> Result<Verified, Denied> {
        let known = self.keys.version(context.now);
        let known = known.and_then(|version| self.verdicts.find(token, version, context.now));
        if let Some(verified) = known {
            return Ok(verified);
        }
        let jws = Jws::parse(token.expose(), &self.algorithms).map_err(|_| Denied::Unverifiable)?;
        let is_typed = |text: &str| MEDIA_TYPES.contains(&text.to_ascii_lowercase().as_str());
        if !jws.media_type().is_none_or(is_typed) {
            return Err(Denied::Unverifiable);
        }
        let (failures, issuer) = (self.failures.clone(), self.expected.issuer.clone());
        let failed = move |error: &_| failures.report(&issuer, error, context.now);
        let keys = self.keys.keys(jws.key_id(), context, failed).await;
        let keys = keys.map_err(|_| Denied::Unavailable)?;
        if let Some(verified) = self.verdicts.find(token, keys.version, context.now) {
            return Ok(verified);
        }
        let verified = self.verify_with(&jws, &keys, context.now)?;
        let kept = (verified.clone(), token.expose().len());
        let until = verified.claims.expires.unwrap_or(context.now);
        self.verdicts.keep(token, keys.version, until, kept);
        Ok(verified)
    }

    /// The address that the operator configured, if there is one.
    fn configured(&self) -> Option<&Url> {
        self.keys.address_setting()
    }

    fn verify_with(
        &self,
        jws: &Jws<'_>,
        keys: &KeyVersion,
        now: SystemTime,
    ) -> Result<Verified, Denied> {
        let mut candidates = keys.keys.candidates(jws.key_id(), jws.algorithm());
        let payload = candidates.find_map(|candidate| jws.verify(candidate.key()).ok());
        self.expected.check(payload.ok_or(Denied::Unverifiable)?, Source::Signed, now)
    }
}

impl JwtIssuer {
    /// Accepts tokens for this resource, named as in its metadata document: its public URL.
    pub fn audience(self, audience: &str) -> Jwt {
        let Self(issuer) = self;
        Jwt {
            expected: Expected::new(issuer.clone(), audience),
            algorithms: Algorithm::ALL.to_vec(),
            keys: KeyCache::new(KeySource::Issuer(issuer)),
            verdicts: VerdictCache::new(),
            policy: Policy::default(),
            failures: FailureHook::default(),
        }
    }
}

verify_by_check!(Jwt);

impl fmt::Debug for Jwt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Jwt").field(&self.expected).finish()
    }
}
