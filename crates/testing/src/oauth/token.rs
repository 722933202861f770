//! The token endpoint: a client, a grant and a proof become tokens.

use std::sync::Arc;

use bowline_auth::scope::Scopes;
use http::StatusCode;
use http::header::HeaderValue;

use super::access_token::AccessTokenBuilder;
use super::authenticate::authenticate;
use super::authority::Authority;
use super::exchange;
use super::fault::Fault;
use super::grant_store::{Grant, RefreshToken};
use super::grant_type::GrantType;
use super::id_token;
use super::key_ring::new_key;
use super::oauth_answer::{DPOP_NONCE, OAuthAnswer, Refusal};
use super::oauth_request::OAuthRequest;
use super::options::{AccessTokenFormat, OFFLINE_ACCESS};
use super::proof;
use super::random::random_text;
use super::redeem;
use super::registered_client::RegisteredClient;
use super::token_answer::TokenAnswer;

/// Answers a request for tokens.
pub(super) async fn answer(
    authority: &Arc<Authority>,
    request: &OAuthRequest,
) -> Result<OAuthAnswer, Refusal> {
    let client = authenticate(authority, request).await?;
    let key = proof::check(authority, request, &authority.endpoint("token"))?;
    let grant_type = GrantType::from_name(request.required("grant_type")?)
        .ok_or_else(|| Refusal::new("unsupported_grant_type", "the grant is unknown"))?;
    if !client.may_use(grant_type.name()) {
        return Err(Refusal::new("unauthorized_client", "the client must not use the grant"));
    }
    if authority.acts(&Fault::InvalidGrant) {
        return Err(Refusal::invalid_grant("a fault"));
    }
    let answer = match grant_type {
        GrantType::Code => {
            let grant = redeem::code(authority, request, &client, key)?;
            issue_to_user(authority, &client, grant)
        }
        GrantType::Refresh => {
            let (grant, refresh) = redeem::refresh(authority, request, &client, key)?;
            TokenAnswer { refresh_token: refresh, ..issue(authority, grant) }
        }
        GrantType::ClientCredentials => {
            issue(authority, redeem::credentials(authority, request, &client, key)?)
        }
        GrantType::JwtBearer => {
            issue(authority, redeem::assertion(authority, request, &client, key)?)
        }
        GrantType::TokenExchange => exchange::answer(authority, request, &client)?,
    };
    Ok(with_nonce(
        authority,
        OAuthAnswer::json(StatusCode::OK, &spoil(authority, answer)).no_store(),
    ))
}

/// Tokens for a login: a refresh token if the client may have one, an ID token if it asked.
fn issue_to_user(
    authority: &Arc<Authority>,
    client: &RegisteredClient,
    grant: Grant,
) -> TokenAnswer {
    let options = &authority.options;
    let is_asked = !options.has_offline_access || grant.scopes.contains(OFFLINE_ACCESS);
    let is_refreshed = options.has_refresh_tokens
        && is_asked
        && client.may_use(GrantType::Refresh.name())
        && !authority.acts(&Fault::NoRefreshToken);
    let refresh_token = is_refreshed.then(|| {
        let token = random_text();
        let record = RefreshToken { grant: grant.clone(), is_spent: false };
        authority.grants.lock().refresh.insert(token.clone(), record);
        token
    });
    let id_token = grant.scopes.contains("openid").then(|| id_token::sign(authority, &grant));
    TokenAnswer { refresh_token, id_token, ..issue(authority, grant) }
}

/// An access token.
fn issue(authority: &Arc<Authority>, mut grant: Grant) -> TokenAnswer {
    if authority.acts(&Fault::WrongResource) {
        grant.resource = Some("https://another.example/mcp".to_owned());
    }
    if authority.acts(&Fault::FewerScopes) {
        let first = grant.scopes.iter().next().map(str::to_owned);
        grant.scopes = Scopes::of(first).expect("a scope of a set is a scope");
    }
    let token_type = if grant.key.is_some() { "DPoP" } else { "Bearer" };
    let scope = grant.scopes.to_string();
    let mut token = AccessTokenBuilder::new(authority.clone(), grant);
    if authority.acts(&Fault::ExpiredTokens) {
        token = token.expired();
    }
    if authority.acts(&Fault::UnpublishedKey) {
        token = token.signed_by(new_key()).format(AccessTokenFormat::Jwt);
    }
    TokenAnswer {
        access_token: token.build(),
        token_type: Some(token_type),
        expires_in: Some(authority.options.lifetime.as_secs()),
        scope: (!scope.is_empty()).then_some(scope),
        ..TokenAnswer::default()
    }
}

/// Lets the faults of the answer act.
fn spoil(authority: &Authority, mut answer: TokenAnswer) -> TokenAnswer {
    if authority.acts(&Fault::WrongTokenType) {
        answer.token_type = Some(match answer.token_type {
            Some("Bearer") => "DPoP",
            _ => "Bearer",
        });
    }
    if authority.acts(&Fault::MissingTokenType) {
        answer.token_type = None;
    }
    if authority.acts(&Fault::MissingExpiresIn) {
        answer.expires_in = None;
    }
    answer
}

/// Names the nonce of the next proof, if proofs need one.
fn with_nonce(authority: &Authority, answer: OAuthAnswer) -> OAuthAnswer {
    if !authority.options.wants_nonces {
        return answer;
    }
    let nonce = authority.grants.lock().nonce().to_owned();
    answer.with(DPOP_NONCE, HeaderValue::try_from(nonce).expect("a nonce is ASCII"))
}
