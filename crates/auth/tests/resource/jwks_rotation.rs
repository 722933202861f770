//! Keys that change, vanish or cannot be fetched.

use std::sync::Arc;
use std::time::Duration;

use bowline_auth::jose::jws::Algorithm;
use bowline_auth::jose::sign::SigningKey;
use bowline_auth::resource::{Admission, Jwt};
use bowline_auth::url::Url;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::authority::{
    ISSUER, JWKS, METADATA, Network, RESOURCE, at, claims, jwk, key, sign, status, with,
};

const DAY: u64 = 24 * 60 * 60;

/// A key with an id, and a good token that it signed. The token is valid for a month.
fn pair(id: &str) -> (Value, String) {
    let key = SigningKey::generate().unwrap().0.with_id(id);
    (jwk(&key, json!({"kid": id})), sign(&key, &with(json!({"exp": 1_700_000_000 + 30 * DAY}))))
}

fn admission(network: &Arc<Network>) -> Admission {
    let network = Arc::clone(network);
    Admission::new(RESOURCE, Jwt::issuer(ISSUER).audience(RESOURCE), network).unwrap()
}

/// A token that names a key which does not exist.
fn stray(id: &str) -> String {
    sign(&key(Algorithm::Es256).with_id(id), &claims())
}

#[tokio::test]
async fn jwks_rotation_takes_up_a_new_key_and_drops_the_old_one() {
    let ((old_key, old), (new_key, new)) = (pair("old"), pair("new"));
    let network = Network::with_keys(std::slice::from_ref(&old_key));
    let admission = admission(&network);
    assert_eq!(status(&admission, &old, at(0)).await, 200);
    assert_eq!(network.asked(), [METADATA, JWKS]);
    network.serve(JWKS, &json!({"keys": [old_key, new_key]}), "");
    assert_eq!(status(&admission, &new, at(31)).await, 200);
    assert_eq!(network.asked(), [JWKS]);
    assert_eq!(status(&admission, &old, at(32)).await, 200);
    network.serve(JWKS, &json!({"keys": [new_key]}), "");
    // The old token was verified before, and its verdict is forgotten with the old keys.
    assert_eq!(status(&admission, &old, at(32 + 300)).await, 401);
    assert_eq!(status(&admission, &new, at(33 + 300)).await, 200);
    assert_eq!(network.asked(), [JWKS]);
}

// spec: AUTH-8
#[tokio::test]
async fn keys_that_came_in_plain_http_are_not_trusted() {
    let (key, token) = pair("a");
    let plain = "http://as.example/jwks";
    let network = Network::with_keys(&[]);
    network.serve(METADATA, &json!({"issuer": ISSUER, "jwks_uri": plain}), "");
    network.serve(plain, &json!({"keys": [key]}), "");
    assert_eq!(status(&admission(&network), &token, at(0)).await, 503);
    let configured = Jwt::issuer(ISSUER).audience(RESOURCE).jwks_uri(Url::parse(plain).unwrap());
    let configured = Admission::new(RESOURCE, configured, Arc::clone(&network) as _).unwrap();
    assert_eq!(status(&configured, &token, at(0)).await, 503);
    assert_eq!(network.asked(), [METADATA]);
}

#[tokio::test]
async fn jwks_rotation_fetches_at_first_use_only() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    let admission = admission(&network);
    assert_eq!(network.asked(), [""; 0]);
    for second in 0..270 {
        assert_eq!(status(&admission, &token, at(second)).await, 200);
    }
    assert_eq!(network.asked(), [METADATA, JWKS]);
}

#[tokio::test]
async fn jwks_rotation_clamps_the_age_of_keys() {
    let (key, token) = pair("a");
    for (cache_control, fresh) in [
        ("max-age=0", 300),
        ("no-store", 300),
        ("max-age=1", 300),
        ("", 300),
        ("max-age=3600", 3600),
        ("max-age=999999999", DAY),
    ] {
        let network = Network::with_keys(&[]);
        network.serve(JWKS, &json!({"keys": [key]}), cache_control);
        let admission = admission(&network);
        status(&admission, &token, at(0)).await;
        network.asked();
        status(&admission, &token, at(fresh - 31)).await;
        assert_eq!(network.asked(), [""; 0], "{cache_control}");
        status(&admission, &token, at(fresh)).await;
        assert_eq!(network.asked(), [JWKS], "{cache_control}");
    }
}

#[tokio::test]
async fn jwks_rotation_fetches_for_unknown_ids_once_in_30_seconds() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    network.serve(JWKS, &json!({"keys": []}), "max-age=3600");
    let admission = admission(&network);
    status(&admission, &token, at(0)).await;
    network.asked();
    // A flood of tokens, each with another id.
    for second in 0..120 {
        for n in 0..20 {
            assert_eq!(status(&admission, &stray(&format!("{second}-{n}")), at(second)).await, 401);
        }
    }
    assert_eq!(network.asked(), [JWKS; 3]);
}

#[tokio::test]
async fn jwks_rotation_remembers_an_unknown_id_for_a_minute() {
    let network = Network::with_keys(&[]);
    network.serve(JWKS, &json!({"keys": []}), "max-age=3600");
    let admission = admission(&network);
    for (second, asked) in [(0, 2), (1, 0), (31, 0), (59, 0), (60, 1), (61, 0), (119, 0), (120, 1)]
    {
        assert_eq!(status(&admission, &stray("x"), at(second)).await, 401);
        assert_eq!(network.asked().len(), asked, "{second}");
    }
    assert_eq!(status(&admission, &stray(&"x".repeat(257)), at(1000)).await, 401);
    assert_eq!(network.asked(), [""; 0]);
}

#[tokio::test]
async fn jwks_rotation_uses_old_keys_for_a_day_if_fetching_fails() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    let admission = admission(&network);
    assert_eq!(status(&admission, &token, at(0)).await, 200);
    network.cut(JWKS);
    network.cut(METADATA);
    assert_eq!(status(&admission, &token, at(300 + DAY - 1)).await, 200);
    assert_eq!(status(&admission, &token, at(300 + DAY + 30)).await, 503);
}

#[tokio::test]
async fn jwks_rotation_pauses_after_a_failure() {
    let (key, token) = pair("a");
    let network = Network::with_keys(std::slice::from_ref(&key));
    network.fail(JWKS, StatusCode::INTERNAL_SERVER_ERROR);
    let admission = admission(&network);
    assert_eq!(status(&admission, &token, at(0)).await, 503);
    network.serve(JWKS, &json!({"keys": [key]}), "");
    assert_eq!(network.asked(), [METADATA, JWKS]);
    assert_eq!(status(&admission, &token, at(29)).await, 503);
    assert_eq!(network.asked(), [""; 0]);
    assert_eq!(status(&admission, &token, at(30)).await, 200);
    assert_eq!(network.asked(), [METADATA, JWKS]);
}

#[tokio::test]
async fn jwks_rotation_asks_for_the_address_again_after_a_failure() {
    let (key, token) = pair("a");
    let network = Network::with_keys(std::slice::from_ref(&key));
    let admission = admission(&network);
    assert_eq!(status(&admission, &token, at(0)).await, 200);
    network.fail(JWKS, StatusCode::NOT_FOUND);
    let moved = "https://as.example/keys";
    network.serve(METADATA, &json!({"issuer": ISSUER, "jwks_uri": moved}), "");
    network.serve(moved, &json!({"keys": [key]}), "");
    network.asked();
    assert_eq!(status(&admission, &token, at(300)).await, 200);
    assert_eq!(status(&admission, &token, at(330)).await, 200);
    assert_eq!(network.asked(), [JWKS, METADATA, moved]);
}

#[tokio::test]
async fn jwks_rotation_has_one_flight() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    let gate = network.hold();
    let admission = Arc::new(admission(&network));
    let calls: Vec<_> = (0..50)
        .map(|_| {
            let (admission, token) = (Arc::clone(&admission), token.clone());
            tokio::spawn(async move { status(&admission, &token, at(0)).await })
        })
        .collect();
    while network.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    gate.add_permits(100);
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
    assert_eq!(network.asked(), [JWKS]);
}

#[tokio::test]
async fn jwks_rotation_does_not_wait_for_a_slow_server_while_old_keys_serve() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    let admission = Arc::new(admission(&network));
    assert_eq!(status(&admission, &token, at(0)).await, 200);
    network.asked();
    let gate = network.hold();
    let (slow_admission, slow_token) = (Arc::clone(&admission), token.clone());
    let slow = tokio::spawn(async move { status(&slow_admission, &slow_token, at(400)).await });
    while network.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(status(&admission, &token, at(400)).await, 200);
    gate.add_permits(1);
    assert_eq!(slow.await.unwrap(), 200);
}

/// Traffic so sparse that no request comes while the keys are about to age.
#[tokio::test(start_paused = true)]
async fn jwks_rotation_makes_no_caller_wait_long_while_old_keys_serve() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    let admission = admission(&network);
    assert_eq!(status(&admission, &token, at(0)).await, 200);
    network.asked();
    // The authorization server answers nothing any more.
    let _gate = network.hold();
    for second in [400, 500, 3600, DAY] {
        let begin = tokio::time::Instant::now();
        let answer = timeout(Duration::from_secs(100), status(&admission, &token, at(second)));
        assert_eq!(answer.await, Ok(200), "{second}");
        assert!(begin.elapsed() <= Duration::from_secs(1), "{second}: {:?}", begin.elapsed());
    }
    assert_eq!(network.asked(), [JWKS]);
}

#[tokio::test(start_paused = true)]
async fn jwks_rotation_under_steady_use_makes_no_caller_wait() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    let admission = admission(&network);
    assert_eq!(status(&admission, &token, at(0)).await, 200);
    network.asked();
    // The authorization server does not answer for a while.
    let gate = network.hold();
    for second in 1..310 {
        let answer = timeout(Duration::from_secs(1), status(&admission, &token, at(second))).await;
        assert_eq!(answer, Ok(200), "{second}");
        tokio::task::yield_now().await;
    }
    assert_eq!(network.asked(), [JWKS]);
    gate.add_permits(1);
    tokio::task::yield_now().await;
    assert_eq!(status(&admission, &token, at(500)).await, 200);
    assert_eq!(network.asked(), [""; 0]);
}

#[tokio::test]
async fn jwks_rotation_survives_a_caller_that_goes_away() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    let gate = network.hold();
    let admission = Arc::new(admission(&network));
    let (first, first_token) = (Arc::clone(&admission), token.clone());
    let leader = tokio::spawn(async move { status(&first, &first_token, at(0)).await });
    while network.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    let (second, second_token) = (Arc::clone(&admission), token.clone());
    let follower = tokio::spawn(async move { status(&second, &second_token, at(0)).await });
    tokio::task::yield_now().await;
    leader.abort();
    assert!(leader.await.unwrap_err().is_cancelled());
    gate.add_permits(10);
    assert_eq!(follower.await.unwrap(), 200);
}

#[tokio::test]
async fn callers_that_hang_up_do_not_make_the_keys_be_fetched_again_and_again() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    let gate = network.hold();
    let admission = Arc::new(admission(&network));
    let mut asked = Vec::new();
    for _ in 0..10 {
        let (admission, token) = (Arc::clone(&admission), token.clone());
        let caller = tokio::spawn(async move { status(&admission, &token, at(0)).await });
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        asked.extend(network.asked());
    }
    assert_eq!(asked, [METADATA]);
    gate.add_permits(10);
    assert_eq!(status(&admission, &token, at(0)).await, 200);
    assert_eq!(network.asked(), [JWKS]);
}

#[tokio::test]
async fn a_set_that_is_too_large_or_malformed_counts_as_a_failure() {
    let (key, token) = pair("a");
    for body in [json!({"keys": vec![key.clone(); 101]}), json!({"keys": 7}), json!([])] {
        let network = Network::with_keys(&[]);
        network.serve(JWKS, &body, "");
        assert_eq!(status(&admission(&network), &token, at(0)).await, 503);
    }
}

#[tokio::test]
async fn metadata_of_another_issuer_is_not_used() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    network.serve(METADATA, &json!({"issuer": "https://as.example/", "jwks_uri": JWKS}), "");
    assert_eq!(status(&admission(&network), &token, at(0)).await, 503);
    // It does not look for a second opinion.
    assert_eq!(network.asked(), [METADATA]);
}

#[tokio::test]
async fn metadata_is_found_where_openid_connect_has_it() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    network.fail(METADATA, StatusCode::NOT_FOUND);
    let openid = "https://as.example/.well-known/openid-configuration";
    network.serve(openid, &json!({"issuer": ISSUER, "jwks_uri": JWKS}), "");
    assert_eq!(status(&admission(&network), &token, at(0)).await, 200);
    assert_eq!(network.asked(), [METADATA, openid, JWKS]);
}

#[tokio::test]
async fn keys_can_be_configured() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[]);
    let address = "https://keys.example/a";
    network.serve(address, &json!({"keys": [key]}), "");
    let by_address = Jwt::issuer(ISSUER).audience(RESOURCE).jwks_uri(Url::parse(address).unwrap());
    let by_address = Admission::new(RESOURCE, by_address, Arc::clone(&network) as _).unwrap();
    assert_eq!(status(&by_address, &token, at(0)).await, 200);
    assert_eq!(network.asked(), [address]);
    let set = bowline_auth::jose::jwk::JwkSet::parse(&json!({"keys": [key]}).to_string()).unwrap();
    let fixed = Jwt::issuer(ISSUER).audience(RESOURCE).keys(set);
    let fixed = Admission::new(RESOURCE, fixed, Arc::clone(&network) as _).unwrap();
    assert_eq!(status(&fixed, &token, at(0)).await, 200);
    assert_eq!(status(&fixed, &stray("x"), at(0) + Duration::from_secs(99)).await, 401);
    assert_eq!(network.asked(), [""; 0]);
}

#[tokio::test]
async fn the_operator_learns_why_keys_cannot_be_fetched() {
    let (key, token) = pair("a");
    let network = Network::with_keys(&[key]);
    let (sender, reasons) = std::sync::mpsc::channel();
    let jwt = Jwt::issuer(ISSUER).audience(RESOURCE);
    let jwt = jwt.on_unavailable(move |error| sender.send(error.to_string()).unwrap());
    let admission = Admission::new(RESOURCE, jwt, network.clone()).unwrap();
    assert_eq!(status(&admission, &token, at(0)).await, 200);
    network.fail(JWKS, StatusCode::INTERNAL_SERVER_ERROR);
    // Old keys are used.
    assert_eq!(status(&admission, &token, at(300)).await, 200);
    let failed = "the answer has the status 500 Internal Server Error";
    assert_eq!(reasons.try_iter().collect::<Vec<_>>(), [failed]);
    // Nothing is fetched so soon after.
    assert_eq!(status(&admission, &token, at(301)).await, 200);
    assert_eq!(reasons.try_iter().count(), 0);
}
