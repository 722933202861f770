//! Gives an HTTP client the headers of each request, and decides what a refusal of the server means.
//!
//! A login or a renewal runs in a task of its own, one at a time for each MCP server, client and
//! account in this process: a caller that gives up must not end a login that others wait for.

mod login;
mod renew;
mod single_flight;
mod status;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime};

use bowline_proto::sync::lock;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use http::{Method, StatusCode};

use self::single_flight::Role;
pub use self::status::{LoginDemand, LoginStatus};
use super::dpop::{self, Prover};
use super::logins::LoginHistory;
use super::moment::Moment;
use super::plan::{DpopUse, Grant, PageDelivery, Plan};
use super::record::{Record, TokenKind, Tokens};
use super::store::{Store, StoreKey};
use super::visit::{PageOpener, PasteVisitor, Visitor};
use crate::challenge::Challenge;
use crate::error::{Error, Kind};
use crate::fetch::Fetcher;
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::url::Url;

/// The most operations whose step-ups are remembered.
const MOST_OPERATIONS: usize = 1000;
/// How long no token is renewed early after that has failed: every request would wait for it.
const PAUSE: Duration = Duration::from_secs(30);
/// The most logins of other operations that a step-up waits for.
const MOST_JOINED: usize = 3;

/// Obtains, keeps and renews the tokens for one MCP server. Clones share them.
#[derive(Clone)]
pub struct Authorizer(Arc<Shared>);

/// What all clones share.
struct Shared {
    plan: Arc<Plan>,
    mcp: Url,
    /// Where the store remembers the issuer.
    pointer: StoreKey,
    fetcher: Arc<dyn Fetcher>,
    visitor: Option<Arc<dyn Visitor>>,
    offers_origin: bool,
    held: Mutex<Holding>,
    /// When a token could not be renewed before it expired.
    failed: Mutex<Option<Instant>>,
    /// The nonce that the MCP server named last.
    nonce: Mutex<Option<String>>,
    /// Where the document of the MCP server is, as a challenge named it last.
    document: Mutex<Option<String>>,
    /// The scopes that the last step-up of each operation asked for.
    step_ups: Mutex<HashMap<String, Scopes>>,
    /// What the MCP server demanded last and did not get.
    demand: Mutex<Option<LoginDemand>>,
    /// Of all clients with the same plan.
    logins: Arc<LoginHistory>,
}

/// The record in memory.
#[derive(Clone, Default)]
enum Holding {
    /// The store was not asked yet.
    #[default]
    Unknown,
    Nothing,
    Held(Arc<Held>),
}

/// A record and where it is stored.
struct Held {
    key: StoreKey,
    version: u64,
    record: Record,
}

impl Held {
    fn tokens(&self) -> Option<&Tokens> {
        self.record.tokens.as_ref()
    }
}

/// What was done already for one message. Begin each message with a new one.
#[derive(Debug, Default)]
pub struct AuthAttempts {
    /// The version of the record whose token was sent.
    sent: Option<u64>,
    /// How many logins had succeeded when the message was refused for the first time.
    logins: Option<u64>,
    has_repeated_with_nonce: bool,
    has_renewed: bool,
    has_logged_in: bool,
    has_stepped_up: bool,
}

/// Whether a refused message may start a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoginPolicy {
    /// A request that a caller waits for.
    Allowed,
    /// A notification, a DELETE, or a GET for a stream: nothing that a user should be disturbed for.
    Forbidden,
}

/// What a refusal of the MCP server means.
#[derive(Debug)]
pub enum AuthVerdict {
    /// Send the message again, with new headers.
    Retry,
    /// The refusal stands, for this reason if there is one.
    Stands(Option<Error>),
}

impl Authorizer {
    /// Follows a plan for one MCP server.
    pub fn new(plan: impl Into<Plan>, mcp: Url, fetcher: Arc<dyn Fetcher>) -> Self {
        let plan = plan.into();
        let pointer = StoreKey::pointer(&mcp.canonical(), &plan.client, &plan.account);
        let visitor: Option<Arc<dyn Visitor>> = match &plan.grant {
            Grant::Code(code) => match &code.page {
                PageDelivery::Paste(paster) => Some(Arc::new(PasteVisitor(paster.clone()))),
                PageDelivery::Loopback(_) | PageDelivery::Never(_) => None,
            },
            _ => None,
        };
        let logins = plan.store.logins(&pointer);
        Self(Arc::new(Shared {
            plan: Arc::new(plan),
            mcp,
            pointer,
            fetcher,
            visitor,
            offers_origin: true,
            held: Mutex::default(),
            failed: Mutex::default(),
            nonce: Mutex::default(),
            document: Mutex::default(),
            step_ups: Mutex::default(),
            demand: Mutex::default(),
            logins,
        }))
    }

    /// How the plan opens pages, if it needs a [`Visitor`] that listens on this machine.
    pub fn page_opener(plan: &Plan) -> Option<PageOpener> {
        match &plan.grant {
            Grant::Code(code) => match &code.page {
                PageDelivery::Loopback(opener) => Some(PageOpener(opener.clone())),
                PageDelivery::Paste(_) | PageDelivery::Never(_) => None,
            },
            _ => None,
        }
    }

    /// Sets the visitor of a plan that has a [`page_opener`](Self::page_opener).
    ///
    /// # Panics
    ///
    /// If there are clones already.
    #[must_use]
    pub fn with_visitor(mut self, visitor: Arc<dyn Visitor>) -> Self {
        let shared = Arc::get_mut(&mut self.0).expect("there are no clones yet");
        shared.visitor = Some(visitor);
        self
    }

    /// Expects a document about the MCP server, because the client does not offer 2025-03-26, in
    /// which the MCP server is its own authorization server.
    ///
    /// # Panics
    ///
    /// If there are clones already.
    #[must_use]
    pub fn without_2025_03_26(mut self) -> Self {
        let shared = Arc::get_mut(&mut self.0).expect("there are no clones yet");
        shared.offers_origin = false;
        self
    }

    /// The headers that authorize a request. There are none before the first login, and none for
    /// another origin than that of the MCP server.
    ///
    /// # Errors
    ///
    /// If the store fails, or the system gives no randomness.
    pub async fn headers(
        &self,
        (method, url): (&Method, &Url),
        attempts: &mut AuthAttempts,
    ) -> Result<HeaderMap, Error> {
        attempts.sent = None;
        if !url.is_same_origin(&self.0.mcp) {
            return Ok(HeaderMap::new());
        }
        let Some(mut held) = self.held().await? else { return Ok(HeaderMap::new()) };
        let now = SystemTime::now();
        if held.tokens().is_some_and(|tokens| tokens.is_due(now) && self.0.may_renew(tokens)) {
            // If it fails, the old token may still do; if not, the server says so.
            if self.renew(&held).await.is_err() {
                *lock(&self.0.failed) = Some(Instant::now());
            }
            match self.held().await? {
                Some(renewed) => held = renewed,
                None => return Ok(HeaderMap::new()),
            }
        }
        let Some(tokens) = held.tokens() else { return Ok(HeaderMap::new()) };
        attempts.sent = Some(held.version);
        self.0.present(tokens, (method, url), &Moment::of_system()?)
    }

    /// Decides what to do after an answer with the status 401 or 403. The operation is what the
    /// message asks for, such as its method and the name of its tool.
    pub async fn refused(
        &self,
        (status, headers): (StatusCode, &HeaderMap),
        operation: &str,
        policy: LoginPolicy,
        attempts: &mut AuthAttempts,
    ) -> AuthVerdict {
        let nonce = dpop::nonce(headers);
        if nonce.is_some() {
            lock(&self.0.nonce).clone_from(&nonce);
        }
        let challenge = self.0.choose(&Challenge::read(headers));
        if let Some(document) = challenge.as_ref().and_then(|it| it.value("resource_metadata")) {
            *lock(&self.0.document) = Some(document.to_owned());
        }
        let demand = LoginDemand::of(status, challenge.as_ref());
        let error = challenge.as_ref().and_then(|it| it.value("error")).unwrap_or_default();
        let decided = match status {
            StatusCode::UNAUTHORIZED
                if error == dpop::USE_NONCE
                    && nonce.is_some()
                    && !attempts.has_repeated_with_nonce =>
            {
                attempts.has_repeated_with_nonce = true;
                Ok(true)
            }
            StatusCode::UNAUTHORIZED => self.unauthorized(challenge, policy, attempts).await,
            StatusCode::FORBIDDEN if error == "insufficient_scope" => {
                self.step_up(challenge, operation, policy, attempts).await
            }
            _ => Ok(false),
        };
        *lock(&self.0.demand) = if matches!(decided, Ok(true)) { None } else { demand };
        match decided {
            Ok(true) => AuthVerdict::Retry,
            Ok(false) => AuthVerdict::Stands(None),
            Err(error) => AuthVerdict::Stands(Some(error)),
        }
    }

    /// The server wants a token, or another one. Says whether there is a new one.
    async fn unauthorized(
        &self,
        challenge: Option<Challenge>,
        policy: LoginPolicy,
        attempts: &mut AuthAttempts,
    ) -> Result<bool, Error> {
        let logins = *attempts.logins.get_or_insert(self.0.logins.count());
        let held = self.0.reload().await?;
        let granted = held.as_ref().and_then(|it| it.tokens()).map(|it| it.scopes.clone());
        if let Some((held, tokens)) = held.as_ref().and_then(|it| Some((it, it.tokens()?))) {
            let is_sent = attempts.sent == Some(held.version);
            let has_logged_in = attempts.has_logged_in || self.0.logins.count() > logins;
            if is_sent && has_logged_in {
                self.0.logins.was_in_vain(challenge.as_ref(), &tokens.access);
            }
            // If the message was sent with a new token before, that was refused as well.
            if !std::mem::replace(&mut attempts.has_renewed, true)
                && (!is_sent
                    || self.renew_after_refusal(challenge.as_ref(), held).await.unwrap_or(false))
            {
                return Ok(true);
            }
        }
        if policy == LoginPolicy::Forbidden {
            return Ok(false);
        }
        if let Some(advice) = self.0.plan.stored_only() {
            return Err(no_login(granted.is_some(), advice));
        }
        self.0.logins.check(&self.0.mcp)?;
        if attempts.has_logged_in {
            return Ok(false);
        }
        attempts.has_logged_in = true;
        self.log_in(challenge, granted.unwrap_or_default()).await?;
        // The user may have taken longer than a nonce lives.
        attempts.has_repeated_with_nonce = false;
        Ok(true)
    }

    /// The token lacks scopes. Says whether there is a new one that has them.
    async fn step_up(
        &self,
        challenge: Option<Challenge>,
        operation: &str,
        policy: LoginPolicy,
        attempts: &mut AuthAttempts,
    ) -> Result<bool, Error> {
        let text = challenge.as_ref().and_then(|it| it.value("scope")).unwrap_or_default();
        let challenged = Scopes::parse(text)?;
        if policy == LoginPolicy::Forbidden || attempts.has_stepped_up {
            return Err(insufficient(&challenged));
        }
        attempts.has_stepped_up = true;
        let stored_only = self.0.plan.stored_only();
        for _ in 0..MOST_JOINED {
            // Another program may have logged in with more scopes.
            let held =
                if stored_only.is_some() { self.0.reload().await? } else { self.held().await? };
            let Some(held) = held else { return Ok(false) };
            let Some(tokens) = held.tokens() else { return Ok(false) };
            if challenged.is_within(&tokens.scopes) {
                // A new token may have come since the message was sent.
                let is_new = attempts.sent != Some(held.version);
                return if is_new { Ok(true) } else { Err(insufficient(&challenged)) };
            }
            if let Some(advice) = stored_only {
                return Err(lacking(&challenged, advice));
            }
            if !self.0.may_step_up(operation, &tokens.scopes.union(&challenged)) {
                return Err(insufficient(&challenged));
            }
            let joined = self.log_in(challenge.clone(), tokens.scopes.clone()).await?;
            if joined == Role::Leader {
                return Ok(true);
            }
            // The login was for another operation, whose scopes may not suffice.
            self.0.forget_step_up(operation);
        }
        Ok(true)
    }

    /// Whether there is a token, perhaps an expired one.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub async fn is_logged_in(&self) -> Result<bool, Error> {
        Ok(self.held().await?.is_some_and(|held| held.tokens().is_some()))
    }

    /// The record in memory, or else in the store.
    async fn held(&self) -> Result<Option<Arc<Held>>, Error> {
        match &*lock(&self.0.held) {
            Holding::Held(held) => return Ok(Some(held.clone())),
            Holding::Nothing => return Ok(None),
            Holding::Unknown => {}
        }
        self.0.reload().await
    }
}

impl Shared {
    /// Reads the record from the store again: another program may have replaced it.
    async fn reload(&self) -> Result<Option<Arc<Held>>, Error> {
        let held = self.load().await?.map(Arc::new);
        self.hold(held.clone());
        Ok(held)
    }

    /// Whether a token can be renewed without a user, and that has not just failed.
    fn may_renew(&self, tokens: &Tokens) -> bool {
        let has_failed = lock(&self.failed).is_some_and(|time| time.elapsed() < PAUSE);
        let has_means = tokens.refresh.is_some() || !matches!(self.plan.grant, Grant::Code(_));
        has_means && !has_failed
    }

    fn store(&self) -> &dyn Store {
        &*self.plan.store.store
    }

    fn hold(&self, held: Option<Arc<Held>>) {
        *lock(&self.held) = held.map_or(Holding::Nothing, Holding::Held);
    }

    /// Finds the record through the issuer that the store remembers.
    async fn load(&self) -> Result<Option<Held>, Error> {
        let Some(pointer) = self.store().load(&self.pointer).await? else { return Ok(None) };
        // The text is the issuer, then the resource.
        let text = pointer.text.expose();
        let Some((issuer, resource)) = text.split_once(' ') else { return Ok(None) };
        self.load_record(issuer, resource).await
    }

    async fn load_record(&self, issuer: &str, resource: &str) -> Result<Option<Held>, Error> {
        let key = self.pointer.record(issuer, resource);
        let Some(stored) = self.store().load(&key).await? else { return Ok(None) };
        // A record that this program cannot read is replaced by the next login.
        let record = Record::parse(&stored.text, issuer).ok();
        Ok(record.map(|record| Held { key, version: stored.version, record }))
    }

    /// The headers with which a token is presented.
    fn present(
        &self,
        tokens: &Tokens,
        request: (&Method, &Url),
        moment: &Moment,
    ) -> Result<HeaderMap, Error> {
        let mut headers = HeaderMap::new();
        let value = format!("{} {}", tokens.kind.scheme(), tokens.access.expose());
        insert(&mut headers, AUTHORIZATION, &Secret::new(value))?;
        if let (TokenKind::DPoP, Some(key)) = (tokens.kind, &tokens.key) {
            let prover = Prover { key: key.clone(), nonce: lock(&self.nonce).clone() };
            let proof = prover.prove(request, Some(&tokens.access), moment)?;
            insert(&mut headers, dpop::PROOF, &proof)?;
        }
        Ok(headers)
    }

    /// The challenge to answer: bearer tokens are simpler, bound ones are for those that insist.
    fn choose(&self, challenges: &[Challenge]) -> Option<Challenge> {
        let order = match self.plan.dpop {
            DpopUse::Always => ["DPoP", "Bearer"],
            DpopUse::WhenAsked => ["Bearer", "DPoP"],
        };
        let find = |scheme: &str| challenges.iter().find(|challenge| challenge.is(scheme));
        order.into_iter().find_map(find).cloned()
    }

    /// Whether an operation has not yet asked for these scopes in vain.
    fn may_step_up(&self, operation: &str, wanted: &Scopes) -> bool {
        let mut step_ups = lock(&self.step_ups);
        if step_ups.get(operation) == Some(wanted) {
            return false;
        }
        if step_ups.len() == MOST_OPERATIONS {
            step_ups.clear();
        }
        step_ups.insert(operation.to_owned(), wanted.clone());
        true
    }

    fn forget_step_up(&self, operation: &str) {
        lock(&self.step_ups).remove(operation);
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Authorizer({:?}, {})", self.0.mcp, self.0.plan.client)
    }
}

/// Sets a header whose value is not logged.
fn insert(headers: &mut HeaderMap, name: HeaderName, value: &Secret<String>) -> Result<(), Error> {
    let mut value = HeaderValue::from_str(value.expose())
        .map_err(|_| Error::new(Kind::Token, "a token cannot be sent in a header"))?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(())
}

/// Why a plan that never logs in gives up.
fn no_login(has_tokens: bool, advice: &str) -> Error {
    let text = match has_tokens {
        true => "the server refuses the token of the stored login, and it could not be renewed",
        false => "no login is stored for this server",
    };
    Error::new(Kind::Login, advised(text, advice))
}

/// Why a plan that never logs in cannot step up.
fn lacking(challenged: &Scopes, advice: &str) -> Error {
    let text = format!("the stored login does not have the scopes `{challenged}`");
    Error::new(Kind::Login, advised(&text, advice))
}

fn advised(text: &str, advice: &str) -> String {
    match advice.is_empty() {
        true => text.to_owned(),
        false => format!("{text}; {advice}"),
    }
}

fn insufficient(challenged: &Scopes) -> Error {
    let text =
        format!("the token does not have the scopes `{challenged}`, and they are not granted");
    Error::new(Kind::Login, text)
}

#[cfg(test)]
mod tests;
