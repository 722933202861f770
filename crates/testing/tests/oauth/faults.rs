//! Every mistake that the server can be asked to make.

use std::time::Duration;

use bowline_testing::clock::{advance, with_frozen_time};
use bowline_testing::oauth::{AuthorizationServer, Fault, OAuthEndpoint};
use serde_json::json;

use crate::app::{
    BACK, RESOURCE, app, approve, claims, get, log_in, page, redeem, register, verified,
};

async fn start(fault: Fault) -> AuthorizationServer {
    AuthorizationServer::start().client(app()).fault(fault).await
}

#[tokio::test]
async fn metadata_faults() {
    for (fault, member, expected) in [
        (Fault::MetadataIssuerMismatch, "issuer", json!("https://attacker.example")),
        (Fault::NoS256, "code_challenge_methods_supported", json!(null)),
        (Fault::PlainOnly, "code_challenge_methods_supported", json!(["plain"])),
        (Fault::UnadvertisedIss, "authorization_response_iss_parameter_supported", json!(null)),
    ] {
        let authority = start(fault.clone()).await;
        let document = get(&authority.url(OAuthEndpoint::Metadata)).await;
        assert_eq!(document.json[member], expected, "{fault:?}");
        assert_eq!(log_in(&authority, &[]).await.status, 200, "the rest works");
    }
}

#[tokio::test]
async fn faults_of_the_authorization_response() {
    let slash = |authority: &AuthorizationServer| format!("{}/", authority.issuer());
    let authority = start(Fault::WrongIss).await;
    let iss = approve(&authority, &[]).await;
    assert_eq!(iss.value("iss").unwrap(), Some("https://attacker.example"));
    let authority = start(Fault::NormalizedIss).await;
    let iss = approve(&authority, &[]).await;
    assert_eq!(iss.value("iss").unwrap(), Some(slash(&authority).as_str()));
    assert!(!approve(&start(Fault::MissingIss).await, &[]).await.has("iss"));
    let authority = start(Fault::UnadvertisedIss).await;
    assert_eq!(approve(&authority, &[]).await.value("iss").unwrap(), Some(authority.issuer()));
    assert!(!approve(&start(Fault::MissingState).await, &[]).await.has("state"));
    let state = approve(&start(Fault::WrongState).await, &[]).await;
    assert!(state.has("state") && state.value("state").unwrap() != Some("xyz"));
    let error = approve(&start(Fault::ErrorResponse("server_error")).await, &[]).await;
    assert_eq!(error.value("error").unwrap(), Some("server_error"));
    assert!(!error.has("code") && error.has("iss"));
}

#[tokio::test]
async fn without_iss_the_response_has_none() {
    let authority = AuthorizationServer::start().client(app()).without_iss().await;
    assert!(!approve(&authority, &[]).await.has("iss"));
}

#[tokio::test]
async fn registration_faults() {
    let metadata =
        |redirect: &str| json!({ "redirect_uris": [redirect], "application_type": "native" });
    let authority = start(Fault::RegistrationRefused).await;
    let refused = register(&authority, &metadata(BACK)).await;
    assert_eq!(refused.error(), (400, "invalid_client_metadata"));
    let authority = start(Fault::LoopbackAddressRefused).await;
    let refused = register(&authority, &metadata(BACK)).await;
    assert_eq!(refused.error(), (400, "invalid_redirect_uri"));
    let localhost = metadata("http://localhost:4000/callback");
    assert_eq!(register(&authority, &localhost).await.status, 201);
}

#[tokio::test]
async fn faults_of_the_token_answer() {
    let answer = log_in(&start(Fault::InvalidGrant).await, &[]).await;
    assert_eq!(answer.error(), (400, "invalid_grant"));
    let answer = log_in(&start(Fault::WrongTokenType).await, &[]).await;
    assert_eq!(answer.text_of("token_type"), "DPoP");
    for (fault, member) in [
        (Fault::MissingTokenType, "token_type"),
        (Fault::MissingExpiresIn, "expires_in"),
        (Fault::NoRefreshToken, "refresh_token"),
    ] {
        let answer = log_in(&start(fault).await, &[]).await;
        assert_eq!((answer.status, answer.json.get(member)), (200, None), "{member}");
    }
}

#[tokio::test]
async fn faults_of_the_access_token() {
    let authority = start(Fault::WrongResource).await;
    let answer = log_in(&authority, &[]).await;
    let body = claims(&authority, answer.text_of("access_token")).await;
    assert_eq!(body["aud"], json!(["https://another.example/mcp"]));
    let authority = start(Fault::FewerScopes).await;
    let answer = log_in(&authority, &[("scope", "mcp files")]).await;
    assert_eq!(answer.text_of("scope"), "mcp");
    assert_eq!(claims(&authority, answer.text_of("access_token")).await["scope"], "mcp");
    let authority = start(Fault::ExpiredTokens).await;
    let answer = log_in(&authority, &[]).await;
    let expires = claims(&authority, answer.text_of("access_token")).await["exp"].as_u64();
    let now = authority.now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    assert!(expires.unwrap() < now);
    let authority = start(Fault::UnpublishedKey).await;
    let answer = log_in(&authority, &[]).await;
    assert_eq!(verified(&authority, answer.text_of("access_token")).await, None);
}

#[tokio::test]
async fn any_endpoint_can_fail() {
    let at = OAuthEndpoint::Metadata;
    let url = |authority: &AuthorizationServer| authority.url(at);
    let authority = start(Fault::Status(at, 503)).await;
    assert_eq!(get(&url(&authority)).await.status, 503);
    let authority = start(Fault::Redirect(at, "https://attacker.example/m".into())).await;
    let answer = get(&url(&authority)).await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (307, Some("https://attacker.example/m"))
    );
    let authority = start(Fault::Oversize(at, 2_000_000)).await;
    let answer = get(&url(&authority)).await;
    assert!(answer.text.len() > 2_000_000 && answer.json.is_object());
    let authority = start(Fault::Malformed(at)).await;
    let answer = get(&url(&authority)).await;
    assert!(answer.json.is_null() && answer.header("content-type") == Some("application/json"));
    let authority = start(Fault::WrongMediaType(at)).await;
    let answer = get(&url(&authority)).await;
    assert_eq!(answer.json["issuer"], authority.issuer());
    assert_eq!(answer.header("content-type"), Some("text/html"));
    assert_eq!(get(&authority.url(OAuthEndpoint::Jwks)).await.status, 200, "others work");
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_can_be_slow_or_silent() {
    let work = async {
        let slow = Fault::Slow(OAuthEndpoint::Jwks, Duration::from_secs(30));
        let stalled = Fault::Stalled(OAuthEndpoint::Metadata);
        let authority = AuthorizationServer::start().fault(slow).fault(stalled).await;
        let jwks = authority.url(OAuthEndpoint::Jwks);
        let metadata = authority.url(OAuthEndpoint::Metadata);
        let jwks = tokio::spawn(async move { get(&jwks).await });
        let metadata = tokio::spawn(async move { get(&metadata).await });
        while authority.requests().len() < 2 {
            tokio::task::yield_now().await;
        }
        advance(Duration::from_secs(29)).await;
        assert!(!jwks.is_finished());
        advance(Duration::from_secs(1)).await;
        assert_eq!(jwks.await.unwrap().status, 200);
        advance(Duration::from_secs(3600)).await;
        assert!(!metadata.is_finished());
        assert_eq!(authority.requests_to(OAuthEndpoint::Metadata)[0].status(), 0);
        metadata.abort();
    };
    with_frozen_time(Duration::from_secs(60), work).await.unwrap();
}

#[tokio::test]
async fn faults_come_and_go() {
    let authority = AuthorizationServer::start()
        .client(app())
        .fault_times(Fault::Status(OAuthEndpoint::Jwks, 500), 1)
        .await;
    let jwks = authority.url(OAuthEndpoint::Jwks);
    assert_eq!(get(&jwks).await.status, 500);
    assert_eq!(get(&jwks).await.status, 200);
    authority.inject_times(Fault::Status(OAuthEndpoint::Jwks, 500), 2);
    assert_eq!((get(&jwks).await.status, get(&jwks).await.status), (500, 500));
    assert_eq!(get(&jwks).await.status, 200);
    authority.inject(Fault::InvalidGrant);
    assert_eq!(log_in(&authority, &[]).await.error(), (400, "invalid_grant"));
    authority.heal();
    let back = approve(&authority, &[("resource", RESOURCE)]).await;
    assert_eq!(redeem(&authority, back.value("code").unwrap().unwrap(), &[]).await.status, 200);
    assert!(page(&authority, &[]).starts_with(authority.issuer()));
}
