//! Tokens that only the authorization server understands: it is asked about each (RFC 7662).

use std::fmt;
use std::sync::Mutex;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bowline_proto::sync::lock;
use bowline_types::read::read;
use http::StatusCode;
use http::header::AUTHORIZATION;
use serde::Deserialize;
use tokio::time::Instant;

use super::cache::VerdictCache;
use super::discover::discover;
use super::expected::{Expected, Source, verify_by_check};
use super::failures::{FailureHook, failure_methods};
use super::outage::{Outage, Question};
use super::policy::{Policy, policy_methods};
use super::questions::{QuestionPermit, Questions};
use super::verify::{Denied, Presented, Verified, Verify, VerifyContext};
use crate::error::{Error, Kind, misread};
use crate::fetch::{BoxFuture, FetchRequest, Fetched, Fetcher};
use crate::form::{self, Form};
use crate::secret::Secret;
use crate::url::Url;

/// How long an accepted token is not asked about again, unless it expires before.
pub const ACCEPTED_AGE: Duration = Duration::from_secs(60);
/// How long a refused token is not asked about again.
pub const REFUSED_AGE: Duration = Duration::from_secs(5);

/// Verifies tokens by asking the authorization server.
///
/// ```
/// use bowline_auth::resource::Introspection;
///
/// let opaque = Introspection::issuer("https://as.example")
///     .client("api", "secret")
///     .audience("https://mcp.example.com/mcp");
/// ```
pub struct Introspection {
    expected: Expected,
    client_id: String,
    secret: Secret<String>,
    /// The configured endpoint.
    endpoint: Option<Url>,
    /// The endpoint in the issuer's metadata, once it is known.
    discovered: Mutex<Option<Url>>,
    questions: Questions,
    outage: Outage,
    accepted: VerdictCache<Verified>,
    /// Apart, so that made-up tokens do not push out accepted ones.
    refused: VerdictCache<Denied>,
    policy: Policy,
    failures: FailureHook,
}

/// The issuer of tokens. It verifies nothing before it knows the resource's credentials and the
/// audience.
#[derive(Clone, Debug)]
pub struct IntrospectionIssuer(String);

/// The issuer of tokens, and the credentials of the resource there.
#[derive(Clone, Debug)]
pub struct IntrospectionClient {
    issuer: String,
    client_id: String,
    secret: Secret<String>,
}

impl Introspection {
    /// Asks this issuer, named exactly as in its metadata.
    pub fn issuer(issuer: impl Into<String>) -> IntrospectionIssuer {
        IntrospectionIssuer(issuer.into())
    }

    /// Accepts tokens for another name of this resource too.
    #[must_use]
    pub fn audience(mut self, audience: &str) -> Self {
        self.expected.add_audience(audience);
        self
    }

    /// Asks at this address, in place of the one in the issuer's metadata.
    #[must_use]
    pub fn endpoint(mut self, address: Url) -> Self {
        self.endpoint = Some(address);
        self
    }

    policy_methods!();
    failure_methods!();

    async fn check(
        &self,
        token: &Presented,
        context: VerifyContext<'_>,
    ) -> Result<Verified, Denied> {
        if let Some(verdict) = self.verdict(token, context.now) {
            return verdict;
        }
        let begin = Instant::now();
        let Some(_permit) = self.permit(token, context).await else {
            return Err(self.unavailable(&too_many(), context.now));
        };
        // Another request with the token may have asked meanwhile.
        if let Some(verdict) = self.verdict(token, context.now) {
            return verdict;
        }
        let now = context.now + begin.elapsed();
        let question = self.outage.begin(now).ok_or(Denied::Unavailable)?;
        let asked = self.ask_and_judge(token, VerifyContext { now, ..context }, question).await;
        let (verdict, length) = asked.map_err(|error| self.unavailable(&error, now))?;
        self.keep(token, &verdict, length, context.now);
        verdict
    }

    /// The verdict about a token, if it is kept.
    fn verdict(&self, token: &Presented, now: SystemTime) -> Option<Result<Verified, Denied>> {
        let accepted = self.accepted.find(token, 0, now).map(Ok);
        accepted.or_else(|| self.refused.find(token, 0, now).map(Err))
    }

    /// Keeps a verdict from an answer of this length.
    fn keep(
        &self,
        token: &Presented,
        verdict: &Result<Verified, Denied>,
        length: usize,
        now: SystemTime,
    ) {
        match verdict {
            Ok(verified) => {
                let longest = now + ACCEPTED_AGE;
                let until = verified.claims.expires.map_or(longest, |expiry| expiry.min(longest));
                self.accepted.keep(token, 0, until, (verified.clone(), length));
            }
            Err(denied) => self.refused.keep(token, 0, now + REFUSED_AGE, (*denied, length)),
        }
    }

    /// Waits until a token can be asked about. `None` if that takes too long.
    async fn permit(
        &self,
        token: &Presented,
        context: VerifyContext<'_>,
    ) -> Option<QuestionPermit<'_>> {
        match self.accepted.remembers(token) {
            true => self.questions.about_known().await,
            false => self.questions.about_unknown(context.peer).await,
        }
    }

    /// Tells the operator why there is no verdict.
    fn unavailable(&self, error: &Error, now: SystemTime) -> Denied {
        self.failures.report(&self.expected.issuer, error, now);
        Denied::Unavailable
    }

    /// The verdict and how long the answer was that has it, or why there is none.
    async fn ask_and_judge(
        &self,
        token: &Presented,
        context: VerifyContext<'_>,
        question: Question<'_>,
    ) -> Result<(Result<Verified, Denied>, usize), Error> {
        let begin = Instant::now();
        let asked = self.ask(token, &**context.fetcher).await;
        match &asked {
            Ok(answer) if !is_overloaded(answer.status) => question.answered(),
            _ => question.failed(context.now + begin.elapsed()),
        }
        let answer = asked.and_then(|answer| answer.json().map(str::to_owned));
        let answer = answer.inspect_err(|_| {
            // The issuer may have moved its endpoint.
            *lock(&self.discovered) = None;
        })?;
        Ok((self.judge(&answer, context.now)?, answer.len()))
    }

    /// The answer of the authorization server.
    async fn ask(&self, token: &Presented, fetcher: &dyn Fetcher) -> Result<Fetched, Error> {
        let form =
            Form::new().with("token", token.expose()).with("token_type_hint", "access_token");
        let address = self.address(fetcher).await?;
        address.check_confidential(Kind::Metadata, "`introspection_endpoint`")?;
        let request = FetchRequest::post(address, &form);
        let request = request.with_credential(AUTHORIZATION, &self.credentials())?;
        fetcher.fetch(request).await
    }

    /// The verdict, or that the answer is no verdict.
    fn judge(&self, answer: &str, now: SystemTime) -> Result<Result<Verified, Denied>, Error> {
        #[derive(Deserialize)]
        struct Answer {
            active: bool,
        }

        let malformed = |error| misread(Kind::Metadata, "the answer about a token", &error);
        let Answer { active } = read(answer).map_err(malformed)?;
        if !active {
            return Ok(Err(Denied::Unverifiable));
        }
        Ok(self.expected.check(answer, Source::Introspected, now))
    }

    async fn address(&self, fetcher: &dyn Fetcher) -> Result<Url, Error> {
        let known = self.endpoint.clone().or_else(|| lock(&self.discovered).clone());
        if let Some(address) = known {
            return Ok(address);
        }
        let metadata = discover(&self.expected.issuer, fetcher).await?;
        let missing = "the authorization server names no `introspection_endpoint`";
        let missing = || Error::new(Kind::Metadata, missing);
        let address = metadata.introspection_endpoint.ok_or_else(missing)?;
        *lock(&self.discovered) = Some(address.clone());
        Ok(address)
    }

    /// The address that the operator configured, if there is one.
    fn configured(&self) -> Option<&Url> {
        self.endpoint.as_ref()
    }

    /// Basic authentication, with both parts encoded as in a form (RFC 6749, section 2.3.1).
    fn credentials(&self) -> Secret<String> {
        let mut pair = String::new();
        form::encode(&self.client_id, &mut pair);
        pair.push(':');
        form::encode(self.secret.expose(), &mut pair);
        let pair = Secret::new(pair);
        Secret::new(format!("Basic {}", STANDARD.encode(pair.expose())))
    }
}

/// Whether a status says that the authorization server cannot answer anything now. Other errors may
/// be about one token, and a caller must not shut out the others with it.
fn is_overloaded(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

#[cold]
fn too_many() -> Error {
    Error::fetch("too many tokens wait for an answer already")
}

impl IntrospectionIssuer {
    /// Asks with these credentials.
    pub fn client(
        self,
        id: impl Into<String>,
        secret: impl Into<Secret<String>>,
    ) -> IntrospectionClient {
        IntrospectionClient { issuer: self.0, client_id: id.into(), secret: secret.into() }
    }
}

impl IntrospectionClient {
    /// Accepts tokens for this resource, named as in its metadata document: its public URL.
    pub fn audience(self, audience: &str) -> Introspection {
        Introspection {
            expected: Expected::new(self.issuer, audience),
            client_id: self.client_id,
            secret: self.secret,
            endpoint: None,
            discovered: Mutex::new(None),
            questions: Questions::new(),
            outage: Outage::default(),
            accepted: VerdictCache::new(),
            refused: VerdictCache::new(),
            policy: Policy::default(),
            failures: FailureHook::default(),
        }
    }
}

verify_by_check!(Introspection);

impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, client_id, .. } = self;
        f.debug_tuple("Introspection").field(expected).field(client_id).finish()
    }
}
