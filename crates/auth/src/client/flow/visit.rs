//! The part of a login that needs the user: registration, the page, and the answer of the browser.

use super::{Attempt, Flow, Found, OFFLINE, Output, Redeeming, Stage, refused, with_scopes};
use crate::client::discover::Endpoint;
use crate::client::identity::ClientIdentity;
use crate::client::moment::Moment;
use crate::client::open::BrowserUrl;
use crate::client::pkce::{self, Verifier};
use crate::client::plan::Grant;
use crate::client::record::Record;
use crate::client::redeem::{code_form, quotable};
use crate::client::register::{self, Choice, Registration};
use crate::error::{Error, Kind};
use crate::fetch::Fetched;
use crate::form::Form;
use crate::secret::Secret;
use crate::url::Url;

/// A page that the user was sent to. What identifies the answer is kept together: the state, the
/// verifier and the issuer.
pub(super) struct Pending {
    found: Box<Found>,
    client: ClientIdentity,
    redirect: Url,
    state: Secret<String>,
    verifier: Verifier,
    issuer: String,
}

impl Flow {
    /// The driver listens; the client gets its id.
    pub(super) fn listening(
        &mut self,
        found: Box<Found>,
        redirect: Url,
        moment: &Moment,
    ) -> Result<Output, Error> {
        let plan = self.plan.clone();
        let Grant::Code(code) = &plan.grant else {
            return Err(refused("the login has no page"));
        };
        if !(redirect.is_https() || redirect.is_loopback()) {
            return Err(refused("the redirect URI is neither `https` nor on this machine"));
        }
        match register::choose(code, &found.server, found.known.as_deref(), &redirect)? {
            Choice::Known(client, redirect) => self.visit(found, client, redirect, moment),
            Choice::Register => {
                let request = register::request(&code.name, &found.server, &redirect)?;
                self.stage = Stage::Register(found, redirect, Attempt::First);
                Ok(Output::Fetch(request))
            }
        }
    }

    /// The registration endpoint answered.
    pub(super) fn registered(
        &mut self,
        mut found: Box<Found>,
        (redirect, attempt): (Url, Attempt),
        answer: &Fetched,
    ) -> Result<Output, Error> {
        let registered = match register::read_answer(answer, &redirect)? {
            Registration::Done(registered) => registered,
            Registration::Refused(refusal) => {
                let is_first = attempt == Attempt::First && redirect.is_loopback();
                if !(is_first && refusal.is_about_redirect()) {
                    return Err(refusal.into_error("the registration of the client"));
                }
                let redirect = register::by_name(&redirect)?;
                let Grant::Code(code) = &self.plan.grant else {
                    return Err(refused("the login has no page"));
                };
                let request = register::request(&code.name, &found.server, &redirect)?;
                self.stage = Stage::Register(found, redirect, Attempt::Second);
                return Ok(Output::Fetch(request));
            }
        };
        let mut tokens = found.known.as_ref().and_then(|record| record.tokens.clone());
        if let Some(tokens) = &mut tokens {
            // It belongs to the old registration.
            tokens.refresh = None;
        }
        let (server, resource) = (found.server.clone(), found.target.resource.clone());
        let record = Record { server, resource, client: Some(registered.clone()), tokens };
        let client = registered.identity();
        found.registered = Some(registered);
        self.stage = Stage::Registered(found, client, redirect);
        Ok(Output::Save(Box::new(record)))
    }

    /// Sends the user to the page.
    pub(super) fn visit(
        &mut self,
        found: Box<Found>,
        client: ClientIdentity,
        redirect: Url,
        moment: &Moment,
    ) -> Result<Output, Error> {
        let (state, verifier) = (moment.draw("state"), Verifier::new(moment));
        let mut form = Form::new()
            .with("response_type", "code")
            .with("client_id", &client.id)
            .with("redirect_uri", redirect.as_str())
            .with("state", state.expose())
            .with("code_challenge", &verifier.challenge())
            .with("code_challenge_method", pkce::METHOD)
            .with("resource", &found.target.resource);
        form = with_scopes(form, &found.scopes);
        if found.scopes.contains(OFFLINE) {
            form = form.with("prompt", "consent");
        }
        if let Some(prover) = &found.prover {
            form = form.with("dpop_jkt", &prover.key.thumbprint());
        }
        let page = found.server.endpoint(Endpoint::Authorization)?.with_query(&form)?;
        let page = BrowserUrl::new(page)?;
        let issuer = found.server.issuer().to_owned();
        let target = redirect.clone();
        let pending = Pending { found, client, redirect, state, verifier, issuer };
        self.stage = Stage::Visit(Box::new(pending));
        Ok(Output::Visit(page, target))
    }

    /// The browser did not come back. An earlier registration is forgotten, unless a refresh token needs
    /// it: a server that has lost the registration shows the user an error in place of its page, and
    /// would do so at every login.
    pub(super) fn unvisited(&mut self, pending: Pending, error: Error) -> Result<Output, Error> {
        let Pending { found, client, .. } = pending;
        let (earlier, tokens) = match found.known.as_deref() {
            Some(record) => (record.client.as_ref(), record.tokens.as_ref()),
            None => (None, None),
        };
        let is_earlier = earlier.is_some_and(|it| it.id == client.id) && found.registered.is_none();
        let is_needed = tokens.is_some_and(|tokens| tokens.refresh.is_some());
        match is_earlier && !is_needed {
            true => Ok(self.forget(*found, error)),
            false => Err(error),
        }
    }

    /// The browser came back. First the state, then the issuer, and only then anything else is read.
    pub(super) fn returned(
        &mut self,
        pending: Box<Pending>,
        query: &Secret<String>,
        moment: &Moment,
    ) -> Result<Output, Error> {
        let answer = Form::parse(query.expose()).ok();
        let Some(answer) = answer.filter(|answer| pending.is_answered_by(answer)) else {
            self.stage = Stage::Visit(pending);
            return Ok(Output::Await);
        };
        pending.check_issuer(&answer)?;
        let code = Secret::from(code_of(&answer)?);
        let Pending { found, client, redirect, verifier, .. } = *pending;
        let form = code_form(&code, &verifier, redirect.as_str(), &found.target.resource);
        let secrets = vec![code, verifier.text().clone()];
        self.redeem(Redeeming::new(found, client, form, secrets), moment)
    }
}

impl Pending {
    /// Whether the answer has the state of this visit, once.
    fn is_answered_by(&self, answer: &Form) -> bool {
        let state = answer.value("state").ok().flatten();
        state.is_some_and(|state| Secret::from(state).is_equal(&self.state))
    }

    /// Refuses an answer of another issuer, compared to the letter. Its error is not shown, because
    /// the other issuer wrote it.
    fn check_issuer(&self, answer: &Form) -> Result<(), Error> {
        let metadata = self.found.server.metadata();
        let is_advertised = metadata.authorization_response_iss_parameter_supported == Some(true);
        match answer.value("iss").map_err(|_| refused("the answer has two issuers"))? {
            Some(issuer) if issuer == self.issuer => Ok(()),
            Some(_) => Err(refused("the answer came from another authorization server")),
            None if is_advertised => Err(refused("the answer does not name its issuer")),
            None => Ok(()),
        }
    }
}

/// The code of an answer.
fn code_of(answer: &Form) -> Result<&str, Error> {
    if let Some(error) = answer.value("error")? {
        let error = quotable(error, &[]).unwrap_or_default();
        let description = answer.value("error_description")?;
        let description = description.and_then(|text| quotable(text, &[]));
        let description = description.map(|text| format!(" ({text})")).unwrap_or_default();
        let text = format!("the authorization server refused the login: {error}{description}");
        return Err(Error::new(Kind::Login, text));
    }
    let code = answer.value("code")?.filter(|code| !code.is_empty());
    code.ok_or_else(|| refused("the answer has neither a code nor an error"))
}
