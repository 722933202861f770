//! Tokens that the authorization server is asked about.

use std::sync::Arc;

use bowline_auth::resource::questions::{
    MOST_QUESTIONS, MOST_QUESTIONS_OF_ADDRESS, MOST_TOKENS_OF_ADDRESS,
};
use bowline_auth::resource::{Admission, Introspection};
use bowline_auth::url::Url;
use bowline_proto::request::Peer;
use http::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::authority::{ISSUER, METADATA, Network, RESOURCE, at, bearer, outcome, status, with};

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

/// A server whose authorization server answers nothing until the gate has permits, after `good` was
/// accepted.
async fn held() -> (Arc<Network>, Arc<Admission>, Arc<Semaphore>) {
    let network = network(&active(json!({})));
    let admission = Arc::new(admission(&network));
    assert_eq!(status(&admission, "good", at(0)).await, 200);
    network.asked();
    let gate = network.hold();
    (network, admission, gate)
}

/// Sends so many made-up tokens from an address, and waits until `asked` of them are asked about.
async fn flood(
    (network, admission): (&Arc<Network>, &Arc<Admission>),
    from: Option<Peer>,
    (count, asked): (usize, usize),
) -> Vec<JoinHandle<u16>> {
    let call = |n| {
        let admission = Arc::clone(admission);
        tokio::spawn(async move { status_from(&admission, &format!("made-up-{n}"), from).await })
    };
    let calls = (0..count).map(call).collect();
    let mut found = 0;
    while found < asked {
        found += network.asked().len();
        tokio::task::yield_now().await;
    }
    calls
}

async fn status_from(admission: &Admission, token: &str, from: Option<Peer>) -> u16 {
    let mut head = bearer(token);
    if let Some(peer) = from {
        head.extensions.insert(peer);
    }
    outcome(&admission.admit(&head, at(61)).await).0
}

#[tokio::test(start_paused = true)]
async fn questions_are_bounded_and_a_token_without_a_turn_is_refused_after_a_while() {
    let (network, admission, gate) = held().await;
    let calls = flood((&network, &admission), None, (MOST_QUESTIONS, MOST_QUESTIONS)).await;
    assert_eq!(status(&admission, "more", at(0)).await, 503);
    assert_eq!(network.asked(), [""; 0]);
    let waiting = flood((&network, &admission), None, (1, 0)).await;
    tokio::task::yield_now().await;
    gate.add_permits(MOST_QUESTIONS + 1);
    for call in calls.into_iter().chain(waiting) {
        assert_eq!(call.await.unwrap(), 200);
    }
}

/// Asks about a token in a task.
fn spawn_status(
    admission: &Arc<Admission>,
    token: &'static str,
    from: Option<Peer>,
) -> JoinHandle<u16> {
    let admission = Arc::clone(admission);
    tokio::spawn(async move { status_from(&admission, token, from).await })
}

#[tokio::test(start_paused = true)]
async fn made_up_tokens_of_one_address_do_not_keep_others_out() {
    let (network, admission, gate) = held().await;
    let [attacker, other] = [[192, 0, 2, 1], [192, 0, 2, 2]].map(|it| Some(Peer(it.into())));
    let count = (2 * MOST_QUESTIONS, MOST_QUESTIONS_OF_ADDRESS);
    let calls = flood((&network, &admission), attacker, count).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert_eq!(network.asked(), [""; 0], "its further tokens wait");
    let asked = spawn_status(&admission, "other", other);
    while network.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    gate.add_permits(4 * MOST_QUESTIONS);
    assert_eq!(asked.await.unwrap(), 200);
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
}

/// All callers behind a proxy have its address.
#[tokio::test(start_paused = true)]
async fn a_token_beyond_the_share_of_its_address_waits_for_a_turn() {
    let (network, admission, gate) = held().await;
    let proxy = Some(Peer([192, 0, 2, 1].into()));
    let count = (MOST_QUESTIONS_OF_ADDRESS, MOST_QUESTIONS_OF_ADDRESS);
    let calls = flood((&network, &admission), proxy, count).await;
    assert_eq!(status_from(&admission, "late", proxy).await, 503, "no turn came for a while");
    let further = spawn_status(&admission, "further", proxy);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!further.is_finished(), "it is refused at once");
    gate.add_permits(MOST_QUESTIONS_OF_ADDRESS + 1);
    assert_eq!(further.await.unwrap(), 200);
    for call in calls {
        assert_eq!(call.await.unwrap(), 200);
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_than_so_many_tokens_of_an_address_wait() {
    let (network, admission, _gate) = held().await;
    let attacker = Some(Peer([192, 0, 2, 1].into()));
    let count = (MOST_TOKENS_OF_ADDRESS, MOST_QUESTIONS_OF_ADDRESS);
    let _calls = flood((&network, &admission), attacker, count).await;
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let begin = tokio::time::Instant::now();
    assert_eq!(status_from(&admission, "further", attacker).await, 503);
    assert_eq!(begin.elapsed(), std::time::Duration::ZERO, "it waits");
}

#[tokio::test(start_paused = true)]
async fn made_up_tokens_do_not_keep_out_a_token_that_was_accepted_before() {
    let (network, admission, gate) = held().await;
    let calls = flood((&network, &admission), None, (2 * MOST_QUESTIONS, MOST_QUESTIONS)).await;
    // Its verdict has expired.
    let known = tokio::spawn({
        let admission = Arc::clone(&admission);
        async move { status(&admission, "good", at(61)).await }
    });
    while network.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    gate.add_permits(4 * MOST_QUESTIONS);
    assert_eq!(known.await.unwrap(), 200);
    drop(calls);
}

#[tokio::test]
async fn refused_tokens_do_not_push_out_the_verdicts_about_accepted_ones() {
    let network = network(&active(json!({})));
    let admission = admission(&network);
    assert_eq!(status(&admission, "good", at(0)).await, 200);
    network.serve(ENDPOINT, &json!({"active": false}), "");
    for n in 0..10_001 {
        assert_eq!(status(&admission, &n.to_string(), at(0)).await, 401);
    }
    network.asked();
    assert_eq!(status(&admission, "good", at(1)).await, 200);
    assert_eq!(network.asked(), [""; 0]);
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
