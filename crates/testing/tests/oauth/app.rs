//! A small OAuth client: HTTP by hand, and a login with the parameters of RFC 7636.

use bowline_auth::form::Form;
use bowline_testing::oauth::{AuthorizationServer, OAuthEndpoint, RegisteredClient, UserAgent};
use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

pub(crate) const RESOURCE: &str = "https://mcp.example/mcp";
pub(crate) const BACK: &str = "http://127.0.0.1:4000/callback";
pub(crate) const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub(crate) const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// An answer of a server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
    /// Null if the body is not JSON.
    pub(crate) json: Value,
}

impl Answer {
    /// A member that is text.
    pub(crate) fn text_of(&self, member: &str) -> &str {
        self.json[member].as_str().unwrap_or_else(|| panic!("no `{member}` in {self:?}"))
    }

    /// Status and OAuth error.
    pub(crate) fn error(&self) -> (u16, &str) {
        (self.status, self.json["error"].as_str().unwrap_or_default())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Sends a request to a URL on this machine.
pub(crate) async fn send(request: http::request::Builder, body: String) -> Answer {
    let mut request: Request<Full<Bytes>> = request.body(Full::from(body)).unwrap();
    let authority = request.uri().authority().unwrap().to_string();
    request.headers_mut().insert("host", authority.parse().unwrap());
    *request.uri_mut() = request.uri().path_and_query().unwrap().clone().into();
    let stream = TokioIo::new(TcpStream::connect(authority).await.unwrap());
    let (mut sender, connection) = http1::handshake(stream).await.unwrap();
    tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await.unwrap().into_parts();
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    let json = serde_json::from_str(&text).unwrap_or_default();
    Answer { status: head.status.as_u16(), headers: head.headers, text, json }
}

pub(crate) async fn get(url: &str) -> Answer {
    send(Request::get(url), String::new()).await
}

pub(crate) fn form(members: &[(&str, &str)]) -> String {
    let form = members.iter().fold(Form::new(), |form, (name, value)| form.with(name, value));
    form.encode().expose().clone()
}

/// Sends a form, with further headers.
pub(crate) async fn post(url: &str, members: &[(&str, &str)], headers: &[(&str, &str)]) -> Answer {
    let request = Request::post(url).header("content-type", "application/x-www-form-urlencoded");
    let request =
        headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    send(request, form(members)).await
}

/// Sends a registration.
pub(crate) async fn register(authority: &AuthorizationServer, metadata: &Value) -> Answer {
    let request = Request::post(authority.url(OAuthEndpoint::Register));
    send(request.header("content-type", "application/json"), metadata.to_string()).await
}

/// The public client `app`, which is registered in advance.
pub(crate) fn app() -> RegisteredClient {
    RegisteredClient::public("app").redirect_uri(BACK)
}

/// Members in which those of `changes` replace or join others. An empty value removes a member.
pub(crate) fn changed<'a>(
    members: &[(&'a str, &'a str)],
    changes: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let is_kept = |(name, _): &&(&str, &str)| !changes.iter().any(|(changed, _)| changed == name);
    let kept = members.iter().filter(is_kept);
    kept.chain(changes.iter().filter(|(_, value)| !value.is_empty())).copied().collect()
}

/// The URL at which the login of `app` begins.
pub(crate) fn page(authority: &AuthorizationServer, changes: &[(&str, &str)]) -> String {
    let members = [
        ("client_id", "app"),
        ("redirect_uri", BACK),
        ("response_type", "code"),
        ("code_challenge", CHALLENGE),
        ("code_challenge_method", "S256"),
        ("resource", RESOURCE),
        ("state", "xyz"),
    ];
    format!("{}?{}", authority.url(OAuthEndpoint::Authorize), form(&changed(&members, changes)))
}

/// Lets the user approve, and gives the parameters with which the browser goes back.
pub(crate) async fn approve(authority: &AuthorizationServer, changes: &[(&str, &str)]) -> Form {
    let back = UserAgent::Approves.decide(&page(authority, changes)).await.unwrap();
    let (address, query) = back.split_once('?').unwrap();
    assert_eq!(address, BACK);
    Form::parse(query).unwrap()
}

/// The members with which `app` redeems a code.
pub(crate) fn redemption(code: &str) -> [(&str, &str); 6] {
    [
        ("grant_type", "authorization_code"),
        ("client_id", "app"),
        ("redirect_uri", BACK),
        ("code_verifier", VERIFIER),
        ("resource", RESOURCE),
        ("code", code),
    ]
}

/// Redeems a code of `app`.
pub(crate) async fn redeem(
    authority: &AuthorizationServer,
    code: &str,
    changes: &[(&str, &str)],
) -> Answer {
    let members = changed(&redemption(code), changes);
    post(&authority.url(OAuthEndpoint::Token), &members, &[]).await
}

/// Logs `app` in, and gives the answer of the token endpoint.
pub(crate) async fn log_in(authority: &AuthorizationServer, changes: &[(&str, &str)]) -> Answer {
    let back = approve(authority, changes).await;
    redeem(authority, back.value("code").unwrap().unwrap(), &[]).await
}

/// The members with which `app` uses a refresh token.
pub(crate) fn renewal(token: &str) -> [(&str, &str); 4] {
    [
        ("grant_type", "refresh_token"),
        ("client_id", "app"),
        ("resource", RESOURCE),
        ("refresh_token", token),
    ]
}

/// Uses a refresh token of `app`.
pub(crate) async fn refresh(authority: &AuthorizationServer, token: &str) -> Answer {
    post(&authority.url(OAuthEndpoint::Token), &renewal(token), &[]).await
}

/// The claims of a token, whose signature is checked with the published keys.
pub(crate) async fn claims(authority: &AuthorizationServer, token: &str) -> Value {
    verified(authority, token).await.expect("a published key fits")
}

/// The same; `None` if no published key fits.
pub(crate) async fn verified(authority: &AuthorizationServer, token: &str) -> Option<Value> {
    use bowline_auth::jose::jwk::JwkSet;
    use bowline_auth::jose::jws::{Algorithm, Jws};

    let keys = get(&authority.url(OAuthEndpoint::Jwks)).await;
    let keys = JwkSet::parse(&keys.text).unwrap();
    let jws = Jws::parse(token, &Algorithm::ALL).unwrap();
    let mut candidates = keys.candidates(jws.key_id(), jws.algorithm());
    let payload = candidates.find_map(|key| jws.verify(key.key()).ok())?;
    serde_json::from_str(payload).ok()
}
