//! The part of a login that depends on the grant: a user's code, or what a program has itself.

use super::{Flow, Found, Output, Redeeming, Stage, refused, with_scopes};
use crate::client::discover::{AuthServer, Endpoint, ServerSearch, Step};
use crate::client::enterprise::{self, Audience};
use crate::client::machine;
use crate::client::moment::Moment;
use crate::client::plan::{CodeGrant, EnterpriseGrant, Grant};
use crate::client::register;
use crate::error::{Error, Kind};
use crate::fetch::Fetched;
use crate::secret::Secret;

impl Flow {
    /// The authorization server is known; what follows depends on the grant.
    pub(super) fn grant(&mut self, found: Box<Found>, moment: &Moment) -> Result<Output, Error> {
        let plan = self.plan.clone();
        match &plan.grant {
            Grant::Code(code) => {
                check_user_login(code, &found.server)?;
                let port = code.port.or_else(|| register::earlier_port(found.known.as_deref()));
                self.stage = Stage::Listen(found);
                Ok(Output::Listen(port))
            }
            Grant::Credentials(client) => {
                let form = machine::credentials_form(&found.target.resource);
                let form = with_scopes(form, &found.scopes);
                self.redeem(Redeeming::new(found, client.identity(), form, Vec::new()), moment)
            }
            Grant::Workload(client, _) => {
                let assertion = self.assertion()?;
                let form = machine::assertion_form(&assertion, &found.target.resource);
                let form = with_scopes(form, &found.scopes);
                self.redeem(Redeeming::new(found, client.identity(), form, vec![assertion]), moment)
            }
            Grant::Enterprise(enterprise) => self.enterprise(found, enterprise, moment),
        }
    }

    fn assertion(&self) -> Result<Secret<String>, Error> {
        self.goal.assertion.clone().ok_or_else(|| refused("the login needs an assertion"))
    }

    fn enterprise(
        &mut self,
        found: Box<Found>,
        enterprise: &EnterpriseGrant,
        moment: &Moment,
    ) -> Result<Output, Error> {
        let issuer = &enterprise.provider.issuer;
        let mut search = ServerSearch::new(vec![issuer.clone()]);
        let step = match &enterprise.provider.token_endpoint {
            Some(url) => Step::Found(AuthServer::configured(issuer, url.clone())),
            None => search.begin()?,
        };
        self.provider(search, found, step, moment)
    }

    /// The metadata of the identity provider were looked for.
    pub(super) fn provider(
        &mut self,
        search: ServerSearch,
        found: Box<Found>,
        step: Step<AuthServer>,
        moment: &Moment,
    ) -> Result<Output, Error> {
        let provider = match step {
            Step::Fetch(request) => {
                self.stage = Stage::Provider(search, found);
                return Ok(Output::Fetch(*request));
            }
            Step::Found(provider) => provider,
            Step::Absent => return Err(refused("the identity provider does not describe itself")),
        };
        let plan = self.plan.clone();
        let Grant::Enterprise(enterprise) = &plan.grant else {
            return Err(refused("there is no identity provider"));
        };
        let (issuer, resource) = (found.server.issuer(), &found.target.resource);
        let audience = Audience { issuer, resource, scopes: &found.scopes };
        let form = enterprise::exchange_form(&self.assertion()?, &audience);
        let client = enterprise::identity(&enterprise.provider);
        let request = client.call((&provider, Endpoint::Token), form, None, moment)?;
        self.stage = Stage::Exchange(found);
        Ok(Output::Fetch(request))
    }

    /// The identity provider answered.
    pub(super) fn exchanged(
        &mut self,
        found: Box<Found>,
        answer: &Fetched,
        moment: &Moment,
    ) -> Result<Output, Error> {
        let id_token = self.assertion()?;
        let plan = self.plan.clone();
        let Grant::Enterprise(enterprise) = &plan.grant else {
            return Err(refused("there is no identity provider"));
        };
        let client = enterprise::identity(&enterprise.provider);
        let secrets: Vec<_> = [Some(&id_token), client.secret()].into_iter().flatten().collect();
        let grant = enterprise::read_grant(answer, &secrets)?;
        let form = machine::assertion_form(&grant, &found.target.resource);
        let client = enterprise.client.identity();
        self.redeem(Redeeming::new(found, client, form, vec![grant, id_token]), moment)
    }
}

/// Refuses a server that cannot log a user in safely.
fn check_user_login(code: &CodeGrant, server: &AuthServer) -> Result<(), Error> {
    server.endpoint(Endpoint::Authorization)?;
    server.endpoint(Endpoint::Token)?;
    let is_known = code.s256_known.iter().any(|issuer| issuer == server.issuer());
    if server.metadata().supports_s256() || server.is_assumed() || is_known {
        return Ok(());
    }
    let text = format!(
        "the metadata of {issuer} do not list PKCE with S256; if it is supported, say so with \
         `.s256_known({issuer:?})`",
        issuer = server.issuer()
    );
    Err(Error::new(Kind::Login, text))
}
