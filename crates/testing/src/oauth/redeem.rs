//! What a client presents at the token endpoint, and what it is allowed for it.

use bowline_auth::scope::Scopes;

use super::assertion::Assertion;
use super::authority::Authority;
use super::grant_store::{Grant, RefreshToken};
use super::id_token::ID_JAG_TYPE;
use super::oauth_answer::Refusal;
use super::oauth_request::OAuthRequest;
use super::random::{random_text, s256};
use super::registered_client::RegisteredClient;

/// Redeems an authorization code, once. `key` is the thumbprint of the client's proof.
pub(super) fn code(
    authority: &Authority,
    request: &OAuthRequest,
    client: &RegisteredClient,
    key: Option<String>,
) -> Result<Grant, Refusal> {
    let code = request.required("code")?;
    let mut grants = authority.grants.lock();
    let known = grants.codes.get_mut(code).filter(|login| login.grant.client == client.id);
    let login = known.ok_or_else(|| Refusal::invalid_grant("the code is unknown"))?;
    let was_spent = std::mem::replace(&mut login.is_spent, true);
    let login = login.clone();
    if was_spent {
        grants.revoke_for_reuse(login.grant.family);
        return Err(Refusal::invalid_grant("the code was used before"));
    }
    drop(grants);
    if login.expires <= authority.clock.now() {
        return Err(Refusal::invalid_grant("the code has expired"));
    }
    if request.required("redirect_uri")? != login.redirect_uri {
        return Err(Refusal::invalid_grant("`redirect_uri` differs from that of the login"));
    }
    if s256(request.required("code_verifier")?) != login.challenge {
        return Err(Refusal::invalid_grant("the verifier does not fit the challenge"));
    }
    let mut grant = login.grant;
    grant.resource = same_resource(authority, request, &grant)?;
    grant.key = same_key(&grant, key)?;
    Ok(grant)
}

/// Redeems a refresh token, and gives the next one if the server rotates them.
pub(super) fn refresh(
    authority: &Authority,
    request: &OAuthRequest,
    client: &RegisteredClient,
    key: Option<String>,
) -> Result<(Grant, Option<String>), Refusal> {
    let token = request.required("refresh_token")?;
    let unknown = || Refusal::invalid_grant("the refresh token is unknown");
    let mut tables = authority.grants.lock();
    let record = tables.refresh.get(token).cloned().ok_or_else(unknown)?;
    if record.grant.client != client.id || tables.is_revoked(record.grant.family) {
        return Err(unknown());
    }
    if record.is_spent {
        tables.revoke_for_reuse(record.grant.family);
        return Err(Refusal::invalid_grant("the refresh token was used before"));
    }
    let mut grant = record.grant.clone();
    // Only tokens of public clients are bound to a key; others authenticate themselves.
    grant.key = if client.is_public() { same_key(&grant, key)? } else { key };
    grant.resource = same_resource(authority, request, &grant)?;
    let asked = Scopes::parse(request.value("scope")?.unwrap_or_default());
    let asked = asked.map_err(|_| Refusal::new("invalid_scope", "a scope is malformed"))?;
    if !asked.is_within(&grant.scopes) {
        return Err(Refusal::new("invalid_scope", "a refresh cannot add scopes"));
    }
    let next = authority.options.rotates.then(random_text);
    if let Some(next) = &next {
        let spent = tables.refresh.get_mut(token).ok_or_else(unknown)?;
        spent.is_spent = true;
        tables.refresh.insert(next.clone(), RefreshToken { grant: grant.clone(), is_spent: false });
    }
    if !asked.is_empty() {
        grant.scopes = asked;
    }
    Ok((grant, next))
}

/// What a client may do for itself.
pub(super) fn credentials(
    authority: &Authority,
    request: &OAuthRequest,
    client: &RegisteredClient,
    key: Option<String>,
) -> Result<Grant, Refusal> {
    if client.is_public() {
        return Err(Refusal::new("unauthorized_client", "the client must authenticate itself"));
    }
    Ok(Grant {
        client: client.id.clone(),
        subject: client.id.clone(),
        scopes: authority.granted(request.value("scope")?)?,
        resource: authority.resource(request.value("resource")?)?,
        nonce: None,
        key,
        family: authority.grants.lock().new_family(),
    })
}

/// Redeems an assertion of a trusted issuer (RFC 7523): a workload's, or an identity provider's.
pub(super) fn assertion(
    authority: &Authority,
    request: &OAuthRequest,
    client: &RegisteredClient,
    key: Option<String>,
) -> Result<Grant, Refusal> {
    let text = request.required("assertion")?;
    let issuer = Assertion::unverified_issuer(text);
    let trusted = authority.options.trusted.iter().find(|it| Some(&it.issuer) == issuer.as_ref());
    let trusted = trusted.ok_or_else(|| Refusal::invalid_grant("the issuer is not trusted"))?;
    let now = authority.clock.now();
    let assertion = Assertion::verify(text, &trusted.keys(), &authority.issuer, now)
        .map_err(Refusal::invalid_grant)?;
    let claims = assertion.claims;
    let is_id_jag = assertion.media_type.as_deref() == Some(ID_JAG_TYPE);
    if is_id_jag && (claims.jti.is_none() || claims.client_id.as_ref() != Some(&client.id)) {
        return Err(Refusal::invalid_grant("the assertion is for another client"));
    }
    let mut grants = authority.grants.lock();
    if claims.jti.is_some_and(|id| !grants.use_once(&claims.iss, &id)) {
        return Err(Refusal::invalid_grant("the assertion was used before"));
    }
    let family = grants.new_family();
    drop(grants);
    let asked = request.value("scope")?;
    let resource = request.value("resource")?;
    Ok(Grant {
        client: client.id.clone(),
        subject: claims.sub,
        scopes: authority.granted(claims.scope.as_deref().or(asked))?,
        resource: authority.resource(claims.resource.as_deref().or(resource))?,
        nonce: None,
        key,
        family,
    })
}

/// The resource of a grant, which a request may repeat but not change.
fn same_resource(
    authority: &Authority,
    request: &OAuthRequest,
    grant: &Grant,
) -> Result<Option<String>, Refusal> {
    let asked = authority.resource(request.value("resource")?)?;
    match asked == grant.resource {
        true => Ok(asked),
        false => Err(Refusal::new("invalid_target", "`resource` differs from that of the grant")),
    }
}

/// The key of a grant, which a request may choose but not change.
fn same_key(grant: &Grant, proof: Option<String>) -> Result<Option<String>, Refusal> {
    match &grant.key {
        Some(key) if proof.as_ref() != Some(key) => {
            Err(Refusal::new("invalid_dpop_proof", "the grant is bound to another key"))
        }
        _ => Ok(proof),
    }
}
