//! Introspection (RFC 7662) and revocation (RFC 7009): what a token means, and its end.

use http::StatusCode;
use serde::Serialize;

use super::access_token::Thumbprint;
use super::authenticate::authenticate;
use super::authority::Authority;
use super::authority_clock::seconds;
use super::oauth_answer::{OAuthAnswer, Refusal};
use super::oauth_request::OAuthRequest;

#[derive(Default, Serialize)]
struct TokenState<'a> {
    active: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    iss: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sub: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aud: Option<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    token_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    iat: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnf: Option<Thumbprint<'a>>,
}

/// Tells a resource server about an access token. Public clients learn nothing.
pub(super) async fn answer(
    authority: &Authority,
    request: &OAuthRequest,
) -> Result<OAuthAnswer, Refusal> {
    let client = authenticate(authority, request).await?;
    if client.is_public() {
        return Err(Refusal::invalid_client("the resource server must authenticate itself"));
    }
    let token = request.required("token")?;
    let grants = authority.grants.lock();
    let state = match grants.active(token, authority.clock.now()) {
        None => TokenState::default(),
        Some(record) => TokenState {
            active: true,
            iss: Some(&authority.issuer),
            sub: Some(&record.grant.subject),
            aud: Some(&record.audience),
            client_id: Some(&record.grant.client),
            scope: Some(record.grant.scopes.to_string()),
            token_type: Some(if record.grant.key.is_some() { "DPoP" } else { "Bearer" }),
            iat: Some(seconds(record.issued)),
            exp: Some(seconds(record.expires)),
            cnf: record.grant.key.as_deref().map(|jkt| Thumbprint { jkt }),
        },
    };
    Ok(OAuthAnswer::json(StatusCode::OK, &state).no_store())
}

/// Revokes a token of a client: a refresh token with its whole family, an access token alone. A token
/// that is unknown, or of another client, is left alone without an error.
pub(super) async fn revoke(
    authority: &Authority,
    request: &OAuthRequest,
) -> Result<OAuthAnswer, Refusal> {
    let client = authenticate(authority, request).await?;
    let token = request.required("token")?;
    let mut tables = authority.grants.lock();
    let refresh = tables.refresh.get(token).filter(|it| it.grant.client == client.id);
    if let Some(family) = refresh.map(|it| it.grant.family) {
        tables.revoke(family);
    }
    if let Some(access) = tables.access.get_mut(token).filter(|it| it.grant.client == client.id) {
        access.is_revoked = true;
    }
    Ok(OAuthAnswer::empty(StatusCode::OK))
}
