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
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::cache::VerdictCache;
use super::discover::discover;
use super::expected::{Expected, Source};
use super::failures::{FailureHook, failure_methods};
use super::outage::{Outage, Question};
use super::policy::{Policy, policy_methods};
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

/// The most questions at a time. Further tokens are answered with 503, so that a flood of wrong tokens
/// does not become a flood of questions.
pub const MOST_QUESTIONS: usize = 64;

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
    questions: Semaphore,
    outage: Outage,
    verdicts: VerdictCache<Result<Verified, Denied>>,
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
        if let Some(verdict) = self.verdicts.find(token, 0, context.now) {
            return verdict;
        }
        let question = self.outage.begin(context.now).ok_or(Denied::Unavailable)?;
        let asked = self.ask_and_judge(token, context, question).await;
        let (verdict, length) = asked.map_err(|error| {
            self.failures.report(&self.expected.issuer, &error, context.now);
            Denied::Unavailable
        })?;
        let until = until(&verdict, context.now);
        self.verdicts.keep(token, 0, until, (verdict.clone(), length));
        verdict
    }

    /// The verdict and how long the answer was that has it, or why there is none.
    async fn ask_and_judge(
        &self,
        token: &Presented,
        context: VerifyContext<'_>,
        question: Question<'_>,
    ) -> Result<(Result<Verified, Denied>, usize), Error> {
        let too_many = |_| Error::fetch("too many tokens wait for an answer already");
        let _place = self.questions.try_acquire().map_err(too_many)?;
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

/// Until when a verdict counts.
fn until(verdict: &Result<Verified, Denied>, now: SystemTime) -> SystemTime {
    match verdict {
        Ok(verified) => {
            let longest = now + ACCEPTED_AGE;
            verified.claims.expires.map_or(longest, |expiry| expiry.min(longest))
        }
        Err(_) => now + REFUSED_AGE,
    }
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
            questions: Semaphore::new(MOST_QUESTIONS),
            outage: Outage::default(),
            verdicts: VerdictCache::new(),
            policy: Policy::default(),
            failures: FailureHook::default(),
        }
    }
}

impl Verify for Introspection {
    fn verify<'a>(
        &'a self,
        token: &'a Presented,
        context: VerifyContext<'a>,
    ) -> BoxFuture<'a, Result<Verified, Denied>> {
        Box::pin(self.check(token, context))
    }

    fn issuer(&self) -> Option<&str> {
        Some(&self.expected.issuer)
    }

    fn policy(&self) -> Policy {
        self.policy.clone()
    }

    fn addresses(&self) -> Vec<Url> {
        let issuer = Url::parse(&self.expected.issuer).ok();
        issuer.into_iter().chain(self.endpoint.clone()).collect()
    }
}

impl fmt::Debug for Introspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { expected, client_id, .. } = self;
        f.debug_tuple("Introspection").field(expected).field(client_id).finish()
    }
}
