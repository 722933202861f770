//! Proof of possession (DPoP, RFC 9449): a caller shows that it has the key that its token is bound to.
//!
//! The proof is a token that the caller signs for each request. It names the method, the URL, the
//! time, and a digest of the access token.

use std::time::{Duration, SystemTime};

use bowline_proto::request::Owner;
use bowline_types::read::read;
use http::header::{HeaderMap, HeaderName};
use http::request::Parts;

use super::nonce::{NonceVerdict, Nonces};
use super::replay::{ReplayTable, ReplayVerdict, UsedProof};
use super::verify::Presented;
use crate::jose::jwk::Jwk;
use crate::jose::jws::{Algorithm, Jws};
use crate::jose::jwt::{NumericDate, ProofClaims};
use crate::jose::{sha256, to_base64};
use crate::url::Url;

/// The header that holds the proof.
pub const DPOP: HeaderName = HeaderName::from_static("dpop");
/// The header that brings the caller a nonce.
pub const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");

/// The most bytes of a proof.
pub const MOST_PROOF: usize = 8 * 1024;
/// The most bytes of the id of a proof.
const MOST_PROOF_ID: usize = 512;
/// How far the time of a proof may be from ours.
const WINDOW: Duration = Duration::from_secs(60);

/// What a proof must show.
pub(super) struct ProofCheck<'a> {
    /// The address of this resource, as callers know it.
    pub(super) resource: &'a Url,
    /// The key that the token is bound to.
    pub(super) thumbprint: &'a str,
    /// The caller, by its token.
    pub(super) owner: Owner,
    pub(super) nonces: Option<&'a Nonces>,
    pub(super) replays: &'a dyn ReplayTable,
    pub(super) now: SystemTime,
}

/// Why a proof was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProofError {
    /// It is missing, malformed, for another request, too old or a replay.
    Invalid(&'static str),
    /// It has no nonce, or an old one.
    NonceWanted,
    /// The replay table has no room.
    Unavailable,
}

/// Whether the caller should get a new nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accepted {
    Fully,
    /// The nonce is accepted but will not be for long.
    WithAgeingNonce,
}

impl ProofCheck<'_> {
    /// Checks the proof in the head of a request, for a token that is bound to a key.
    pub(super) async fn check(
        &self,
        head: &Parts,
        token: &Presented,
    ) -> Result<Accepted, ProofError> {
        let (claims, accepted) = self.verify(head, token)?;
        // Last, so that only sound proofs take up room.
        let digest = sha256(format!("{}\0{}", self.thumbprint, claims.jti).as_bytes());
        let until = claims.iat.0 + WINDOW + WINDOW;
        let proof = UsedProof { digest, owner: self.owner.clone(), until };
        match self.replays.remember(proof, self.now).await {
            ReplayVerdict::New => Ok(accepted),
            ReplayVerdict::Seen => Err(ProofError::Invalid("the proof was used before")),
            ReplayVerdict::Unavailable => Err(ProofError::Unavailable),
        }
    }

    /// Everything but the replay.
    fn verify(
        &self,
        head: &Parts,
        token: &Presented,
    ) -> Result<(ProofClaims, Accepted), ProofError> {
        let proof = one(&head.headers)?;
        let (claims, key) =
            read_proof(proof).ok_or(ProofError::Invalid("the proof is malformed"))?;
        if claims.htm != head.method.as_str() {
            return Err(ProofError::Invalid("the proof is for another method"));
        }
        if !self.is_here(&claims.htu) {
            return Err(ProofError::Invalid("the proof is for another URL"));
        }
        let NumericDate(made) = claims.iat;
        if made + WINDOW < self.now || made > self.now + WINDOW {
            return Err(ProofError::Invalid("the time of the proof is wrong"));
        }
        if claims.ath.as_deref() != Some(to_base64(&token.digest()).as_str()) {
            return Err(ProofError::Invalid("the proof is for another access token"));
        }
        if key != self.thumbprint {
            return Err(ProofError::Invalid("the proof has another key than the access token"));
        }
        let accepted = self.check_nonce(claims.nonce.as_deref())?;
        Ok((claims, accepted))
    }

    /// Whether a URL is that of this resource. Query and fragment do not count.
    fn is_here(&self, url: &str) -> bool {
        let without = |text: &str| {
            let end = text.find(['?', '#']).unwrap_or(text.len());
            Url::parse(&text[..end]).ok().map(|url| url.canonical())
        };
        without(url).is_some_and(|url| Some(url) == without(self.resource.as_str()))
    }

    fn check_nonce(&self, nonce: Option<&str>) -> Result<Accepted, ProofError> {
        let Some(nonces) = self.nonces else { return Ok(Accepted::Fully) };
        match nonce.map(|nonce| nonces.check(nonce, self.now)) {
            Some(NonceVerdict::Fresh) => Ok(Accepted::Fully),
            Some(NonceVerdict::Ageing) => Ok(Accepted::WithAgeingNonce),
            Some(NonceVerdict::Refused) | None => Err(ProofError::NonceWanted),
        }
    }
}

/// The one proof of a request.
fn one(headers: &HeaderMap) -> Result<&str, ProofError> {
    let mut values = headers.get_all(DPOP).iter();
    let first = values.next().ok_or(ProofError::Invalid("there is no proof"))?;
    if values.next().is_some() {
        return Err(ProofError::Invalid("there is more than one proof"));
    }
    let text = first.to_str().ok().filter(|text| text.len() <= MOST_PROOF);
    text.ok_or(ProofError::Invalid("the proof is malformed"))
}

/// The claims of a proof with a right signature, and the thumbprint of its key.
fn read_proof(proof: &str) -> Option<(ProofClaims, String)> {
    let jws = Jws::parse(proof, &Algorithm::ALL).ok()?;
    let is_proof = jws.media_type().is_some_and(|text| text.eq_ignore_ascii_case("dpop+jwt"));
    let key = Jwk::parse(jws.own_key()?).ok()?;
    let claims: ProofClaims = read(jws.verify(key.key()).ok()?).ok()?;
    let is_named = (1..=MOST_PROOF_ID).contains(&claims.jti.len());
    (is_proof && is_named).then(|| (claims, key.key().thumbprint()))
}
