//! A login as a state machine, from the challenge of the MCP server to the token.
//!
//! ```text
//! Resource → Server → Listen → Register → Visit → Redeem → Done      a user with a browser
//! Resource → Server → (Exchange →) Redeem → Done                     a program
//! ```
//!
//! It waits for nothing: each [`Input`] gives one [`Output`], and the driver brings the next input.
//! The revision of the MCP server is not yet known, so one order serves all revisions, and the
//! strictest rule of any of them holds for all.

mod grant;
mod visit;

use std::sync::Arc;

use http::StatusCode;

use self::visit::Pending;
use super::discover::{AuthServer, Endpoint, ResourceSearch, ServerSearch, Step, Target};
use super::dpop::{DpopKey, Prover};
use super::identity::ClientIdentity;
use super::moment::Moment;
use super::open::BrowserUrl;
use super::plan::{DpopUse, Grant, Plan};
use super::record::{Record, Registered};
use super::redeem::{Asked, OAuthRefusal};
use crate::challenge::Challenge;
use crate::error::{Error, Kind};
use crate::fetch::{FetchRequest, Fetched};
use crate::form::Form;
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::url::Url;

/// The most requests of one login.
const MOST_FETCHES: usize = 12;

const OFFLINE: &str = "offline_access";

/// What a login is for.
pub(crate) struct Goal {
    /// The MCP server.
    pub(crate) mcp: Url,
    /// The challenge that it answered with.
    pub(crate) challenge: Option<Challenge>,
    /// The scopes that were granted before.
    pub(crate) granted: Scopes,
    /// The issuer that the store remembers, for [`Issuer::first_seen`](super::plan::Issuer).
    pub(crate) pinned: Option<String>,
    /// Whether the client offers 2025-03-26, in which an MCP server is its own authorization server.
    pub(crate) offers_origin: bool,
    /// The assertion of a workload or of an identity provider.
    pub(crate) assertion: Option<Secret<String>>,
    /// Whether the token of before was bound to a key.
    pub(crate) is_bound: bool,
    /// The key for proofs, should the token have to be bound to one.
    pub(crate) key: DpopKey,
}

/// What happened.
pub(crate) enum Input {
    Begin,
    Fetched(Result<Fetched, Error>),
    Recalled(Option<Box<Record>>),
    /// Answers can be received at this redirect URI.
    Listening(Url),
    /// The browser came back with this query.
    Returned(Secret<String>),
    /// The user gave up.
    Abandoned,
    /// The browser did not come back in time.
    Late,
    Saved,
}

/// What to do next.
#[derive(Debug)]
pub(crate) enum Output {
    Fetch(FetchRequest),
    /// Load the record of the first of these issuers that has one.
    Recall {
        resource: String,
        issuers: Vec<String>,
    },
    /// Prepare to receive an answer, at this port if one is given and it is free.
    Listen(Option<u16>),
    /// Show the user a page, whose answer comes to this redirect URI.
    Visit(BrowserUrl, Url),
    /// The answer was a forgery; wait for the next one.
    Await,
    Save(Box<Record>),
    Done,
    Refused(Error),
}

/// A login.
pub(crate) struct Flow {
    plan: Arc<Plan>,
    goal: Goal,
    stage: Stage,
    fetches: usize,
}

enum Stage {
    Begin,
    Resource(ResourceSearch),
    Recall(Target),
    Server(ServerSearch, Target, Option<Box<Record>>),
    Listen(Box<Found>),
    Register(Box<Found>, Url, Attempt),
    Registered(Box<Found>, ClientIdentity, Url),
    Visit(Box<Pending>),
    /// The metadata of the identity provider.
    Provider(ServerSearch, Box<Found>),
    Exchange(Box<Found>),
    Redeem(Box<Redeeming>),
    /// The record is saved without the registration.
    Forget(Error),
    Keep,
    Ended,
}

/// The resource, its authorization server, and what is asked for.
struct Found {
    target: Target,
    server: AuthServer,
    /// The record of this server, if there is one.
    known: Option<Box<Record>>,
    registered: Option<Registered>,
    scopes: Scopes,
    prover: Option<Prover>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Attempt {
    First,
    Second,
}

/// A request to the token endpoint.
struct Redeeming {
    found: Box<Found>,
    client: ClientIdentity,
    /// The members of the request, without those of the client's authentication.
    form: Form,
    /// What must not be quoted.
    secrets: Vec<Secret<String>>,
    attempt: Attempt,
}

impl Flow {
    pub(crate) fn new(plan: Arc<Plan>, goal: Goal) -> Self {
        Self { plan, goal, stage: Stage::Begin, fetches: 0 }
    }

    /// Takes one step. After `Done` and `Refused` there is none.
    pub(crate) fn step(&mut self, input: Input, moment: &Moment) -> Output {
        match self.advance(input, moment) {
            Ok(Output::Fetch(_)) if self.fetches == MOST_FETCHES => {
                self.stage = Stage::Ended;
                Output::Refused(refused(format!("it takes more than {MOST_FETCHES} requests")))
            }
            Ok(Output::Fetch(request)) => {
                self.fetches += 1;
                Output::Fetch(request)
            }
            Ok(output) => output,
            Err(error) => {
                self.stage = Stage::Ended;
                Output::Refused(error)
            }
        }
    }

    fn advance(&mut self, input: Input, moment: &Moment) -> Result<Output, Error> {
        let stage = std::mem::replace(&mut self.stage, Stage::Ended);
        match (stage, input) {
            (Stage::Begin, Input::Begin) => {
                let mut search = ResourceSearch::new(&self.goal.mcp, self.goal.challenge.as_ref())?;
                let step = search.begin();
                self.resource(search, step)
            }
            (Stage::Resource(mut search), Input::Fetched(answer)) => {
                let step = search.read(answer)?;
                self.resource(search, step)
            }
            (Stage::Recall(target), Input::Recalled(known)) => self.recalled(target, known, moment),
            (Stage::Server(mut search, target, known), Input::Fetched(answer)) => {
                let step = search.read(answer)?;
                self.server(search, (target, known), step, moment)
            }
            (Stage::Listen(found), Input::Listening(redirect)) => {
                self.listening(found, redirect, moment)
            }
            (Stage::Register(found, redirect, attempt), Input::Fetched(answer)) => {
                self.registered(found, (redirect, attempt), &answer?)
            }
            (Stage::Registered(found, client, redirect), Input::Saved) => {
                self.visit(found, client, redirect, moment)
            }
            (Stage::Visit(pending), Input::Returned(query)) => {
                self.returned(pending, &query, moment)
            }
            (Stage::Visit(pending), Input::Abandoned) => {
                self.unvisited(*pending, Error::visit("the user gave up the login"))
            }
            (Stage::Visit(pending), Input::Late) => {
                self.unvisited(*pending, Error::visit("the user did not finish the login in time"))
            }
            (Stage::Provider(mut search, found), Input::Fetched(answer)) => {
                let step = search.read(answer)?;
                self.provider(search, found, step, moment)
            }
            (Stage::Exchange(found), Input::Fetched(answer)) => {
                self.exchanged(found, &answer?, moment)
            }
            (Stage::Redeem(redeeming), Input::Fetched(answer)) => {
                self.redeemed(*redeeming, &answer?, moment)
            }
            (Stage::Forget(error), Input::Saved) => Err(error),
            (Stage::Keep, Input::Saved) => Ok(Output::Done),
            _ => Err(refused("an input of the driver is out of order")),
        }
    }

    /// The document of the resource was looked for.
    fn resource(&mut self, search: ResourceSearch, step: Step<Target>) -> Result<Output, Error> {
        let target = match step {
            Step::Fetch(request) => {
                self.stage = Stage::Resource(search);
                return Ok(Output::Fetch(*request));
            }
            Step::Found(target) => target,
            Step::Absent if self.goal.offers_origin && !search.is_named() => {
                Target::origin(&self.goal.mcp)
            }
            Step::Absent => {
                let reason = "the MCP server does not say which authorization server it has";
                return Err(Error::new(Kind::Metadata, format!("the login is refused: {reason}")));
            }
        };
        let (resource, issuers) = (target.resource.clone(), self.acceptable(&target)?);
        self.stage = Stage::Recall(target);
        Ok(Output::Recall { resource, issuers })
    }

    /// The issuers of the resource that may see this client.
    fn acceptable(&self, target: &Target) -> Result<Vec<String>, Error> {
        let Some(client) = self.plan.grant.preregistered() else {
            return Ok(target.issuers.clone());
        };
        let Some(issuer) = client.issuer.0.as_ref().or(self.goal.pinned.as_ref()) else {
            return Ok(target.issuers.clone());
        };
        match target.issuers.contains(issuer) {
            true => Ok(vec![issuer.clone()]),
            false => {
                let (id, named) = (&client.id, &target.issuers);
                let text = format!(
                    "the client `{id}` is known to {issuer}, but the MCP server names \
                     {named:?}; if you trust that one, register the client there and set its issuer"
                );
                Err(refused(text))
            }
        }
    }

    /// The record of an issuer was looked for.
    fn recalled(
        &mut self,
        target: Target,
        known: Option<Box<Record>>,
        moment: &Moment,
    ) -> Result<Output, Error> {
        let mut search = if target.is_origin {
            ServerSearch::of_origin(&self.goal.mcp)?
        } else {
            let mut issuers = self.acceptable(&target)?;
            let is_known =
                |issuer: &String| known.as_ref().is_some_and(|it| it.server.issuer() == issuer);
            issuers.sort_by_key(|issuer| !is_known(issuer));
            ServerSearch::new(issuers)
        };
        let step = search.begin()?;
        self.server(search, (target, known), step, moment)
    }

    /// The metadata of the authorization server were looked for.
    fn server(
        &mut self,
        search: ServerSearch,
        (target, known): (Target, Option<Box<Record>>),
        step: Step<AuthServer>,
        moment: &Moment,
    ) -> Result<Output, Error> {
        let server = match step {
            Step::Fetch(request) => {
                self.stage = Stage::Server(search, target, known);
                return Ok(Output::Fetch(*request));
            }
            Step::Found(server) => server,
            Step::Absent => {
                return Err(refused("the authorization server does not describe itself"));
            }
        };
        let known = known.filter(|it| it.server.issuer() == server.issuer());
        let scopes = self.scopes(&target, &server);
        let prover = self.prover(&target, &server)?;
        let found = Found { target, server, known, registered: None, scopes, prover };
        self.grant(Box::new(found), moment)
    }

    /// The scopes to ask for: those that were granted, those that the challenge names, and those of
    /// the plan; at the first login without such a challenge, those of the resource.
    fn scopes(&self, target: &Target, server: &AuthServer) -> Scopes {
        let granted = &self.goal.granted;
        let challenged = self.goal.challenge.as_ref().and_then(|it| it.value("scope"));
        let challenged = challenged.and_then(|text| Scopes::parse(text).ok()).unwrap_or_default();
        let listed = server.metadata().scopes_supported.iter().flatten();
        let is_offline = listed.into_iter().any(|scope| scope == OFFLINE);
        let mut scopes = match challenged.is_empty() && granted.is_empty() {
            true => target.scopes.iter().filter(|scope| *scope != OFFLINE).collect::<Vec<_>>(),
            false => challenged.iter().collect(),
        };
        scopes.extend(self.plan.scopes.iter());
        let is_user = matches!(self.plan.grant, Grant::Code(_));
        if is_user && is_offline && !(scopes.is_empty() && granted.is_empty()) {
            scopes.push(OFFLINE);
        }
        granted.union(&Scopes::of(scopes).unwrap_or(challenged))
    }

    /// What makes proofs, if the token must be bound to a key.
    fn prover(&self, target: &Target, server: &AuthServer) -> Result<Option<Prover>, Error> {
        let is_asked = self.goal.challenge.as_ref().is_some_and(|it| it.is("DPoP"));
        let is_asked = is_asked || self.goal.is_bound || target.needs_dpop;
        if !is_asked && self.plan.dpop == DpopUse::WhenAsked {
            return Ok(None);
        }
        let theirs = server.metadata().dpop_signing_alg_values_supported.as_ref();
        match theirs.is_none_or(|names| names.iter().any(|name| name == "ES256")) {
            true => Ok(Some(Prover::new(self.goal.key.clone()))),
            false => Err(refused("the authorization server does not accept proofs with ES256")),
        }
    }

    fn redeem(&mut self, redeeming: Redeeming, moment: &Moment) -> Result<Output, Error> {
        let Redeeming { found, client, form, .. } = &redeeming;
        let endpoint = (&found.server, Endpoint::Token);
        let request = client.call(endpoint, form.clone(), found.prover.as_ref(), moment)?;
        self.stage = Stage::Redeem(Box::new(redeeming));
        Ok(Output::Fetch(request))
    }

    /// The token endpoint answered.
    fn redeemed(
        &mut self,
        mut redeeming: Redeeming,
        answer: &Fetched,
        moment: &Moment,
    ) -> Result<Output, Error> {
        if answer.status != StatusCode::OK {
            let client_secret = redeeming.client.secret();
            let secrets: Vec<_> = redeeming.secrets.iter().chain(client_secret).collect();
            let refusal = OAuthRefusal::read(answer, &secrets);
            let prover = redeeming.found.prover.as_mut();
            return match (prover, refusal.wanted_nonce(), redeeming.attempt) {
                (Some(prover), Some(nonce), Attempt::First) => {
                    prover.nonce = Some(nonce.to_owned());
                    redeeming.attempt = Attempt::Second;
                    self.redeem(redeeming, moment)
                }
                _ if refusal.is_invalid_client() => self.unknown(redeeming, refusal),
                _ => Err(refusal.into_error("the grant")),
            };
        }
        let Found { target, server, known, registered, scopes, prover } = *redeeming.found;
        let key = prover.as_ref().map(|prover| &prover.key);
        let mut tokens = Asked { scopes: &scopes, key }.read(answer, moment)?;
        if !matches!(self.plan.grant, Grant::Code(_)) {
            // A program logs in again instead; its credentials are at hand.
            tokens.refresh = None;
        }
        let client = registered.or_else(|| known.and_then(|record| record.client));
        let (resource, tokens) = (target.resource, Some(tokens));
        self.stage = Stage::Keep;
        Ok(Output::Save(Box::new(Record { server, resource, client, tokens })))
    }

    /// The token endpoint does not know the client. A registration is forgotten, so that the next
    /// login registers anew: servers lose registrations, and secrets expire.
    fn unknown(&mut self, redeeming: Redeeming, refusal: OAuthRefusal) -> Result<Output, Error> {
        if !redeeming.is_registered() {
            return Err(refusal.into_error("the client"));
        }
        let error = refusal.into_error("the client, which the next login registers anew");
        Ok(self.forget(*redeeming.found, error))
    }

    /// Saves the record without its registration, and ends with an error.
    fn forget(&mut self, found: Found, error: Error) -> Output {
        let Found { target, server, known, .. } = found;
        let mut tokens = known.and_then(|record| record.tokens);
        if let Some(tokens) = &mut tokens {
            // It belongs to the registration.
            tokens.refresh = None;
        }
        self.stage = Stage::Forget(error);
        let record = Record { server, resource: target.resource, client: None, tokens };
        Output::Save(Box::new(record))
    }
}

impl Redeeming {
    /// Whether the client registered itself, now or at an earlier login.
    fn is_registered(&self) -> bool {
        let known = self.found.known.as_ref().and_then(|record| record.client.as_ref());
        let registered = self.found.registered.as_ref().or(known);
        registered.is_some_and(|registered| registered.id == self.client.id)
    }

    fn new(
        found: Box<Found>,
        client: ClientIdentity,
        form: Form,
        secrets: Vec<Secret<String>>,
    ) -> Self {
        Self { found, client, form, secrets, attempt: Attempt::First }
    }
}

fn with_scopes(form: Form, scopes: &Scopes) -> Form {
    match scopes.is_empty() {
        true => form,
        false => form.with("scope", &scopes.to_string()),
    }
}

fn refused(reason: impl std::fmt::Display) -> Error {
    Error::new(Kind::Login, format!("the login is refused: {reason}"))
}
