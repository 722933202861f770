//! A new access token for an old login, and the end of a login.

use http::StatusCode;

use super::discover::Endpoint;
use super::dpop::{DpopKey, Prover};
use super::identity::ClientIdentity;
use super::moment::Moment;
use super::plan::{Grant, Plan};
use super::record::{Record, Tokens};
use super::redeem::{Asked, OAuthRefusal};
use crate::error::{Error, Kind};
use crate::fetch::{FetchRequest, Fetched};
use crate::form::Form;
use crate::secret::Secret;

/// The refresh of one record.
pub(crate) struct Refresh<'a> {
    record: &'a Record,
    tokens: &'a Tokens,
    token: &'a Secret<String>,
    client: ClientIdentity,
    prover: Option<Prover>,
}

/// How a refresh ended.
#[derive(Debug)]
pub(crate) enum Renewal {
    Done(Box<Record>),
    /// The server wants the request again with a nonce, which the next request has.
    Repeat,
    /// The refresh token is worth nothing any more.
    Spent(Error),
    /// The server does not know the client that it registered any more.
    Unknown(Error),
}

impl<'a> Refresh<'a> {
    /// `None` if the record has no refresh token, or the client has no id at its server any more.
    pub(crate) fn new(plan: &Plan, record: &'a Record) -> Option<Self> {
        let tokens = record.tokens.as_ref()?;
        let token = tokens.refresh.as_ref()?;
        let client = identity(plan, record)?;
        let prover = tokens.key.clone().map(Prover::new);
        Some(Self { record, tokens, token, client, prover })
    }

    pub(crate) fn request(&self, moment: &Moment) -> Result<FetchRequest, Error> {
        let form = Form::new()
            .with("grant_type", "refresh_token")
            .with("refresh_token", self.token.expose())
            .with("resource", &self.record.resource);
        let endpoint = (&self.record.server, Endpoint::Token);
        self.client.call(endpoint, form, self.prover.as_ref(), moment)
    }

    /// Reads the answer.
    ///
    /// # Errors
    ///
    /// If the server failed for now; the refresh token may still be good.
    pub(crate) fn read(&mut self, answer: &Fetched, moment: &Moment) -> Result<Renewal, Error> {
        if answer.status != StatusCode::OK {
            return self.refused(answer);
        }
        let key: Option<&DpopKey> = self.prover.as_ref().map(|prover| &prover.key);
        let mut tokens = Asked { scopes: &self.tokens.scopes, key }.read(answer, moment)?;
        // A server that does not rotate refresh tokens gives none.
        tokens.refresh = tokens.refresh.or_else(|| Some(self.token.clone()));
        let record = Record { tokens: Some(tokens), ..self.record.clone() };
        Ok(Renewal::Done(Box::new(record)))
    }

    /// Whether the client registered itself at the server.
    fn is_registered(&self) -> bool {
        self.record.client.as_ref().is_some_and(|registered| registered.id == self.client.id)
    }

    fn refused(&mut self, answer: &Fetched) -> Result<Renewal, Error> {
        let secrets: Vec<_> =
            [Some(self.token), self.client.secret()].into_iter().flatten().collect();
        let refusal = OAuthRefusal::read(answer, &secrets);
        match (&mut self.prover, refusal.wanted_nonce()) {
            (Some(prover), Some(nonce)) if prover.nonce.as_deref() != Some(nonce) => {
                prover.nonce = Some(nonce.to_owned());
                return Ok(Renewal::Repeat);
            }
            _ => {}
        }
        let is_spent = refusal.is_invalid_grant();
        let is_unknown = refusal.is_invalid_client() && self.is_registered();
        let error = refusal.into_error("to renew the token");
        match (is_spent, is_unknown) {
            (true, _) => Ok(Renewal::Spent(error)),
            (false, true) => Ok(Renewal::Unknown(error)),
            (false, false) => Err(error),
        }
    }
}

/// The requests that end a login at its server (RFC 7009): the refresh token first, because the
/// access token is worth little without it.
pub(crate) fn revocations(
    plan: &Plan,
    record: &Record,
    moment: &Moment,
) -> Result<Vec<FetchRequest>, Error> {
    let Some(tokens) = &record.tokens else { return Ok(Vec::new()) };
    if record.server.metadata().revocation_endpoint.is_none() {
        return Ok(Vec::new());
    }
    let client = identity(plan, record)
        .ok_or_else(|| Error::new(Kind::Login, "the client has no id at the server any more"))?;
    let refresh = tokens.refresh.as_ref().map(|token| (token, "refresh_token"));
    let access = (&tokens.access, "access_token");
    let requests = refresh.into_iter().chain([access]).map(|(token, kind)| {
        let form = Form::new().with("token", token.expose()).with("token_type_hint", kind);
        client.call((&record.server, Endpoint::Revocation), form, None, moment)
    });
    requests.collect()
}

/// The client as the server of a record knows it.
fn identity(plan: &Plan, record: &Record) -> Option<ClientIdentity> {
    if let Some(client) = plan.grant.preregistered() {
        let issuer = client.issuer.0.as_deref();
        let is_known = issuer.is_none_or(|issuer| issuer == record.server.issuer());
        return is_known.then(|| client.identity());
    }
    let Grant::Code(code) = &plan.grant else { return None };
    let metadata = record.server.metadata();
    let supports_documents = metadata.client_id_metadata_document_supported == Some(true);
    match &code.document {
        Some(document) if supports_documents => Some(ClientIdentity::public(document)),
        _ => record.client.as_ref().map(super::record::Registered::identity),
    }
}
