//! Tokens that the authorization server is asked about.

use std::sync::Arc;

use bowline_auth::resource::introspect::MOST_QUESTIONS;
use bowline_auth::resource::{Admission, Introspection};
use bowline_auth::url::Url;
use http::StatusCode;
use serde_json::{Value, json};

use super::authority::{ISSUER, METADATA, Network, RESOURCE, at, bearer, status, with};

const ENDPOINT: &str = "https://as.example/introspect";

fn introspection() -> Introspection {
    Introspection::issuer(ISSUER).client("ap i", "s:é").audience(RESOURCE)
}

fn network(answer: &Value) -> Arc<Network> {
    let network = Network::with_keys(&[]);
    network.serve(METADATA, &json!({"issuer": ISSUER, "introspection_endpoint": ENDPOINT}), "");
    network.serve(ENDPOINT, answer, "");
    network
}

fn admission(network: &Arc<Network>) -> Admission {
    Admission::new(RESOURCE, introspection(), Arc::clone(network) as _).unwrap()
}

fn active(changes: Value) -> Value {
    let mut answer = with(changes);
    answer["active"] = json!(true);
    answer
}

// spec: TOK-4, TOK-5
#[tokio::test]
async fn the_answer_of_the_authorization_server_counts() {
    for (answer, expected) in [
        (active(json!({})), 200),
        (active(json!({"iss": null, "exp": null, "nbf": null})), 200),
        (active(json!({"aud": ["https://other.example", RESOURCE]})), 200),
        (json!({"active": false}), 401),
        (inactive(), 401),
        (active(json!({"aud": null})), 401),
        (active(json!({"aud": "https://other.example"})), 401),
        (active(json!({"iss": "https://evil.example"})), 401),
        (active(json!({"exp": 1_699_999_000})), 401),
        (active(json!({"nbf": 1_700_001_000})), 401),
        (active(json!({"sub": null, "client_id": null})), 401),
        (active(json!({"cnf": {"jkt": "x"}})), 401),
        (claims_without_verdict(), 503),
        (json!({"active": "true"}), 503),
        (json!([true]), 503),
    ] {
        let network = network(&answer);
        assert_eq!(status(&admission(&network), "opaque", at(0)).await, expected, "{answer}");
    }
}

/// All claims of a good token, which was revoked.
fn inactive() -> Value {
    let mut answer = active(json!({}));
    answer["active"] = json!(false);
    answer
}

fn claims_without_verdict() -> Value {
    with(json!({}))
}

#[tokio::test]
async fn the_question_carries_basic_credentials_and_the_token() {
    let network = network(&active(json!({})));
    let caller = admission(&network).admit(&bearer("opaque+/="), at(0)).await.unwrap();
    assert_eq!(caller.owner.identity(), Some((ISSUER, "ann")));
    let requests = network.requests();
    let [(metadata, ..), (url, headers, body)] = requests.as_slice() else {
        panic!("{requests:?}")
    };
    assert_eq!((metadata.as_str(), url.as_str()), (METADATA, ENDPOINT));
    assert_eq!(body, "token=opaque%2B%2F%3D&token_type_hint=access_token");
    // `ap+i:s%3A%C3%A9` in base64.
    assert_eq!(headers["authorization"], "Basic YXAraTpzJTNBJUMzJUE5");
    assert!(headers["authorization"].is_sensitive());
    let shown = format!("{:?}", introspection());
    assert!(shown.starts_with("Introspection(") && !shown.contains("s:é"), "{shown}");
}

#[tokio::test]
async fn verdicts_are_kept_for_a_while() {
    let network = network(&active(json!({"exp": 1_700_000_100})));
    let admission = admission(&network);
    // Kept for 60 seconds, and never beyond the expiry.
    for (second, asked) in [(0, 2), (59, 0), (60, 1), (99, 0), (100, 1)] {
        assert_eq!(status(&admission, "a", at(second)).await, 200);
        assert_eq!(network.asked().len(), asked, "{second}");
    }
    network.serve(ENDPOINT, &json!({"active": false}), "");
    for (second, asked) in [(0, 1), (4, 0), (5, 1)] {
        assert_eq!(status(&admission, "b", at(second)).await, 401);
        assert_eq!(network.asked().len(), asked, "{second}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_authorization_server_that_cannot_be_asked_makes_the_resource_unavailable() {
    let network = network(&active(json!({})));
    let admission = admission(&network);
    for failure in
        [StatusCode::UNAUTHORIZED, StatusCode::INTERNAL_SERVER_ERROR, StatusCode::NOT_FOUND]
    {
        network.fail(ENDPOINT, failure);
        assert_eq!(status(&admission, "a", at(0)).await, 503);
    }
    network.cut(ENDPOINT);
    assert_eq!(status(&admission, "a", at(0)).await, 503);
    // No failure is kept beyond the pause, and the endpoint may have moved.
    let moved = "https://as.example/moved";
    network.serve(METADATA, &json!({"issuer": ISSUER, "introspection_endpoint": moved}), "");
    network.serve(moved, &active(json!({})), "");
    assert_eq!(status(&admission, "a", at(5)).await, 200);
}

#[tokio::test(start_paused = true)]
async fn an_authorization_server_that_is_down_is_asked_once_in_a_pause() {
    let down = [None, Some(503), Some(502), Some(504), Some(429)];
    for failure in down.map(|code| code.map(|code| StatusCode::from_u16(code).unwrap())) {
        let network = network(&active(json!({})));
        let admission = admission(&network);
        assert_eq!(status(&admission, "known", at(0)).await, 200);
        network.asked();
        match failure {
            Some(failure) => network.fail(ENDPOINT, failure),
            None => network.cut(ENDPOINT),
        }
        for (second, asked) in [(1, 1), (1, 0), (5, 0), (6, 1), (10, 0)] {
            let token = format!("new{second}");
            assert_eq!(status(&admission, &token, at(second)).await, 503, "{second}");
            let endpoint = network.asked().iter().filter(|url| *url == ENDPOINT).count();
            assert_eq!(endpoint, asked, "{failure:?} {second}");
        }
        // A token that was asked about before is still known.
        assert_eq!(status(&admission, "known", at(10)).await, 200);
        network.serve(ENDPOINT, &active(json!({})), "");
        for token in ["x", "y", "z"] {
            assert_eq!(status(&admission, token, at(11)).await, 200);
        }
    }
}

#[tokio::test]
async fn an_answer_that_may_be_about_one_token_shuts_out_no_other() {
    for failure in [StatusCode::BAD_REQUEST, StatusCode::INTERNAL_SERVER_ERROR] {
        let network = network(&active(json!({})));
        let admission = admission(&network);
        network.fail(ENDPOINT, failure);
        assert_eq!(status(&admission, "evil", at(0)).await, 503);
        network.serve(ENDPOINT, &active(json!({})), "");
        assert_eq!(status(&admission, "good", at(0)).await, 200);
    }
}

// spec: AUTH-8
#[tokio::test]
async fn neither_token_nor_secret_is_sent_in_plain_http() {
    let plain = "http://as.example/introspect";
    let network = network(&active(json!({})));
    network.serve(METADATA, &json!({"issuer": ISSUER, "introspection_endpoint": plain}), "");
    network.serve(plain, &active(json!({})), "");
    assert_eq!(status(&admission(&network), "a", at(0)).await, 503);
    let configured = introspection().endpoint(Url::parse(plain).unwrap());
    let configured = Admission::new(RESOURCE, configured, Arc::clone(&network) as _).unwrap();
    assert_eq!(status(&configured, "a", at(0)).await, 503);
    assert_eq!(network.asked(), [METADATA]);
}

#[tokio::test]
async fn verdicts_are_bounded_by_the_bytes_of_the_answers() {
    let network = network(&active(json!({"pad": "a".repeat(1024 * 1024)})));
    let admission = admission(&network);
    for n in 0..20 {
        assert_eq!(status(&admission, &format!("token{n}"), at(0)).await, 200);
    }
    network.asked();
    status(&admission, "token19", at(0)).await;
    assert_eq!(network.asked(), [""; 0]);
    status(&admission, "token0", at(0)).await;
    assert_eq!(network.asked(), [ENDPOINT]);
}

#[tokio::test]
async fn the_endpoint_can_be_configured() {
    let network = network(&active(json!({})));
    network.cut(METADATA);
    let endpoint = Url::parse(ENDPOINT).unwrap();
    let admission =
        Admission::new(RESOURCE, introspection().endpoint(endpoint), Arc::clone(&network) as _)
            .unwrap();
    assert_eq!(status(&admission, "a", at(0)).await, 200);
    assert_eq!(network.asked(), [ENDPOINT]);
}

#[tokio::test]
async fn another_name_of_the_resource_is_accepted_where_it_is_configured() {
    let network = network(&active(json!({"aud": "api://default"})));
    assert_eq!(status(&admission(&network), "a", at(0)).await, 401);
    let named = introspection().audience("api://default");
    let named = Admission::new(RESOURCE, named, Arc::clone(&network) as _).unwrap();
    assert_eq!(status(&named, "a", at(0)).await, 200);
    assert!(named.document().is_some());
}

#[tokio::test]
async fn questions_are_bounded() {
    let network = network(&active(json!({})));
    let endpoint = Url::parse(ENDPOINT).unwrap();
    let admission =
        Admission::new(RESOURCE, introspection().endpoint(endpoint), Arc::clone(&network) as _);
    let admission = Arc::new(admission.unwrap());
    let gate = network.hold();
    let calls: Vec<_> = (0..MOST_QUESTIONS)
        .map(|n| {
            let admission = Arc::clone(&admission);
            tokio::spawn(async move { status(&admission, &n.to_string(), at(0)).await })
        })
        .collect();
    let mut asked = 0;
    while asked < MOST_QUESTIONS {
        asked += network.asked().len();
        tokio::task::yield_now().await;
    }
    assert_eq!(status(&admission, "more", at(0)).await, 503);
    gate.add_permits(MOST_QUESTIONS);
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
}

#[tokio::test]
async fn the_operator_learns_why_the_authorization_server_has_no_answer() {
    let network = network(&json!({"active": "true"}));
    let (sender, reasons) = std::sync::mpsc::channel();
    let report = move |error: &bowline_auth::error::Error| {
        sender.send(error.to_string()).unwrap();
    };
    let settings = introspection().on_unavailable(report);
    let admission = Admission::new(RESOURCE, settings, Arc::clone(&network) as _).unwrap();
    assert_eq!(status(&admission, "a", at(0)).await, 503);
    assert!(reasons.recv().unwrap().starts_with("the answer about a token: "));
    network.fail(ENDPOINT, StatusCode::UNAUTHORIZED);
    assert_eq!(status(&admission, "a", at(0)).await, 503);
    assert_eq!(reasons.recv().unwrap(), "the answer has the status 401 Unauthorized");
}
