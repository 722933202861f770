//! Grants that another issuer signs: workload identities and enterprise logins.

use std::time::UNIX_EPOCH;

use bowline_auth::jose::jwk::JwkSet;
use bowline_auth::jose::sign::{EmbeddedKey, SigningKey};
use bowline_testing::oauth::{AuthorizationServer, OAuthEndpoint, RegisteredClient};
use serde_json::{Value, json};

use crate::app::{Answer, RESOURCE, changed, claims, post};

const PLATFORM: &str = "https://platform.example";

async fn present(authority: &AuthorizationServer, assertion: &str) -> Answer {
    let members = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
        ("client_id", "api"),
        ("client_secret", "s3cret"),
        ("resource", RESOURCE),
        ("assertion", assertion),
    ];
    post(&authority.url(OAuthEndpoint::Token), &members, &[]).await
}

fn api() -> RegisteredClient {
    RegisteredClient::with_secret("api", "s3cret")
}

#[tokio::test]
async fn a_workload_logs_in_with_the_token_of_its_platform() {
    let (key, _) = SigningKey::generate().unwrap();
    let keys = JwkSet::parse(&format!(r#"{{"keys":[{}]}}"#, key.public().to_json())).unwrap();
    let authority = AuthorizationServer::start().client(api()).trust_keys(PLATFORM, keys).await;
    let now = authority.now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let sign = |changes: Value| {
        let mut claims = json!({
            "iss": PLATFORM, "sub": "pod-1", "aud": authority.issuer(), "exp": now + 60,
        });
        claims.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        key.sign("JWT", EmbeddedKey::Absent, &claims).unwrap().expose().clone()
    };
    let answer = present(&authority, &sign(json!({}))).await;
    let claims = claims(&authority, answer.text_of("access_token")).await;
    assert_eq!((&claims["sub"], &claims["client_id"]), (&json!("pod-1"), &json!("api")));
    for wrong in [
        json!({ "iss": "https://another.example" }),
        json!({ "aud": "https://another.example" }),
        json!({ "exp": 1 }),
    ] {
        let answer = present(&authority, &sign(wrong.clone())).await;
        assert_eq!(answer.error(), (400, "invalid_grant"), "{wrong}");
    }
    let twice = sign(json!({ "jti": "1" }));
    assert_eq!(present(&authority, &twice).await.status, 200);
    assert_eq!(present(&authority, &twice).await.error(), (400, "invalid_grant"));
}

/// Exchanges an ID token at the identity provider.
async fn exchange(
    provider: &AuthorizationServer,
    authority: &AuthorizationServer,
    changes: &[(&str, &str)],
) -> Answer {
    let id_token = provider.id_token("api", "ann");
    let members = [
        ("grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:id_token"),
        ("subject_token", &id_token),
        ("audience", authority.issuer()),
        ("resource", RESOURCE),
        ("scope", "mcp"),
        ("client_id", "api"),
        ("client_secret", "s3cret"),
    ];
    post(&provider.url(OAuthEndpoint::Token), &changed(&members, changes), &[]).await
}

#[tokio::test]
async fn an_enterprise_login_needs_no_consent() {
    let provider = AuthorizationServer::start().client(api()).await;
    let authority = AuthorizationServer::start().client(api()).trust(&provider).await;
    let answer = exchange(&provider, &authority, &[]).await;
    assert_eq!(answer.text_of("token_type"), "N_A");
    assert_eq!(answer.text_of("issued_token_type"), "urn:ietf:params:oauth:token-type:id-jag");
    let grant = answer.text_of("access_token");
    let mut body = claims(&provider, grant).await;
    for member in ["jti", "exp", "iat"] {
        assert!(!body[member].take().is_null(), "{member}");
    }
    let expected = json!({
        "iss": provider.issuer(), "sub": "ann", "aud": authority.issuer(), "client_id": "api",
        "resource": RESOURCE, "scope": "mcp", "jti": null, "exp": null, "iat": null,
    });
    assert_eq!(body, expected);

    let tokens = present(&authority, grant).await;
    let access = claims(&authority, tokens.text_of("access_token")).await;
    assert_eq!(access["sub"], "ann");
    assert_eq!((&access["aud"], &access["scope"]), (&json!([RESOURCE]), &json!("mcp")));
    assert_eq!(tokens.json.get("refresh_token"), None);
    assert_eq!(present(&authority, grant).await.error(), (400, "invalid_grant"));
}

#[tokio::test]
async fn a_grant_for_another_client_or_server_is_refused() {
    let provider = AuthorizationServer::start().client(api()).await;
    let authority = AuthorizationServer::start().client(api()).trust(&provider).await;
    let elsewhere = exchange(&provider, &provider, &[]).await;
    let refused = present(&authority, elsewhere.text_of("access_token")).await;
    assert_eq!(refused.error(), (400, "invalid_grant"));
    let now = authority.now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    for (client, id, expected) in [
        ("another", json!("1"), (400, "invalid_grant")),
        ("api", json!(null), (400, "invalid_grant")),
        ("api", json!("2"), (200, "")),
    ] {
        let grant = json!({
            "iss": provider.issuer(), "sub": "ann", "aud": authority.issuer(), "client_id": client,
            "resource": RESOURCE, "jti": id, "exp": now + 60, "iat": now,
        });
        let grant = provider.sign("oauth-id-jag+jwt", &grant);
        assert_eq!(present(&authority, &grant).await.error(), expected, "{client} {id}");
    }
}

#[tokio::test]
async fn an_exchange_needs_an_id_token_for_the_same_client() {
    let provider = AuthorizationServer::start().client(api()).await;
    let stranger = AuthorizationServer::start().await;
    let relabelled = json!({
        "iss": stranger.issuer(), "sub": "ann", "aud": "api", "exp": 99_999_999_999_u64,
    });
    for (member, value) in [
        ("subject_token", provider.id_token("another", "ann")),
        ("subject_token", stranger.id_token("api", "ann")),
        ("subject_token", provider.sign("JWT", &relabelled)),
        ("subject_token_type", "urn:ietf:params:oauth:token-type:saml2".to_owned()),
        ("requested_token_type", "urn:ietf:params:oauth:token-type:jwt".to_owned()),
        ("audience", String::new()),
        ("resource", String::new()),
    ] {
        let answer = exchange(&provider, &stranger, &[(member, &value)]).await;
        assert_eq!(answer.error(), (400, "invalid_request"), "{member}");
    }
}
