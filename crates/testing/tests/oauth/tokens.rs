//! The token endpoint: codes, refresh tokens, and clients that act for themselves.

use std::time::{Duration, UNIX_EPOCH};

use bowline_auth::jose::sign::{EmbeddedKey, SigningKey};
use bowline_testing::oauth::{
    AccessTokenFormat, AuthorizationServer, ClientAuthMethod, OAuthEndpoint, RegisteredClient,
};
use serde_json::{Value, json};

use crate::app::{
    Answer, RESOURCE, app, approve, changed, claims, log_in, post, redeem, refresh, renewal,
};

#[tokio::test]
async fn a_code_becomes_an_access_token() {
    let time = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let authority = AuthorizationServer::start()
        .client(app())
        .scopes(["mcp", "files"])
        .lifetime(Duration::from_secs(90))
        .time(time)
        .await;
    let tokens = log_in(&authority, &[("scope", "mcp")]).await;
    assert_eq!(tokens.text_of("token_type"), "Bearer");
    assert_eq!(tokens.json["expires_in"], 90);
    assert_eq!(tokens.text_of("scope"), "mcp");
    assert_eq!(tokens.header("cache-control"), Some("no-store"));
    let mut claims = claims(&authority, tokens.text_of("access_token")).await;
    assert!(claims["jti"].take().is_string());
    let expected = json!({
        "iss": authority.issuer(), "sub": "ann", "aud": [RESOURCE], "client_id": "app",
        "iat": 1_800_000_000, "exp": 1_800_000_090, "scope": "mcp", "jti": null,
    });
    assert_eq!(claims, expected);
}

#[tokio::test]
async fn a_code_works_only_for_its_own_login() {
    let authority =
        AuthorizationServer::start().client(app()).client(RegisteredClient::public("other")).await;
    for (changes, error) in [
        (("code_verifier", "another-verifier"), "invalid_grant"),
        (("code_verifier", ""), "invalid_request"),
        (("redirect_uri", "http://127.0.0.1:4000/other"), "invalid_grant"),
        (("client_id", "other"), "invalid_grant"),
        (("code", "another-code"), "invalid_grant"),
        (("resource", "https://another.example/mcp"), "invalid_target"),
        (("resource", ""), "invalid_target"),
        (("grant_type", "password"), "unsupported_grant_type"),
        (("grant_type", ""), "invalid_request"),
    ] {
        let back = approve(&authority, &[]).await;
        let code = back.value("code").unwrap().unwrap();
        let answer = redeem(&authority, code, &[changes]).await;
        assert_eq!(answer.error(), (400, error), "{changes:?}");
    }
}

#[tokio::test]
async fn a_code_expires() {
    let authority = AuthorizationServer::start().client(app()).await;
    let back = approve(&authority, &[]).await;
    authority.advance(Duration::from_secs(60));
    let answer = redeem(&authority, back.value("code").unwrap().unwrap(), &[]).await;
    assert_eq!(answer.error(), (400, "invalid_grant"));
}

#[tokio::test]
async fn a_code_that_is_used_twice_revokes_its_tokens() {
    let authority = AuthorizationServer::start().client(app()).await;
    let back = approve(&authority, &[]).await;
    let code = back.value("code").unwrap().unwrap();
    let tokens = redeem(&authority, code, &[]).await;
    for _ in 0..2 {
        assert_eq!(redeem(&authority, code, &[]).await.error(), (400, "invalid_grant"));
        assert_eq!(authority.reuses(), 1, "a login is revoked once");
    }
    let refreshed = refresh(&authority, tokens.text_of("refresh_token")).await;
    assert_eq!(refreshed.error(), (400, "invalid_grant"));
}

#[tokio::test]
async fn refresh_tokens_rotate_and_reuse_revokes_the_family() {
    let authority = AuthorizationServer::start().client(app()).await;
    let first = log_in(&authority, &[]).await;
    let second = refresh(&authority, first.text_of("refresh_token")).await;
    assert_eq!(second.status, 200);
    assert_ne!(second.text_of("refresh_token"), first.text_of("refresh_token"));
    let third = refresh(&authority, second.text_of("refresh_token")).await;
    assert_eq!((third.status, authority.reuses()), (200, 0));

    let again = refresh(&authority, first.text_of("refresh_token")).await;
    assert_eq!((again.error(), authority.reuses()), ((400, "invalid_grant"), 1));
    let current = refresh(&authority, third.text_of("refresh_token")).await;
    assert_eq!(current.error(), (400, "invalid_grant"), "the whole family is revoked");
    assert_eq!(authority.reuses(), 1);
    assert_eq!(log_in(&authority, &[]).await.status, 200, "another login is not");
}

#[tokio::test]
async fn without_rotation_a_refresh_token_stays() {
    let authority = AuthorizationServer::start().client(app()).without_rotation().await;
    let tokens = log_in(&authority, &[]).await;
    for _ in 0..2 {
        let refreshed = refresh(&authority, tokens.text_of("refresh_token")).await;
        assert_eq!((refreshed.status, refreshed.json.get("refresh_token")), (200, None));
    }
}

#[tokio::test]
async fn a_refresh_cannot_add_scopes_and_can_drop_some() {
    let authority = AuthorizationServer::start().client(app()).without_rotation().await;
    let tokens = log_in(&authority, &[("scope", "mcp files")]).await;
    let members = renewal(tokens.text_of("refresh_token"));
    let url = authority.url(OAuthEndpoint::Token);
    let more = post(&url, &changed(&members, &[("scope", "mcp admin")]), &[]).await;
    assert_eq!(more.error(), (400, "invalid_scope"));
    let fewer = post(&url, &changed(&members, &[("scope", "files")]), &[]).await;
    assert_eq!(fewer.text_of("scope"), "files");
    assert_eq!(post(&url, &members, &[]).await.text_of("scope"), "mcp files");
}

#[tokio::test]
async fn a_refresh_token_of_another_client_is_unknown() {
    let authority =
        AuthorizationServer::start().client(app()).client(RegisteredClient::public("other")).await;
    let tokens = log_in(&authority, &[]).await;
    let own = renewal(tokens.text_of("refresh_token"));
    let members = changed(&own, &[("client_id", "other")]);
    let answer = post(&authority.url(OAuthEndpoint::Token), &members, &[]).await;
    assert_eq!(answer.error(), (400, "invalid_grant"));
    assert_eq!(refresh(&authority, tokens.text_of("refresh_token")).await.status, 200);
}

#[tokio::test]
async fn refresh_tokens_are_for_clients_that_may_have_them() {
    let has_refresh_token = |tokens: &Answer| tokens.json.get("refresh_token").is_some();
    let codes_only = app().grants(["authorization_code"]);
    let authority = AuthorizationServer::start().client(codes_only).await;
    assert!(!has_refresh_token(&log_in(&authority, &[]).await));
    let authority = AuthorizationServer::start().client(app()).without_refresh_tokens().await;
    assert!(!has_refresh_token(&log_in(&authority, &[]).await));
    let start = AuthorizationServer::start().client(app()).scopes(["mcp"]);
    let authority = start.offline_access().await;
    assert!(!has_refresh_token(&log_in(&authority, &[]).await));
    let offline = [("scope", "mcp offline_access")];
    assert!(has_refresh_token(&log_in(&authority, &offline).await));
}

#[tokio::test]
async fn opaque_tokens_are_no_json_web_tokens() {
    let start = AuthorizationServer::start().client(app());
    let authority = start.access_tokens(AccessTokenFormat::Opaque).await;
    assert!(!log_in(&authority, &[]).await.text_of("access_token").contains('.'));
}

#[tokio::test]
async fn a_login_with_openid_brings_an_id_token() {
    let authority = AuthorizationServer::start().client(app()).scopes(["mcp"]).await;
    let tokens = log_in(&authority, &[("scope", "openid mcp"), ("nonce", "n1")]).await;
    let claims = claims(&authority, tokens.text_of("id_token")).await;
    assert_eq!(
        (&claims["aud"], &claims["sub"], &claims["nonce"]),
        (&json!("app"), &json!("ann"), &json!("n1"))
    );
}

/// Asks for a token for the client itself.
async fn machine(
    authority: &AuthorizationServer,
    changes: &[(&str, &str)],
    headers: &[(&str, &str)],
) -> Answer {
    let members = [("grant_type", "client_credentials"), ("resource", RESOURCE), ("scope", "mcp")];
    post(&authority.url(OAuthEndpoint::Token), &changed(&members, changes), headers).await
}

/// `api:s3cret` in basic authentication.
const BASIC: (&str, &str) = ("authorization", "Basic YXBpOnMzY3JldA==");

#[tokio::test]
async fn a_client_with_a_secret_acts_for_itself() {
    let client = RegisteredClient::with_secret("api", "s3cret");
    let authority = AuthorizationServer::start().client(client).client(app()).await;
    let form = [("client_id", "api"), ("client_secret", "s3cret")];
    for answer in [machine(&authority, &[], &[BASIC]).await, machine(&authority, &form, &[]).await]
    {
        let claims = claims(&authority, answer.text_of("access_token")).await;
        assert_eq!((&claims["sub"], &claims["scope"]), (&json!("api"), &json!("mcp")));
        assert_eq!(answer.json.get("refresh_token"), None);
    }
    let wrong = [("client_id", "api"), ("client_secret", "guess")];
    let answer = machine(&authority, &wrong, &[]).await;
    assert_eq!(answer.error(), (401, "invalid_client"));
    assert!(answer.header("www-authenticate").is_some());
    assert_eq!(machine(&authority, &form, &[BASIC]).await.error(), (400, "invalid_request"));
    assert_eq!(machine(&authority, &[("client_id", "api")], &[]).await.error().0, 401);
    assert_eq!(machine(&authority, &[], &[]).await.error(), (401, "invalid_client"));
    let bearer = ("authorization", "Bearer YXBpOnMzY3JldA==");
    assert_eq!(machine(&authority, &[], &[bearer]).await.error(), (401, "invalid_client"));
    let two = machine(&authority, &[("client_id", "app")], &[BASIC]).await;
    assert_eq!(two.error(), (400, "invalid_request"), "the request names two clients");
    let public = machine(&authority, &[("client_id", "app")], &[]).await;
    assert_eq!(public.error(), (400, "unauthorized_client"));
}

#[tokio::test]
async fn a_method_that_the_server_does_not_support_is_refused() {
    let authority = AuthorizationServer::start()
        .client(RegisteredClient::with_secret("api", "s3cret"))
        .auth_methods([ClientAuthMethod::SecretPost])
        .await;
    assert_eq!(machine(&authority, &[], &[BASIC]).await.error(), (401, "invalid_client"));
    let form = [("client_id", "api"), ("client_secret", "s3cret")];
    assert_eq!(machine(&authority, &form, &[]).await.status, 200);
}

#[tokio::test]
async fn a_grant_that_the_client_must_not_use_is_refused() {
    let client = RegisteredClient::with_secret("api", "s3cret").grants(["authorization_code"]);
    let authority = AuthorizationServer::start().client(client).await;
    assert_eq!(machine(&authority, &[], &[BASIC]).await.error(), (400, "unauthorized_client"));
}

/// Asks for a token with an assertion of the client about itself.
async fn signed(authority: &AuthorizationServer, key: &SigningKey, changes: Value) -> Answer {
    let issued = authority.now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let mut claims = json!({
        "iss": "ci", "sub": "ci", "aud": authority.issuer(), "jti": "1", "exp": issued + 60,
    });
    claims.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    let assertion = key.sign("JWT", EmbeddedKey::Absent, &claims).unwrap();
    let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    let members =
        [("client_assertion_type", kind), ("client_assertion", assertion.expose().as_str())];
    machine(authority, &members, &[]).await
}

#[tokio::test]
async fn a_client_with_a_key_acts_for_itself() {
    let (key, _) = SigningKey::generate().unwrap();
    let client = RegisteredClient::with_key("ci", key.public());
    let authority = AuthorizationServer::start().client(client).await;
    assert_eq!(signed(&authority, &key, json!({})).await.status, 200);
    let again = signed(&authority, &key, json!({})).await;
    assert_eq!(again.error(), (401, "invalid_client"), "the assertion is used twice");
    for wrong in [
        json!({ "jti": "2", "aud": authority.url(OAuthEndpoint::Token) }),
        json!({ "jti": "3", "aud": [authority.issuer(), "https://another.example"] }),
        json!({ "jti": "4", "exp": 1 }),
        json!({ "jti": "5", "sub": "another" }),
        json!({ "jti": null }),
        json!({ "jti": "6", "nbf": 99_999_999_999_u64 }),
        json!({ "jti": "7", "iss": "another", "sub": "another" }),
    ] {
        let answer = signed(&authority, &key, wrong.clone()).await;
        assert_eq!(answer.error(), (401, "invalid_client"), "{wrong}");
    }
    let members = [("client_assertion_type", "saml2"), ("client_assertion", "x.y.z")];
    assert_eq!(machine(&authority, &members, &[]).await.error(), (400, "invalid_request"));
    let (other, _) = SigningKey::generate().unwrap();
    let forged = signed(&authority, &other, json!({ "jti": "8" })).await;
    assert_eq!(forged.error(), (401, "invalid_client"));
}
