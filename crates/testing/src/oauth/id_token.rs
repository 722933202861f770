//! ID tokens (OpenID Connect), and identity assertions that another server takes as a grant.

use std::time::Duration;

use bowline_auth::jose::sign::EmbeddedKey;
use serde::Serialize;

use super::authority::Authority;
use super::authority_clock::seconds;
use super::grant_store::Grant;
use super::random::random_text;

/// The `typ` of an identity assertion.
pub(super) const ID_JAG_TYPE: &str = "oauth-id-jag+jwt";

/// How long an identity assertion is valid.
pub(super) const ID_JAG_LIFETIME: Duration = Duration::from_secs(300);

#[derive(Serialize)]
struct IdTokenClaims<'a> {
    iss: &'a str,
    sub: &'a str,
    aud: &'a str,
    iat: u64,
    exp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    nonce: Option<&'a str>,
}

/// The claims of an identity assertion.
#[derive(Serialize)]
struct IdJagClaims<'a> {
    iss: &'a str,
    sub: &'a str,
    aud: &'a str,
    client_id: &'a str,
    resource: &'a str,
    jti: String,
    iat: u64,
    exp: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
}

/// An ID token about the user of a grant, for its client.
pub(super) fn sign(authority: &Authority, grant: &Grant) -> String {
    let now = authority.clock.now();
    let claims = IdTokenClaims {
        iss: &authority.issuer,
        sub: &grant.subject,
        aud: &grant.client,
        iat: seconds(now),
        exp: seconds(now + authority.options.lifetime),
        nonce: grant.nonce.as_deref(),
    };
    signed(authority, "JWT", &claims)
}

/// An identity assertion about the user of a grant, for another authorization server.
pub(super) fn sign_id_jag(
    authority: &Authority,
    grant: &Grant,
    audience: &str,
    resource: &str,
) -> String {
    let now = authority.clock.now();
    let claims = IdJagClaims {
        iss: &authority.issuer,
        sub: &grant.subject,
        aud: audience,
        client_id: &grant.client,
        resource,
        jti: random_text(),
        iat: seconds(now),
        exp: seconds(now + ID_JAG_LIFETIME),
        scope: (!grant.scopes.is_empty()).then(|| grant.scopes.to_string()),
    };
    signed(authority, ID_JAG_TYPE, &claims)
}

/// Signs claims with the current key.
///
/// # Panics
///
/// If they cannot be written as JSON, or the system gives no randomness.
pub(super) fn signed(authority: &Authority, media_type: &str, claims: &impl Serialize) -> String {
    let token = authority.keys.current().sign(media_type, EmbeddedKey::Absent, claims);
    token.expect("the claims are JSON, and the system gives randomness").expose().clone()
}
