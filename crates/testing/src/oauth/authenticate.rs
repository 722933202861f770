//! Which client sent a request to the token, introspection or revocation endpoint.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bowline_auth::form::Form;
use bowline_auth::secret::Secret;
use http::HeaderMap;
use http::header::AUTHORIZATION;

use super::assertion::Assertion;
use super::authority::Authority;
use super::known_client;
use super::oauth_answer::Refusal;
use super::oauth_request::OAuthRequest;
use super::registered_client::{ClientAuthMethod, RegisteredClient};

/// The value of `client_assertion_type` for a signed token.
const JWT_BEARER: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// What a client sent about itself.
struct Credentials {
    id: String,
    method: ClientAuthMethod,
    secret: Secret<String>,
}

/// Authenticates the client of a request.
pub(super) async fn authenticate(
    authority: &Authority,
    request: &OAuthRequest,
) -> Result<RegisteredClient, Refusal> {
    let credentials = credentials(request)?;
    let client = known_client::find(authority, &credentials.id).await?;
    let method = credentials.method;
    if !client.methods.contains(&method) || !authority.options.methods.contains(&method) {
        return Err(Refusal::invalid_client("the client must authenticate itself in another way"));
    }
    match method {
        ClientAuthMethod::None => {}
        ClientAuthMethod::SecretBasic | ClientAuthMethod::SecretPost => {
            let is_right =
                client.secret.as_ref().is_some_and(|own| own.is_equal(&credentials.secret));
            if !is_right {
                return Err(Refusal::invalid_client("the secret is wrong"));
            }
        }
        ClientAuthMethod::PrivateKeyJwt => {
            check_assertion(authority, &client, credentials.secret.expose())?;
        }
    }
    Ok(client)
}

/// The credentials of a request, which must come in one way only.
fn credentials(request: &OAuthRequest) -> Result<Credentials, Refusal> {
    let basic = basic(&request.headers)?;
    let secret = request.value("client_secret")?;
    let assertion = request.value("client_assertion")?;
    let id = request.value("client_id")?;
    let ways = usize::from(basic.is_some())
        + usize::from(secret.is_some())
        + usize::from(assertion.is_some());
    if ways > 1 {
        return Err(Refusal::invalid_request("the client authenticates itself in two ways"));
    }
    let credentials = match (basic, secret, assertion) {
        (Some(basic), ..) => basic,
        (_, Some(secret), _) => Credentials {
            id: request.required("client_id")?.to_owned(),
            method: ClientAuthMethod::SecretPost,
            secret: secret.into(),
        },
        (.., Some(assertion)) => from_assertion(request, assertion)?,
        _ => {
            let id = id.ok_or_else(|| Refusal::invalid_client("the request names no client"))?;
            let secret = Secret::from("");
            Credentials { id: id.to_owned(), method: ClientAuthMethod::None, secret }
        }
    };
    match id.is_none_or(|id| id == credentials.id) {
        true => Ok(credentials),
        false => Err(Refusal::invalid_request("the request names two clients")),
    }
}

fn from_assertion(request: &OAuthRequest, assertion: &str) -> Result<Credentials, Refusal> {
    if request.required("client_assertion_type")? != JWT_BEARER {
        return Err(Refusal::invalid_request("the type of the assertion is unknown"));
    }
    let id = Assertion::unverified_issuer(assertion)
        .ok_or_else(|| Refusal::invalid_client("the assertion is malformed"))?;
    Ok(Credentials { id, method: ClientAuthMethod::PrivateKeyJwt, secret: assertion.into() })
}

/// The credentials of HTTP basic authentication: both parts are encoded like a form.
fn basic(headers: &HeaderMap) -> Result<Option<Credentials>, Refusal> {
    let Some(value) = headers.get(AUTHORIZATION) else { return Ok(None) };
    let malformed = || Refusal::invalid_client("the `Authorization` header is malformed");
    let (scheme, text) =
        value.to_str().ok().and_then(|it| it.split_once(' ')).ok_or_else(malformed)?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(malformed());
    }
    let decoded = STANDARD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let decoded = Secret::new(decoded.ok_or_else(malformed)?);
    let (id, secret) = decoded.expose().split_once(':').ok_or_else(malformed)?;
    let (id, secret) = (decode(id).ok_or_else(malformed)?, decode(secret).ok_or_else(malformed)?);
    let method = ClientAuthMethod::SecretBasic;
    Ok(Some(Credentials { id, method, secret: secret.into() }))
}

fn decode(text: &str) -> Option<String> {
    let form = Form::parse(&format!("x={text}")).ok()?;
    form.value("x").ok().flatten().map(str::to_owned)
}

fn check_assertion(
    authority: &Authority,
    client: &RegisteredClient,
    assertion: &str,
) -> Result<(), Refusal> {
    let now = authority.clock.now();
    let assertion = Assertion::verify(assertion, &client.keys, &authority.issuer, now)
        .map_err(Refusal::invalid_client)?;
    let claims = assertion.claims;
    if claims.iss != client.id || claims.sub != client.id {
        return Err(Refusal::invalid_client("`iss` and `sub` must be the client"));
    }
    let id = claims.jti.ok_or_else(|| Refusal::invalid_client("the assertion lacks `jti`"))?;
    match authority.grants.lock().use_once(&client.id, &id) {
        true => Ok(()),
        false => Err(Refusal::invalid_client("the assertion was used before")),
    }
}
