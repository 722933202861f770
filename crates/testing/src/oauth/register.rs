//! Dynamic registration (RFC 7591), with the rules of OpenID Connect for redirects.

use bowline_auth::jose::jwk::JwkSet;
use bowline_auth::secret::Secret;
use bowline_auth::url::Url;
use bowline_types::json::RawJson;
use http::StatusCode;
use serde::{Deserialize, Serialize};

use super::authority::Authority;
use super::authority_clock::seconds;
use super::fault::Fault;
use super::grant_type::GrantType;
use super::oauth_answer::{OAuthAnswer, Refusal};
use super::oauth_request::OAuthRequest;
use super::random::random_text;
use super::registered_client::{ClientAuthMethod, RegisteredClient};

/// The metadata that a client sends, and gets back.
#[derive(Deserialize, Serialize)]
struct ClientMetadata {
    #[serde(default)]
    redirect_uris: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    application_type: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jwks: Option<RawJson>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
    token_endpoint_auth_method: Option<String>,
}

#[derive(Serialize)]
struct RegistrationAnswer<'a> {
    client_id: &'a str,
    client_id_issued_at: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    client_secret_expires_at: Option<u64>,
    #[serde(flatten)]
    metadata: ClientMetadata,
}

/// Registers a client.
pub(super) fn answer(
    authority: &Authority,
    request: &OAuthRequest,
) -> Result<OAuthAnswer, Refusal> {
    if !authority.options.has_registration {
        return Ok(OAuthAnswer::empty(StatusCode::NOT_FOUND));
    }
    if authority.acts(&Fault::RegistrationRefused) {
        return Err(invalid("the server refuses every client"));
    }
    let json = request.json.as_ref().ok_or_else(|| invalid("the body is not JSON"))?;
    let mut metadata: ClientMetadata =
        json.parse().map_err(|_| invalid("a member has a wrong type"))?;
    check_redirects(authority, &metadata)?;
    let client = client(authority, &mut metadata)?;
    let answer = RegistrationAnswer {
        client_id: &client.id,
        client_id_issued_at: seconds(authority.clock.now()),
        client_secret: client.secret.as_ref().map(|secret| secret.expose().as_str()),
        client_secret_expires_at: client.secret.as_ref().map(|_| 0),
        metadata,
    };
    let answer = OAuthAnswer::json(StatusCode::CREATED, &answer).no_store();
    authority.add_client(client);
    Ok(answer)
}

/// The new client. Writes the defaults into its metadata.
fn client(
    authority: &Authority,
    metadata: &mut ClientMetadata,
) -> Result<RegisteredClient, Refusal> {
    let name = metadata.token_endpoint_auth_method.get_or_insert("client_secret_basic".to_owned());
    let method = ClientAuthMethod::from_name(name)
        .filter(|method| authority.options.methods.contains(method))
        .ok_or_else(|| invalid("the server does not support the authentication method"))?;
    let grants =
        metadata.grant_types.get_or_insert_with(|| vec![GrantType::Code.name().to_owned()]);
    if !grants.iter().all(|grant| GrantType::from_name(grant).is_some()) {
        return Err(invalid("the server does not support the grant"));
    }
    let responses = metadata.response_types.get_or_insert_with(|| vec!["code".to_owned()]);
    if responses.iter().any(|response| response != "code") {
        return Err(invalid("the server does not support the response type"));
    }
    let keys = metadata.jwks.as_ref().map(|jwks| JwkSet::parse(jwks.as_str())).transpose();
    let keys = keys.map_err(|_| invalid("the keys are malformed"))?;
    if method == ClientAuthMethod::PrivateKeyJwt && keys.as_ref().is_none_or(JwkSet::is_empty) {
        return Err(invalid("a client that signs needs keys"));
    }
    let has_secret = matches!(method, ClientAuthMethod::SecretBasic | ClientAuthMethod::SecretPost);
    let mut client = RegisteredClient::public(random_text()).grants(grants.clone());
    client.name = metadata.client_name.clone().unwrap_or_default();
    client.secret = has_secret.then(|| Secret::new(random_text()));
    client.keys = keys.unwrap_or_default();
    client.methods = vec![method];
    client.redirect_uris.clone_from(&metadata.redirect_uris);
    Ok(client)
}

/// A web application returns to `https` elsewhere, a native one to this machine, `https`, or a
/// scheme of its own.
fn check_redirects(authority: &Authority, metadata: &ClientMetadata) -> Result<(), Refusal> {
    let refused = |text| Refusal::new("invalid_redirect_uri", text);
    let uses_codes = metadata
        .grant_types
        .as_ref()
        .is_none_or(|grants| grants.iter().any(|grant| grant == GrantType::Code.name()));
    if uses_codes && metadata.redirect_uris.is_empty() {
        return Err(refused("a client that uses codes needs a redirect"));
    }
    let is_any_type_fine =
        metadata.application_type.is_none() && !authority.options.is_application_type_required;
    let is_native = match metadata.application_type.as_deref() {
        Some("native") => true,
        None | Some("web") => is_any_type_fine,
        Some(_) => return Err(invalid("`application_type` is neither `web` nor `native`")),
    };
    let refuses_addresses = authority.acts(&Fault::LoopbackAddressRefused);
    for uri in &metadata.redirect_uris {
        match Url::parse(uri) {
            Ok(url) if refuses_addresses && url.is_loopback() && url.ip().is_some() => {
                return Err(refused("use `localhost` in place of an address"));
            }
            Ok(url) if is_native && url.is_confidential() => {}
            Ok(url) if url.is_https() && !url.is_loopback() => {}
            Ok(_) => return Err(refused("the redirect does not fit `application_type`")),
            Err(_) if is_native && has_own_scheme(uri) => {}
            Err(_) => return Err(refused("the redirect is no URL")),
        }
    }
    Ok(())
}

/// Whether a URI has a scheme that names a domain, such as `com.example.app:/callback`.
fn has_own_scheme(uri: &str) -> bool {
    let (scheme, rest) = uri.split_once(':').unwrap_or_default();
    let is_letter = |c: u8| c.is_ascii_alphanumeric() || b"+-.".contains(&c);
    scheme.contains('.')
        && scheme.bytes().all(is_letter)
        && rest.starts_with('/')
        && rest.bytes().all(|c| c.is_ascii_graphic())
}

fn invalid(description: &'static str) -> Refusal {
    Refusal::new("invalid_client_metadata", description)
}
