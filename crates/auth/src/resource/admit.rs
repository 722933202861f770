//! Decides whether a request may pass, by its head alone.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use bowline_proto::request::{Access, Claims, Owner};
use http::StatusCode;
use http::header::{HeaderMap, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::request::Parts;

use super::document::Document;
use super::nonce::Nonces;
use super::policy::Policy;
use super::presented::{Credential, InvalidRequest, credential};
use super::proof::{Accepted, DPOP_NONCE, ProofCheck, ProofError};
use super::replay::{MemoryReplayTable, ReplayTable};
use super::verify::{Denied, Presented, Verified, Verify, VerifyContext};
use crate::challenge::Challenge;
use crate::error::{Error, Kind};
use crate::fetch::Fetcher;
use crate::jose::jws::Algorithm;
use crate::scope::Scopes;
use crate::url::Url;

/// Admits callers with a token for one resource.
pub struct Admission {
    resource: Url,
    document: Option<Document>,
    verify: Box<dyn Verify>,
    policy: Policy,
    fetcher: Arc<dyn Fetcher>,
    replays: Arc<dyn ReplayTable>,
    nonces: Option<Nonces>,
}

/// A caller whose token was verified.
#[derive(Clone, Debug)]
pub struct AdmittedCaller {
    /// On whose behalf it calls.
    pub owner: Owner,
    /// What its token says.
    pub claims: Claims,
    /// The scopes of its token, and all that they include.
    pub access: Access,
    /// A nonce for its next proof of possession: the value of the header `DPoP-Nonce` of the answer.
    pub nonce: Option<HeaderValue>,
}

/// Why a request may not pass: the status of the answer and its headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// 400, 401, 403 or 503.
    pub status: StatusCode,
    /// One sentence for people, without anything of the token.
    pub reason: &'static str,
    challenge: Option<Challenge>,
    nonce: Option<String>,
}

/// The seconds after which a caller may try again, if its token could not be verified.
const RETRY_SECONDS: HeaderValue = HeaderValue::from_static("5");

impl Admission {
    /// Admits callers of the resource at this public URL.
    ///
    /// # Errors
    ///
    /// If the URL is malformed or not confidential, a setting of the verifier is wrong, or fixed
    /// tokens would be accepted from other machines.
    pub fn new(
        resource: &str,
        verify: impl Verify,
        fetcher: Arc<dyn Fetcher>,
    ) -> Result<Self, Error> {
        let resource = https(resource, "tokens are sent to it")?;
        if verify.is_for_loopback_only() && !resource.is_loopback() {
            let text =
                format!("fixed tokens are for development; `{resource}` is not this machine");
            return Err(Error::new(Kind::Token, text));
        }
        let policy = verify.policy();
        policy.check()?;
        let document = verify.issuer().map(|issuer| {
            https(issuer, "tokens and keys come from it")?;
            Document::new(&resource, issuer, &policy)
        });
        let nonces = policy.has_nonces().then(Nonces::random);
        Ok(Self {
            document: document.transpose()?,
            resource,
            verify: Box::new(verify),
            policy,
            fetcher,
            replays: Arc::new(MemoryReplayTable::default()),
            nonces: nonces.transpose()?,
        })
    }

    /// Shares the memory of used proofs with other processes.
    #[must_use]
    pub fn replay_table(mut self, replays: Arc<dyn ReplayTable>) -> Self {
        self.replays = replays;
        self
    }

    /// Makes nonces under these keys, if the policy demands nonces, so that other processes accept
    /// them.
    #[must_use]
    pub fn nonces(mut self, nonces: Nonces) -> Self {
        self.nonces = self.nonces.map(|_| nonces);
        self
    }

    /// The metadata document, unless no authorization server issues the tokens.
    pub fn document(&self) -> Option<&Document> {
        self.document.as_ref()
    }

    /// Decides about a request. Nothing of its body may be read before.
    ///
    /// # Errors
    ///
    /// If its token is missing, malformed, not for this resource, or has too few scopes; or if it
    /// could not be verified now.
    pub async fn admit(&self, head: &Parts, now: SystemTime) -> Result<AdmittedCaller, Rejection> {
        let credential = credential(head).map_err(|error| self.invalid_request(error))?;
        let (token, is_bound) = match credential {
            Credential::Absent => return Err(self.unauthorized()),
            Credential::Bearer(token) => (token, false),
            Credential::Bound(token) => (token, true),
        };
        let peer = head.extensions.get().copied();
        let context = VerifyContext { now, peer, fetcher: &self.fetcher };
        let verified = self.verify.verify(&token, context).await;
        let verified = verified.map_err(|denied| self.denied(denied))?;
        let accepted = match (&verified.key_thumbprint, is_bound) {
            (Some(thumbprint), true) => {
                let owner = verified.claims.owner();
                self.prove(head, &token, (thumbprint, owner), now).await?
            }
            (Some(_), false) => return Err(self.misbound(BOUND)),
            (None, true) => return Err(self.misbound(UNBOUND)),
            (None, false) if self.policy.is_dpop_required() => return Err(self.misbound(UNBOUND)),
            (None, false) => Accepted::Fully,
        };
        let caller = self.caller(verified, accepted, now);
        match caller.access_to(self.policy.required()) {
            true => Ok(caller),
            false => Err(self.insufficient_scope([])),
        }
    }

    async fn prove(
        &self,
        head: &Parts,
        token: &Presented,
        (thumbprint, owner): (&str, Owner),
        now: SystemTime,
    ) -> Result<Accepted, Rejection> {
        let (resource, nonces) = (&self.resource, self.nonces.as_ref());
        let replays = &*self.replays;
        let check = ProofCheck { resource, thumbprint, owner, nonces, replays, now };
        let proved = check.check(head, token).await;
        proved.map_err(|error| self.unproved(error, now))
    }

    fn caller(&self, verified: Verified, accepted: Accepted, now: SystemTime) -> AdmittedCaller {
        let claims = verified.claims;
        let access = self.policy.expand(claims.scopes.iter().map(String::as_str));
        let nonces = self.nonces.as_ref().filter(|_| accepted == Accepted::WithAgeingNonce);
        let nonce = nonces.and_then(|nonces| nonces.make(now).parse().ok());
        AdmittedCaller { owner: claims.owner(), claims, access, nonce }
    }

    /// The rejection of a call that needs scopes which the caller's token does not have. The challenge
    /// names all scopes that the call needs, those of every call included.
    pub fn insufficient_scope<'a>(&self, needed: impl IntoIterator<Item = &'a str>) -> Rejection {
        let reason = "the access token has too few scopes";
        let challenge = self.challenge().with("error", "insufficient_scope");
        let needed = Scopes::of(needed).unwrap_or_default();
        let scopes = self.policy.required().union(&needed);
        let challenge = self.with_resource(challenge.with("error_description", reason), &scopes);
        Rejection::new(StatusCode::FORBIDDEN, reason).with_challenge(challenge)
    }

    fn unauthorized(&self) -> Rejection {
        let challenge = self.with_resource(self.challenge(), self.policy.required());
        Rejection::new(StatusCode::UNAUTHORIZED, "an access token is required")
            .with_challenge(challenge)
    }

    fn denied(&self, denied: Denied) -> Rejection {
        let reason = denied.description();
        if denied == Denied::Unavailable {
            return Rejection::new(StatusCode::SERVICE_UNAVAILABLE, reason);
        }
        self.failed(self.challenge(), "invalid_token", reason)
    }

    fn misbound(&self, reason: &'static str) -> Rejection {
        self.failed(dpop(), "invalid_token", reason)
    }

    fn unproved(&self, error: ProofError, now: SystemTime) -> Rejection {
        match error {
            ProofError::Invalid(reason) => self.failed(dpop(), "invalid_dpop_proof", reason),
            ProofError::NonceWanted => {
                let rejection = self.failed(dpop(), "use_dpop_nonce", "the proof needs a nonce");
                let nonce = self.nonces.as_ref().map(|nonces| nonces.make(now));
                Rejection { nonce, ..rejection }
            }
            ProofError::Unavailable => {
                Rejection::new(StatusCode::SERVICE_UNAVAILABLE, "too many proofs at a time")
            }
        }
    }

    /// A 401 with an error.
    fn failed(&self, challenge: Challenge, error: &str, reason: &'static str) -> Rejection {
        let challenge = challenge.with("error", error).with("error_description", reason);
        let challenge = self.with_resource(challenge, self.policy.required());
        Rejection::new(StatusCode::UNAUTHORIZED, reason).with_challenge(challenge)
    }

    fn invalid_request(&self, InvalidRequest(reason): InvalidRequest) -> Rejection {
        let challenge = self.challenge().with("error", "invalid_request");
        let challenge = challenge.with("error_description", reason);
        let challenge = self.with_resource(challenge, &Scopes::new());
        Rejection::new(StatusCode::BAD_REQUEST, reason).with_challenge(challenge)
    }

    /// The challenge of the scheme that this resource wants.
    fn challenge(&self) -> Challenge {
        if self.policy.is_dpop_required() { dpop() } else { Challenge::new("Bearer") }
    }

    /// Adds where the metadata is, and which scopes to ask for.
    fn with_resource(&self, challenge: Challenge, scopes: &Scopes) -> Challenge {
        let challenge = match &self.document {
            Some(document) => challenge.with("resource_metadata", document.address().as_str()),
            None => challenge,
        };
        match scopes.is_empty() {
            true => challenge,
            false => challenge.with("scope", &scopes.to_string()),
        }
    }
}

/// Reads a URL that is `https`, or on this machine.
fn https(text: &str, why: &str) -> Result<Url, Error> {
    let url = Url::parse(text)?;
    match url.is_confidential() {
        true => Ok(url),
        false => Err(Error::new(Kind::Url, format!("`{url}` must be an https URL: {why}"))),
    }
}

const BOUND: &str = "the access token is bound to a key; send it as DPoP, with a proof";
const UNBOUND: &str = "the access token is not bound to a key";

/// The challenge for a proof of possession.
fn dpop() -> Challenge {
    let names: Vec<&str> = Algorithm::ALL.iter().map(|algorithm| algorithm.name()).collect();
    Challenge::new("DPoP").with("algs", &names.join(" "))
}

impl fmt::Debug for Admission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { resource, policy, .. } = self;
        f.debug_tuple("Admission").field(resource).field(policy).finish()
    }
}

impl AdmittedCaller {
    fn access_to(&self, scopes: &Scopes) -> bool {
        scopes.iter().all(|scope| self.access.has(scope))
    }
}

impl Rejection {
    fn new(status: StatusCode, reason: &'static str) -> Self {
        Self { status, reason, challenge: None, nonce: None }
    }

    fn with_challenge(mut self, challenge: Challenge) -> Self {
        self.challenge = Some(challenge);
        self
    }

    /// The headers of the answer: the challenge, a nonce, or when to try again.
    pub fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Some(challenge) = &self.challenge {
            headers.insert(WWW_AUTHENTICATE, challenge.to_header());
        }
        if let Some(nonce) = self.nonce.as_ref().and_then(|nonce| nonce.parse().ok()) {
            headers.insert(DPOP_NONCE, nonce);
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, RETRY_SECONDS);
        }
        headers
    }
}
