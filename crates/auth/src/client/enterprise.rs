//! Enterprise-managed authorization: an ID token is exchanged for a grant (ID-JAG) at the identity
//! provider, and that grant for a token at the authorization server of the MCP server.

use bowline_types::read::read;
use http::StatusCode;
use serde::Deserialize;

use super::identity::ClientIdentity;
use super::plan::IdentityProvider;
use super::redeem::OAuthRefusal;
use crate::error::{Error, Kind};
use crate::fetch::Fetched;
use crate::form::Form;
use crate::jose::jws::MOST_TOKEN;
use crate::scope::Scopes;
use crate::secret::Secret;

const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";

/// What the grant is asked for.
pub(crate) struct Audience<'a> {
    /// The issuer of the authorization server of the MCP server.
    pub(crate) issuer: &'a str,
    pub(crate) resource: &'a str,
    pub(crate) scopes: &'a Scopes,
}

/// The members of the request to the identity provider (RFC 8693).
pub(crate) fn exchange_form(id_token: &Secret<String>, audience: &Audience<'_>) -> Form {
    let form = Form::new()
        .with("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange")
        .with("requested_token_type", ID_JAG)
        .with("audience", audience.issuer)
        .with("resource", audience.resource)
        .with("subject_token", id_token.expose())
        .with("subject_token_type", "urn:ietf:params:oauth:token-type:id_token");
    match audience.scopes.is_empty() {
        true => form,
        false => form.with("scope", &audience.scopes.to_string()),
    }
}

/// The client at the identity provider.
pub(crate) fn identity(provider: &IdentityProvider) -> ClientIdentity {
    let (id, credential) = (provider.id.clone(), provider.credential.clone());
    ClientIdentity { id, credential, method: None }
}

/// Reads the grant that the identity provider gives.
///
/// # Errors
///
/// If the provider refuses, or gives something else.
pub(crate) fn read_grant(
    answer: &Fetched,
    secrets: &[&Secret<String>],
) -> Result<Secret<String>, Error> {
    #[derive(Deserialize)]
    struct Answer {
        access_token: Secret<String>,
        issued_token_type: String,
        token_type: Option<String>,
    }

    if answer.status != StatusCode::OK {
        let refusal = OAuthRefusal::read(answer, secrets);
        let text = format!("the identity provider refused the exchange of the ID token: {refusal}");
        return Err(Error::new(Kind::Login, text));
    }
    let unusable = |reason: &str| {
        let text = format!("the answer of the identity provider cannot be used: {reason}");
        Error::new(Kind::Login, text)
    };
    let body: Answer = read(answer.json()?).map_err(|error| unusable(&error.to_string()))?;
    let is_grant = body.token_type.is_none_or(|kind| kind.eq_ignore_ascii_case("N_A"));
    if body.issued_token_type != ID_JAG || !is_grant {
        return Err(unusable("it is not an identity assertion grant"));
    }
    match body.access_token.expose().len() <= MOST_TOKEN {
        true => Ok(body.access_token),
        false => Err(Error::too_large("the grant", MOST_TOKEN, "bytes")),
    }
}
