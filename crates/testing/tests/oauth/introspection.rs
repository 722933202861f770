//! What the server says about tokens, and their revocation.

use std::time::Duration;

use bowline_auth::jose::sign::SigningKey;
use bowline_testing::oauth::{
    AccessTokenFormat, AuthorizationServer, OAuthEndpoint, RegisteredClient,
};
use serde_json::{Value, json};

use crate::app::{Answer, RESOURCE, app, claims, log_in, post, refresh, verified};

async fn start(format: AccessTokenFormat) -> AuthorizationServer {
    AuthorizationServer::start()
        .client(app())
        .client(RegisteredClient::public("other"))
        .client(RegisteredClient::with_secret("api", "s3cret"))
        .resource(RESOURCE)
        .scopes(["mcp"])
        .access_tokens(format)
        .await
}

async fn introspect(authority: &AuthorizationServer, token: &str) -> Value {
    let members = [("client_id", "api"), ("client_secret", "s3cret"), ("token", token)];
    let answer = post(&authority.url(OAuthEndpoint::Introspect), &members, &[]).await;
    assert_eq!(answer.status, 200);
    answer.json
}

async fn revoke(authority: &AuthorizationServer, client: &str, token: &str) -> Answer {
    let members = [("client_id", client), ("token", token)];
    post(&authority.url(OAuthEndpoint::Revoke), &members, &[]).await
}

#[tokio::test]
async fn a_resource_server_learns_what_a_token_means() {
    for format in [AccessTokenFormat::Jwt, AccessTokenFormat::Opaque] {
        let authority = start(format).await;
        let tokens = log_in(&authority, &[]).await;
        let mut state = introspect(&authority, tokens.text_of("access_token")).await;
        assert!(state["exp"].take().as_u64() > state["iat"].take().as_u64());
        let expected = json!({
            "active": true, "iss": authority.issuer(), "sub": "ann", "aud": [RESOURCE],
            "client_id": "app", "scope": "mcp", "token_type": "Bearer", "iat": null, "exp": null,
        });
        assert_eq!(state, expected);
        authority.advance(Duration::from_secs(301));
        let state = introspect(&authority, tokens.text_of("access_token")).await;
        assert_eq!(state, json!({ "active": false }));
    }
}

#[tokio::test]
async fn unknown_tokens_are_inactive_and_public_clients_learn_nothing() {
    let authority = start(AccessTokenFormat::Jwt).await;
    assert_eq!(introspect(&authority, "unknown").await, json!({ "active": false }));
    let members = [("client_id", "app"), ("token", "unknown")];
    let answer = post(&authority.url(OAuthEndpoint::Introspect), &members, &[]).await;
    assert_eq!(answer.error(), (401, "invalid_client"));
}

#[tokio::test]
async fn a_revoked_access_token_is_inactive_and_its_refresh_token_works() {
    let authority = start(AccessTokenFormat::Jwt).await;
    let tokens = log_in(&authority, &[]).await;
    let access = tokens.text_of("access_token");
    assert_eq!(revoke(&authority, "other", access).await.status, 200);
    assert_eq!(introspect(&authority, access).await["active"], true, "it is not theirs");
    assert_eq!(revoke(&authority, "app", access).await.status, 200);
    assert_eq!(introspect(&authority, access).await["active"], false);
    assert_eq!(refresh(&authority, tokens.text_of("refresh_token")).await.status, 200);
}

#[tokio::test]
async fn a_revoked_refresh_token_takes_all_tokens_of_its_login_along() {
    let authority = start(AccessTokenFormat::Jwt).await;
    let tokens = log_in(&authority, &[]).await;
    let token = tokens.text_of("refresh_token");
    assert_eq!(revoke(&authority, "other", token).await.status, 200);
    assert_eq!(introspect(&authority, tokens.text_of("access_token")).await["active"], true);
    assert_eq!(revoke(&authority, "app", token).await.status, 200);
    assert_eq!(introspect(&authority, tokens.text_of("access_token")).await["active"], false);
    assert_eq!(refresh(&authority, token).await.error(), (400, "invalid_grant"));
    assert_eq!(authority.reuses(), 0);
    assert_eq!(revoke(&authority, "app", "unknown").await.status, 200);
}

#[tokio::test]
async fn a_test_makes_the_tokens_that_it_needs() {
    let authority = start(AccessTokenFormat::Jwt).await;
    let (key, _) = SigningKey::generate().unwrap();
    let token = authority
        .token()
        .subject("bob")
        .client("cli")
        .audience("https://a.example/mcp")
        .audience("https://b.example/mcp")
        .scopes(["files"])
        .lifetime(Duration::from_secs(7))
        .issuer("https://another.example")
        .bound_to(key.public())
        .build();
    let body = claims(&authority, &token).await;
    assert_eq!(body["aud"], json!(["https://a.example/mcp", "https://b.example/mcp"]));
    assert_eq!((&body["sub"], &body["client_id"]), (&json!("bob"), &json!("cli")));
    assert_eq!(
        (&body["scope"], &body["iss"]),
        (&json!("files"), &json!("https://another.example"))
    );
    assert_eq!(body["exp"].as_u64().unwrap() - body["iat"].as_u64().unwrap(), 7);
    assert_eq!(body["cnf"]["jkt"], key.public().thumbprint());
    assert_eq!(introspect(&authority, &token).await["cnf"]["jkt"], key.public().thumbprint());

    let stale = authority.token().expired().build();
    assert_eq!(introspect(&authority, &stale).await["active"], false);
    let forged = authority.token().signed_by(key).build();
    assert_eq!(verified(&authority, &forged).await, None);
    let opaque = authority.token().format(AccessTokenFormat::Opaque).build();
    assert_eq!(introspect(&authority, &opaque).await["aud"], json!([RESOURCE]));
    let own = authority.sign("JWT", &json!({ "anything": 1 }));
    assert_eq!(claims(&authority, &own).await, json!({ "anything": 1 }));
}
