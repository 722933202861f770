//! The log of requests, and what the server prints.

use bowline_testing::oauth::{AuthorizationServer, OAuthEndpoint, RegisteredClient};
use http::Method;
use serde_json::json;

use crate::app::{RESOURCE, app, get, log_in, post, redeem, register};

#[tokio::test]
async fn the_log_shows_each_request_and_its_answer() {
    let authority = AuthorizationServer::start().client(app()).await;
    get(&authority.url(OAuthEndpoint::Metadata)).await;
    log_in(&authority, &[]).await;
    redeem(&authority, "unknown", &[]).await;
    get(&format!("{}/nothing", authority.issuer())).await;
    let requests = authority.requests();
    let seen: Vec<_> = requests.iter().map(|it| (it.endpoint(), it.status(), it.error())).collect();
    let expected = [
        (OAuthEndpoint::Metadata, 200, None),
        (OAuthEndpoint::Authorize, 200, None),
        (OAuthEndpoint::Consent, 303, None),
        (OAuthEndpoint::Token, 200, None),
        (OAuthEndpoint::Token, 400, Some("invalid_grant")),
        (OAuthEndpoint::Unknown, 404, None),
    ];
    assert_eq!(seen, expected);
    let token = &authority.requests_to(OAuthEndpoint::Token)[0];
    assert_eq!(token.value("resource"), Some(RESOURCE));
    assert_eq!((token.method(), token.path()), (&Method::POST, "/token"));
    assert_eq!(token.value("scope"), None);
}

#[tokio::test]
async fn the_log_has_headers_and_registrations() {
    let authority = AuthorizationServer::start().await;
    let metadata = json!({ "application_type": "native", "redirect_uris": ["http://localhost/"] });
    register(&authority, &metadata).await;
    let members = [("grant_type", "client_credentials")];
    post(&authority.url(OAuthEndpoint::Token), &members, &[("authorization", "Basic x")]).await;
    let requests = authority.requests();
    let seen: serde_json::Value = requests[0].json().unwrap().parse().unwrap();
    assert_eq!(seen, metadata);
    assert_eq!(
        (requests[1].scheme(), requests[1].header("authorization")),
        (Some("Basic"), Some("Basic x"))
    );
}

#[tokio::test]
async fn nothing_that_is_printed_holds_a_secret() {
    let client = RegisteredClient::with_secret("api", "canary");
    let printed = format!("{client:?}");
    let authority = AuthorizationServer::start().client(client).await;
    let members = [("client_id", "api"), ("client_secret", "canary"), ("code", "canary")];
    let headers = [("authorization", "Basic canary"), ("dpop", "canary")];
    post(&authority.url(OAuthEndpoint::Token), &members, &headers).await;
    get(&format!("{}/authorize?code=canary", authority.issuer())).await;
    let printed = format!("{printed} {authority:?} {:?}", authority.requests());
    assert!(!printed.contains("canary"), "{printed}");
    assert!(
        printed.contains(r#"POST /token ["client_id", "client_secret", "code"] -> 401"#),
        "{printed}"
    );
}

#[tokio::test]
async fn the_server_ends_with_its_last_handle() {
    let authority = AuthorizationServer::start().await;
    let (clone, url) = (authority.clone(), authority.url(OAuthEndpoint::Jwks));
    drop(authority);
    assert_eq!(get(&url).await.status, 200);
    let address = clone.issuer().strip_prefix("http://").unwrap().to_owned();
    drop(clone);
    // The task that listens ends at its next turn.
    while tokio::net::TcpStream::connect(&address).await.is_ok() {
        tokio::task::yield_now().await;
    }
}
