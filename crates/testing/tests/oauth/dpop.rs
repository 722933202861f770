//! Tokens that are bound to a key.

use std::time::{Duration, UNIX_EPOCH};

use bowline_auth::jose::sign::{EmbeddedKey, SigningKey};
use bowline_testing::oauth::{AuthorizationServer, DpopPolicy, Fault, OAuthEndpoint};
use serde_json::{Value, json};

use crate::app::{
    Answer, app, approve, changed, claims, log_in, post, redeem, redemption, renewal,
};

fn proof(authority: &AuthorizationServer, key: &SigningKey, changes: &Value) -> String {
    let now = authority.now().duration_since(UNIX_EPOCH).unwrap();
    let mut claims = json!({
        "htm": "POST", "htu": authority.url(OAuthEndpoint::Token), "iat": now.as_secs(),
        "jti": format!("{:?}", std::time::Instant::now()),
    });
    claims.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
    key.sign("dpop+jwt", EmbeddedKey::Present, &claims).unwrap().expose().clone()
}

/// Redeems a new code with proofs.
async fn log_in_with(authority: &AuthorizationServer, proofs: &[&str]) -> Answer {
    let back = approve(authority, &[]).await;
    redeem_with(authority, back.value("code").unwrap().unwrap(), proofs).await
}

async fn redeem_with(authority: &AuthorizationServer, code: &str, proofs: &[&str]) -> Answer {
    let headers: Vec<_> = proofs.iter().map(|proof| ("dpop", *proof)).collect();
    post(&authority.url(OAuthEndpoint::Token), &redemption(code), &headers).await
}

#[tokio::test]
async fn a_proof_binds_the_token_to_its_key() {
    let authority = AuthorizationServer::start().client(app()).await;
    let (key, _) = SigningKey::generate().unwrap();
    let tokens = log_in_with(&authority, &[&proof(&authority, &key, &json!({}))]).await;
    assert_eq!(tokens.text_of("token_type"), "DPoP");
    assert_eq!(tokens.header("dpop-nonce"), None, "proofs need no nonce");
    let claims = claims(&authority, tokens.text_of("access_token")).await;
    assert_eq!(claims["cnf"]["jkt"], key.public().thumbprint());
    assert_eq!(log_in(&authority, &[]).await.text_of("token_type"), "Bearer");
}

#[tokio::test]
async fn the_refresh_token_of_a_public_client_is_bound_too() {
    let authority = AuthorizationServer::start().client(app()).without_rotation().await;
    let (key, _) = SigningKey::generate().unwrap();
    let (other, _) = SigningKey::generate().unwrap();
    let tokens = log_in_with(&authority, &[&proof(&authority, &key, &json!({}))]).await;
    let members = renewal(tokens.text_of("refresh_token"));
    let url = authority.url(OAuthEndpoint::Token);
    let refused = (400, "invalid_dpop_proof");
    assert_eq!(post(&url, &members, &[]).await.error(), refused);
    let foreign = proof(&authority, &other, &json!({}));
    assert_eq!(post(&url, &members, &[("dpop", &foreign)]).await.error(), refused);
    let own = proof(&authority, &key, &json!({}));
    assert_eq!(post(&url, &members, &[("dpop", &own)]).await.text_of("token_type"), "DPoP");
}

#[tokio::test]
async fn a_wrong_proof_is_refused() {
    let authority = AuthorizationServer::start().client(app()).dpop(DpopPolicy::Required).await;
    let (key, _) = SigningKey::generate().unwrap();
    let refused = (400, "invalid_dpop_proof");
    let now = authority.now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    for wrong in [
        json!({ "htm": "GET" }),
        json!({ "htu": authority.issuer() }),
        json!({ "iat": now - 120 }),
        json!({ "iat": now + 120 }),
        json!({ "jti": null }),
    ] {
        let answer = log_in_with(&authority, &[&proof(&authority, &key, &wrong)]).await;
        assert_eq!(answer.error(), refused, "{wrong}");
    }
    let two = [proof(&authority, &key, &json!({})), proof(&authority, &key, &json!({}))];
    assert_eq!(log_in_with(&authority, &[&two[0], &two[1]]).await.error(), refused);
    assert_eq!(log_in_with(&authority, &[]).await.error(), refused, "a proof is required");
    let claims = json!({ "htm": "POST", "htu": "x", "iat": now, "jti": "1" });
    let plain = key.sign("JWT", EmbeddedKey::Present, &claims).unwrap();
    assert_eq!(log_in_with(&authority, &[plain.expose()]).await.error(), refused);
    let keyless = key.sign("dpop+jwt", EmbeddedKey::Absent, &claims).unwrap();
    assert_eq!(log_in_with(&authority, &[keyless.expose()]).await.error(), refused);
}

#[tokio::test]
async fn a_proof_works_once() {
    let authority = AuthorizationServer::start().client(app()).await;
    let (key, _) = SigningKey::generate().unwrap();
    let proof = proof(&authority, &key, &json!({}));
    assert_eq!(log_in_with(&authority, &[&proof]).await.status, 200);
    assert_eq!(log_in_with(&authority, &[&proof]).await.error(), (400, "invalid_dpop_proof"));
    authority.advance(Duration::from_secs(61));
    assert_eq!(log_in_with(&authority, &[&proof]).await.error(), (400, "invalid_dpop_proof"));
}

#[tokio::test]
async fn the_server_can_demand_a_nonce() {
    let authority = AuthorizationServer::start().client(app()).dpop_nonces().await;
    let (key, _) = SigningKey::generate().unwrap();
    let back = approve(&authority, &[]).await;
    let code = back.value("code").unwrap().unwrap();
    let first = redeem_with(&authority, code, &[&proof(&authority, &key, &json!({}))]).await;
    assert_eq!(first.error(), (400, "use_dpop_nonce"));
    let nonce = json!({ "nonce": first.header("dpop-nonce").unwrap() });
    let second = redeem_with(&authority, code, &[&proof(&authority, &key, &nonce)]).await;
    assert_eq!(second.status, 200, "the code is still good");
    assert_eq!(second.header("dpop-nonce"), first.header("dpop-nonce"));
    authority.rotate_nonce();
    let stale = log_in_with(&authority, &[&proof(&authority, &key, &nonce)]).await;
    assert_eq!(stale.error(), (400, "use_dpop_nonce"));
}

#[tokio::test]
async fn endless_nonces_never_end() {
    let authority = AuthorizationServer::start().client(app()).fault(Fault::EndlessNonces).await;
    let (key, _) = SigningKey::generate().unwrap();
    let mut nonce = json!({});
    for _ in 0..3 {
        let answer = log_in_with(&authority, &[&proof(&authority, &key, &nonce)]).await;
        assert_eq!(answer.error(), (400, "use_dpop_nonce"));
        nonce = json!({ "nonce": answer.header("dpop-nonce").unwrap() });
    }
}

#[tokio::test]
async fn a_code_can_be_bound_to_a_key_from_the_beginning() {
    let authority = AuthorizationServer::start().client(app()).await;
    let (key, _) = SigningKey::generate().unwrap();
    let bound = changed(&[], &[("dpop_jkt", "another-thumbprint")]);
    let back = approve(&authority, &bound).await;
    let code = back.value("code").unwrap().unwrap();
    let answer = redeem_with(&authority, code, &[&proof(&authority, &key, &json!({}))]).await;
    assert_eq!(answer.error(), (400, "invalid_dpop_proof"));
}

#[tokio::test]
async fn a_server_without_dpop_ignores_proofs() {
    let authority = AuthorizationServer::start().client(app()).dpop(DpopPolicy::Ignored).await;
    let back = approve(&authority, &[]).await;
    let code = back.value("code").unwrap().unwrap();
    let answer = redeem_with(&authority, code, &["nonsense"]).await;
    assert_eq!(answer.text_of("token_type"), "Bearer");
    let again = redeem(&authority, code, &[]).await;
    assert_eq!(again.error(), (400, "invalid_grant"));
}
