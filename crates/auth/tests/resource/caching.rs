//! Verdicts about tokens are kept, but not too long.

use bowline_auth::jose::jws::Algorithm;
use bowline_auth::resource::{Admission, Denied, Jwt, Presented, verify_fn};
use bowline_proto::request::Claims;
use serde_json::json;

use super::authority::{
    ISSUER, Network, RESOURCE, at, bearer, claims, jwk, key, outcome, sign, status, with,
};

#[tokio::test]
async fn a_verified_token_is_refused_once_it_expires() {
    let key = key(Algorithm::Es256);
    let network = Network::with_keys(&[jwk(&key, json!({"kid": "ES256"}))]);
    let jwt = Jwt::issuer(ISSUER).audience(RESOURCE);
    let admission = Admission::new(RESOURCE, jwt, network).unwrap();
    let token = sign(&key, &claims());
    for (second, expected) in
        [(0, 200), (1, 200), (3599, 200), (3600, 200), (3659, 200), (3660, 401), (9999, 401)]
    {
        assert_eq!(status(&admission, &token, at(second)).await, expected, "{second}");
    }
}

#[tokio::test]
async fn a_verified_token_is_not_verified_again() {
    let key = key(Algorithm::Es256);
    let network = Network::with_keys(&[jwk(&key, json!({"kid": "ES256"}))]);
    let jwt = Jwt::issuer(ISSUER).audience(RESOURCE);
    let admission = Admission::new(RESOURCE, jwt, network).unwrap();
    let token = |id: &str| sign(&key, &with(json!({"nbf": 1_700_000_100, "jti": id})));
    let [first, second] = ["1", "2"].map(token);
    assert_eq!(status(&admission, &first, at(100)).await, 200);
    // The clock was set back, to a time when the tokens are not valid yet.
    assert_eq!(status(&admission, &first, at(0)).await, 200);
    assert_eq!(status(&admission, &second, at(0)).await, 401);
}

#[tokio::test]
async fn a_verified_token_does_not_vouch_for_another() {
    let key = key(Algorithm::Es256);
    let network = Network::with_keys(&[jwk(&key, json!({"kid": "ES256"}))]);
    let jwt = Jwt::issuer(ISSUER).audience(RESOURCE);
    let admission = Admission::new(RESOURCE, jwt, network).unwrap();
    let token = sign(&key, &claims());
    assert_eq!(status(&admission, &token, at(0)).await, 200);
    let (rest, _signature) = token.rsplit_once('.').unwrap();
    let other = sign(&key, &json!({}));
    let changed = format!("{rest}.{}", other.rsplit_once('.').unwrap().1);
    assert_eq!(status(&admission, &changed, at(0)).await, 401);
}

#[tokio::test]
async fn a_function_verifies_tokens() {
    let verify = verify_fn(ISSUER, |token: Presented| async move {
        match token.expose() {
            "good" => Ok(Claims::new(ISSUER, "ann").scopes(["mcp"])),
            "later" => Err(Denied::Unavailable),
            _ => Err(Denied::Expired),
        }
    });
    let admission =
        Admission::new(RESOURCE, verify.require_scope("mcp"), Network::with_keys(&[])).unwrap();
    let mut found = Vec::new();
    for token in ["good", "later", "bad"] {
        found.push(outcome(&admission.admit(&bearer(token), at(0)).await).0);
    }
    assert_eq!(found, [200, 503, 401]);
    let later = admission.admit(&bearer("later"), at(0)).await.unwrap_err();
    assert_eq!(later.headers()["retry-after"], "5");
    assert!(!later.headers().contains_key("www-authenticate"));
    let bad = admission.admit(&bearer("bad"), at(0)).await.unwrap_err();
    assert!(!bad.headers().contains_key("retry-after"));
    assert_eq!(bad.reason, Denied::Expired.to_string());
}
