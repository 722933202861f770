//! Token exchange (RFC 8693): an ID token becomes an assertion for another authorization server.

use bowline_auth::scope::Scopes;

use super::assertion::Assertion;
use super::authority::Authority;
use super::grant_store::Grant;
use super::id_token::{ID_JAG_LIFETIME, sign_id_jag};
use super::oauth_answer::Refusal;
use super::oauth_request::OAuthRequest;
use super::registered_client::RegisteredClient;
use super::token_answer::TokenAnswer;

const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";

/// Exchanges the ID token of a client.
pub(super) fn answer(
    authority: &Authority,
    request: &OAuthRequest,
    client: &RegisteredClient,
) -> Result<TokenAnswer, Refusal> {
    if request.required("requested_token_type")? != ID_JAG {
        return Err(Refusal::invalid_request("`requested_token_type` is not supported"));
    }
    if request.required("subject_token_type")? != ID_TOKEN {
        return Err(Refusal::invalid_request("`subject_token_type` is not supported"));
    }
    let (audience, resource) = (request.required("audience")?, request.required("resource")?);
    let subject = request.required("subject_token")?;
    let now = authority.clock.now();
    // The ID token must have been issued to the very client that presents it.
    let subject = Assertion::verify(subject, &authority.keys.set(), &client.id, now);
    let subject = subject.map_err(Refusal::invalid_request)?.claims;
    if subject.iss != authority.issuer {
        return Err(Refusal::invalid_request("the ID token is of another issuer"));
    }
    let scopes = Scopes::parse(request.value("scope")?.unwrap_or_default());
    let scopes = scopes.map_err(|_| Refusal::new("invalid_scope", "a scope is malformed"))?;
    let grant = Grant {
        client: client.id.clone(),
        subject: subject.sub,
        scopes,
        resource: None,
        nonce: None,
        key: None,
        family: authority.grants.lock().new_family(),
    };
    Ok(TokenAnswer {
        access_token: sign_id_jag(authority, &grant, audience, resource),
        issued_token_type: Some(ID_JAG),
        token_type: Some("N_A"),
        expires_in: Some(ID_JAG_LIFETIME.as_secs()),
        scope: (!grant.scopes.is_empty()).then(|| grant.scopes.to_string()),
        ..TokenAnswer::default()
    })
}
