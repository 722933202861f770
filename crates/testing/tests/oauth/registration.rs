//! How clients become known: by registration, and by a metadata document.

use bowline_auth::jose::sign::SigningKey;
use bowline_testing::oauth::{AuthorizationServer, ClientAuthMethod, OAuthEndpoint, UserAgent};
use serde_json::{Value, json};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::app::{BACK, get, page, post, redeem, register};

fn native(redirect: &str) -> Value {
    json!({
        "redirect_uris": [redirect], "application_type": "native", "client_name": "App",
        "token_endpoint_auth_method": "none", "grant_types": ["authorization_code", "refresh_token"],
    })
}

#[tokio::test]
async fn a_client_that_registers_itself_can_log_in() {
    let authority = AuthorizationServer::start().await;
    let answer = register(&authority, &native(BACK)).await;
    assert_eq!((answer.status, answer.json.get("client_secret")), (201, None));
    assert_eq!(answer.json["application_type"], "native");
    let id = answer.text_of("client_id");
    let page = page(&authority, &[("client_id", id)]);
    let back = UserAgent::Approves.decide(&page).await.unwrap();
    let code = back.split_once("code=").unwrap().1.split('&').next().unwrap();
    let tokens = redeem(&authority, code, &[("client_id", id)]).await;
    assert_eq!(tokens.status, 200, "{tokens:?}");
    authority.remove_client(id);
    let error = UserAgent::Approves.decide(&page).await.unwrap_err();
    assert!(error.to_string().contains("401"), "{error}");
}

#[tokio::test]
async fn redirects_must_fit_the_application_type() {
    let authority = AuthorizationServer::start().await;
    for (kind, redirect, is_accepted) in [
        ("native", "http://127.0.0.1:4000/callback", true),
        ("native", "http://localhost/callback", true),
        ("native", "http://[::1]:9/callback", true),
        ("native", "https://app.example/callback", true),
        ("native", "com.example.app:/callback", true),
        ("native", "http://app.example/callback", false),
        ("native", "app:/callback", false),
        ("native", "com.example.app:/call back", false),
        ("native", "javascript:alert(1)", false),
        ("web", "https://app.example/callback", true),
        ("web", "http://127.0.0.1:4000/callback", false),
        ("web", "https://localhost/callback", false),
    ] {
        let mut metadata = native(redirect);
        metadata["application_type"] = kind.into();
        let answer = register(&authority, &metadata).await;
        let expected = if is_accepted { (201, "") } else { (400, "invalid_redirect_uri") };
        assert_eq!(answer.error(), expected, "{kind} {redirect}");
    }
}

#[tokio::test]
async fn a_client_without_application_type_is_a_web_application_unless_the_test_is_lenient() {
    let mut metadata = native(BACK);
    metadata.as_object_mut().unwrap().remove("application_type");
    let strict = AuthorizationServer::start().await;
    assert_eq!(register(&strict, &metadata).await.error(), (400, "invalid_redirect_uri"));
    let lenient = AuthorizationServer::start().without_required_application_type().await;
    assert_eq!(register(&lenient, &metadata).await.status, 201);
}

#[tokio::test]
async fn metadata_that_the_server_cannot_serve_is_refused() {
    let authority = AuthorizationServer::start().auth_methods([ClientAuthMethod::None]).await;
    let invalid = (400, "invalid_client_metadata");
    for (member, value) in [
        ("application_type", json!("mobile")),
        ("token_endpoint_auth_method", json!("client_secret_basic")),
        ("token_endpoint_auth_method", json!("tls_client_auth")),
        ("grant_types", json!(["authorization_code", "password"])),
        ("response_types", json!(["token"])),
        ("jwks", json!("no key set")),
        ("redirect_uris", json!("not a list")),
    ] {
        let mut metadata = native(BACK);
        metadata[member] = value;
        assert_eq!(register(&authority, &metadata).await.error(), invalid, "{member}");
    }
    let mut metadata = native(BACK);
    metadata["redirect_uris"] = json!([]);
    assert_eq!(register(&authority, &metadata).await.error(), (400, "invalid_redirect_uri"));
    let url = authority.url(OAuthEndpoint::Register);
    assert_eq!(post(&url, &[("client_name", "App")], &[]).await.error(), invalid);
}

#[tokio::test]
async fn a_confidential_client_gets_a_secret() {
    let authority = AuthorizationServer::start().await;
    let mut metadata = native(BACK);
    metadata.as_object_mut().unwrap().remove("token_endpoint_auth_method");
    let answer = register(&authority, &metadata).await;
    assert_eq!(answer.json["token_endpoint_auth_method"], "client_secret_basic");
    assert!(!answer.text_of("client_secret").is_empty());
    assert_eq!(answer.json["client_secret_expires_at"], 0);
}

#[tokio::test]
async fn a_client_that_signs_needs_a_key() {
    let authority = AuthorizationServer::start().await;
    let mut metadata = native(BACK);
    metadata["token_endpoint_auth_method"] = "private_key_jwt".into();
    let answer = register(&authority, &metadata).await;
    assert_eq!(answer.error(), (400, "invalid_client_metadata"));
    let (key, _) = SigningKey::generate().unwrap();
    let key: Value = serde_json::from_str(&key.public().to_json()).unwrap();
    metadata["jwks"] = json!({ "keys": [key] });
    assert_eq!(register(&authority, &metadata).await.status, 201);
}

#[tokio::test]
async fn a_server_without_registration_has_no_such_endpoint() {
    let authority = AuthorizationServer::start().without_registration().await;
    assert_eq!(register(&authority, &native(BACK)).await.status, 404);
}

const CLIENT: &str = "https://app.example/client.json";

fn document(id: &str) -> String {
    json!({ "client_id": id, "client_name": "App", "redirect_uris": ["http://127.0.0.1/callback"] })
        .to_string()
}

#[tokio::test]
async fn the_url_of_a_document_is_a_client_id() {
    let authority = AuthorizationServer::start().client_document(CLIENT, document(CLIENT)).await;
    let start = page(&authority, &[("client_id", CLIENT)]);
    let back = UserAgent::Approves.decide(&start).await.unwrap();
    let code = back.split_once("code=").unwrap().1.split('&').next().unwrap();
    let tokens = redeem(&authority, code, &[("client_id", CLIENT)]).await;
    assert_eq!(tokens.status, 200);
    assert_eq!(tokens.json.get("refresh_token"), None, "the document does not ask for it");

    let elsewhere = [("client_id", CLIENT), ("redirect_uri", "https://attacker.example/callback")];
    assert!(UserAgent::Approves.decide(&page(&authority, &elsewhere)).await.is_err());
}

#[tokio::test]
async fn a_document_that_names_another_client_is_refused() {
    let other = document("https://app.example/other.json");
    let authority = AuthorizationServer::start().client_document(CLIENT, other).await;
    let start = page(&authority, &[("client_id", CLIENT)]);
    assert!(UserAgent::Approves.decide(&start).await.is_err());
    assert_eq!(authority.requests()[0].error(), Some("invalid_client"));
}

/// Serves one request for a document with a status, and gives the URL of the document.
async fn serve_document(status: u16) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/client.json", listener.local_addr().unwrap());
    let body = document(&url);
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let _ = stream.read(&mut [0; 1024]).await.unwrap();
        let head = format!("HTTP/1.1 {status} x\r\ncontent-length: {}\r\n\r\n", body.len());
        stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    });
    url
}

#[tokio::test]
async fn a_document_on_this_machine_is_fetched() {
    let authority = AuthorizationServer::start().await;
    for (status, is_known) in [(200, true), (404, false)] {
        let client = serve_document(status).await;
        let start = page(&authority, &[("client_id", &client)]);
        // Asks for the page alone: the server fetches the document anew for every request.
        assert_eq!(get(&start).await.status, if is_known { 200 } else { 401 });
    }
}

#[tokio::test]
async fn a_server_without_documents_knows_no_url() {
    let authority = AuthorizationServer::start()
        .client_document(CLIENT, document(CLIENT))
        .without_client_documents()
        .await;
    let start = page(&authority, &[("client_id", CLIENT)]);
    assert!(UserAgent::Approves.decide(&start).await.is_err());
}
