//! The authorization server `oidc-provider` of `tests/peers`: our types read what it writes, and clients
//! log in to our protected server with its tokens.

mod logins;

use bowline_auth::form::Form;
use bowline_auth::jose::jwk::JwkSet;
use bowline_auth::jose::jws::{Algorithm, Jws};
use bowline_auth::jose::jwt::TokenClaims;
use bowline_auth::metadata::server::{ServerMetadata, addresses};
use bowline_auth::url::Url;
use bowline_testing::oauth::UserAgent;
use bowline_tests::peers::PeerServer;
use http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};

const RESOURCE: &str = "https://mcp.example/mcp";
const BACK: &str = "http://127.0.0.1:4000/callback";
const CLIENT: &str = "https://app.example/client.json";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/// The server, until this is dropped.
struct OidcProvider {
    issuer: String,
    metadata: ServerMetadata,
    _process: PeerServer,
}

impl OidcProvider {
    async fn start(arguments: &[&str]) -> Self {
        let process = PeerServer::start(&["node22", "oidc-provider.mjs"], arguments).await;
        let issuer = process.url.clone();
        let place = addresses(&Url::parse(&issuer).unwrap()).unwrap().remove(0);
        let metadata = send(Request::get(place.as_str()), "").await;
        let metadata = ServerMetadata::parse(&metadata, &issuer).unwrap();
        Self { issuer, metadata, _process: process }
    }

    async fn post(&self, url: Option<&Url>, form: &Form) -> Value {
        let media_type = bowline_auth::form::MEDIA_TYPE;
        let request = Request::post(url.unwrap().as_str()).header("content-type", media_type);
        serde_json::from_str(&send(request, form.encode().expose()).await).unwrap()
    }

    /// The page at which a login begins.
    fn page(&self, client: &str) -> Url {
        let form = Form::new()
            .with("client_id", client)
            .with("redirect_uri", BACK)
            .with("response_type", "code")
            .with("code_challenge", CHALLENGE)
            .with("code_challenge_method", "S256")
            .with("resource", RESOURCE)
            .with("scope", "mcp files")
            .with("state", "xyz");
        self.metadata.authorization_endpoint.as_ref().unwrap().with_query(&form).unwrap()
    }

    /// Logs a public client in, and gives the answer of the token endpoint.
    async fn log_in(&self, client: &str) -> Value {
        let back = UserAgent::Approves.decide(self.page(client).as_str()).await.unwrap();
        let (address, query) = back.split_once('?').unwrap();
        let back = Form::parse(query).unwrap();
        assert_eq!((address, back.value("state").unwrap()), (BACK, Some("xyz")));
        assert_eq!(back.value("iss").unwrap(), Some(self.issuer.as_str()));
        let form = Form::new()
            .with("grant_type", "authorization_code")
            .with("client_id", client)
            .with("redirect_uri", BACK)
            .with("code_verifier", VERIFIER)
            .with("resource", RESOURCE)
            .with("code", back.value("code").unwrap().unwrap());
        self.post(self.metadata.token_endpoint.as_ref(), &form).await
    }

    /// The claims of an access token, verified with the keys of the server.
    async fn claims(&self, answer: &Value) -> TokenClaims {
        let keys = send(Request::get(self.metadata.jwks_uri.as_ref().unwrap().as_str()), "").await;
        let keys = JwkSet::parse(&keys).unwrap();
        let token = answer["access_token"].as_str().unwrap_or_else(|| panic!("{answer}"));
        let jws = Jws::parse(token, &[Algorithm::Es256]).unwrap();
        assert_eq!(jws.media_type(), Some("at+jwt"));
        let key = keys.candidates(jws.key_id(), jws.algorithm()).next().unwrap();
        TokenClaims::parse(jws.verify(key.key()).unwrap()).unwrap()
    }
}

/// Sends a request, and gives the body of the answer.
async fn send(request: http::request::Builder, body: &str) -> String {
    let mut request = request.body(Full::<bytes::Bytes>::from(body.to_owned())).unwrap();
    let authority = request.uri().authority().unwrap().to_string();
    request.headers_mut().insert("host", authority.parse().unwrap());
    *request.uri_mut() = request.uri().path_and_query().unwrap().clone().into();
    let stream = tokio::net::TcpStream::connect(authority).await.unwrap();
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let body = sender.send_request(request).await.unwrap().into_body();
    String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

fn client_metadata() -> Value {
    json!({
        "client_name": "App", "redirect_uris": [BACK], "application_type": "native",
        "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    })
}

#[tokio::test]
async fn its_metadata_offers_what_mcp_needs() {
    let peer = OidcProvider::start(&[]).await;
    assert!(peer.metadata.supports_s256());
    assert_eq!(peer.metadata.authorization_response_iss_parameter_supported, Some(true));
    assert_eq!(peer.metadata.client_id_metadata_document_supported, Some(true));
    assert!(peer.metadata.registration_endpoint.is_some());
    assert!(peer.metadata.introspection_endpoint.is_some());
    assert!(peer.metadata.revocation_endpoint.is_some());
}

#[tokio::test]
async fn a_client_that_registers_itself_logs_in() {
    let peer = OidcProvider::start(&[]).await;
    let registration = peer.metadata.registration_endpoint.as_ref().unwrap().as_str();
    let request = Request::post(registration).header("content-type", "application/json");
    let registered = send(request, &client_metadata().to_string()).await;
    let registered: Value = serde_json::from_str(&registered).unwrap();
    let client = registered["client_id"].as_str().unwrap_or_else(|| panic!("{registered}"));
    let tokens = peer.log_in(client).await;
    let claims = peer.claims(&tokens).await;
    assert_eq!(claims.iss.as_deref(), Some(peer.issuer.as_str()));
    assert_eq!((claims.sub.as_deref(), claims.client_id.as_deref()), (Some("ann"), Some(client)));
    assert_eq!(claims.aud.0, [RESOURCE]);
    assert_eq!(claims.scope.unwrap().0, ["mcp files"]);

    let refresh = Form::new()
        .with("grant_type", "refresh_token")
        .with("client_id", client)
        .with("resource", RESOURCE)
        .with("refresh_token", tokens["refresh_token"].as_str().unwrap());
    let refreshed = peer.post(peer.metadata.token_endpoint.as_ref(), &refresh).await;
    assert_eq!(peer.claims(&refreshed).await.aud.0, [RESOURCE]);
}

#[tokio::test]
async fn a_client_with_a_metadata_document_logs_in() {
    let mut document = client_metadata();
    document["client_id"] = CLIENT.into();
    let peer = OidcProvider::start(&["--document", &document.to_string()]).await;
    let tokens = peer.log_in(CLIENT).await;
    assert_eq!(peer.claims(&tokens).await.client_id.as_deref(), Some(CLIENT));
}

#[tokio::test]
async fn a_machine_gets_a_token_of_its_own() {
    let peer = OidcProvider::start(&[]).await;
    let form = Form::new()
        .with("grant_type", "client_credentials")
        .with("resource", RESOURCE)
        .with("scope", "mcp");
    // `machine:machine-secret`
    let basic = "Basic bWFjaGluZTptYWNoaW5lLXNlY3JldA==";
    let request = Request::post(peer.metadata.token_endpoint.as_ref().unwrap().as_str())
        .header("content-type", bowline_auth::form::MEDIA_TYPE)
        .header("authorization", basic);
    let answer = send(request, form.encode().expose()).await;
    let claims = peer.claims(&serde_json::from_str(&answer).unwrap()).await;
    assert_eq!(
        (claims.sub.as_deref(), claims.aud.0.as_slice()),
        (Some("machine"), &[RESOURCE.to_owned()][..])
    );
}

#[tokio::test]
async fn a_user_that_denies_sends_the_client_an_error() {
    let mut document = client_metadata();
    document["client_id"] = CLIENT.into();
    let peer = OidcProvider::start(&["--deny", "--document", &document.to_string()]).await;
    let back = UserAgent::Approves.decide(peer.page(CLIENT).as_str()).await.unwrap();
    let back = Form::parse(back.split_once('?').unwrap().1).unwrap();
    assert_eq!(back.value("error").unwrap(), Some("access_denied"));
    assert_eq!(back.value("iss").unwrap(), Some(peer.issuer.as_str()));
}
