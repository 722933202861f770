//! MCP servers that refuse the token of a login that has just succeeded, in virtual time.

use std::time::Duration;

use http::header::{HeaderMap, WWW_AUTHENTICATE};
use http::{Method, StatusCode};
use tokio::time::advance;

use super::network::{AS, MCP, Network};
use super::{AuthAttempts, AuthVerdict, LoginPolicy, authorizer, send, send_with};
use crate::client::logins::VAIN_LOGIN_PAUSE;
use crate::client::plan::{Browser, Machine};
use crate::client::store::MemoryStore;
use crate::url::Url;

#[tokio::test(start_paused = true)]
async fn a_login_whose_token_is_refused_at_once_is_not_repeated_before_a_pause() {
    let network = Network::new();
    network.state().refuses_tokens = Some("invalid_token");
    let client = authorizer(Browser::new("app"), &network);
    for (pause, visits) in [
        (Duration::ZERO, 1),
        (Duration::ZERO, 1),
        (VAIN_LOGIN_PAUSE - Duration::from_secs(1), 1),
        (Duration::from_secs(1), 2),
        (Duration::ZERO, 2),
    ] {
        advance(pause).await;
        let (status, error) = send_with(&client, &network, "x", LoginPolicy::Allowed).await;
        assert_eq!((status, network.visits()), (StatusCode::UNAUTHORIZED, visits));
        let error = error.unwrap();
        assert!(error.is_login(), "{error:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_error_names_the_server_its_answer_and_what_to_do() {
    let network = Network::new();
    network.state().refuses_tokens = Some("invalid_token");
    let client = authorizer(Browser::new("app"), &network);
    let send = || send_with(&client, &network, "x", LoginPolicy::Allowed);
    let first = send().await.1.unwrap().to_string();
    advance(Duration::from_secs(60)).await;
    let second = send().await.1.unwrap().to_string();
    // The description repeats the token, so it is not quoted.
    let text = |seconds: u64| {
        format!(
            "`https://mcp.example/mcp` answered 401 (`invalid_token`) to the token of a login that had \
             just succeeded; no new login for {seconds} s, unless you log out first: check which \
             issuer and which audience the server accepts"
        )
    };
    assert_eq!((first, second), (text(300), text(240)));
}

#[tokio::test(start_paused = true)]
async fn many_callers_at_once_log_in_in_vain_once() {
    let network = Network::new();
    network.state().refuses_tokens = Some("invalid_token");
    let client = authorizer(Browser::new("app"), &network);
    let calls: Vec<_> = (0..20)
        .map(|delay| {
            let (client, network) = (client.clone(), network.clone());
            tokio::spawn(async move {
                for _ in 0..delay {
                    tokio::task::yield_now().await;
                }
                send(&client, &network, "x").await
            })
        })
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap(), StatusCode::UNAUTHORIZED);
    }
    assert_eq!(network.visits(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_program_that_connects_again_and_again_logs_in_once() {
    let network = Network::new();
    network.state().refuses_tokens = Some("invalid_token");
    let plan = Browser::new("app");
    for _ in 0..5 {
        let client = authorizer(plan.clone(), &network);
        let (_, error) = send_with(&client, &network, "x", LoginPolicy::Allowed).await;
        assert!(error.unwrap().to_string().contains("no new login for 300 s"));
    }
    assert_eq!(network.visits(), 1);
    // Another account is another login.
    send(&authorizer(plan.account("bob"), &network), &network, "x").await;
    assert_eq!(network.visits(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_program_without_a_user_pauses_too() {
    let network = Network::new();
    network.state().refuses_tokens = Some("invalid_token");
    let client = authorizer(Machine::secret(AS, "pre", "s"), &network);
    for _ in 0..5 {
        assert_eq!(send(&client, &network, "x").await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(network.count("client_credentials"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_accepts_the_token_later_needs_no_new_login() {
    let network = Network::new();
    network.state().refuses_tokens = Some("invalid_token");
    let client = authorizer(Browser::new("app"), &network);
    assert_eq!(send(&client, &network, "x").await, StatusCode::UNAUTHORIZED);
    network.state().refuses_tokens = None;
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    assert_eq!(network.visits(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_logout_ends_the_pause() {
    let network = Network::new();
    network.state().refuses_tokens = Some("invalid_token");
    let client = authorizer(Browser::new("app"), &network);
    send(&client, &network, "x").await;
    client.logout().await.unwrap();
    network.state().refuses_tokens = None;
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    assert_eq!(network.visits(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_registration_in_the_middle_of_a_login_is_not_a_login() {
    let network = Network::new();
    network.state().gives_refresh = false;
    let store = MemoryStore::new();
    let plan = |port| Browser::new("app").store(store.clone()).port(port);
    assert_eq!(send(&authorizer(plan(1), &network), &network, "x").await, StatusCode::OK);
    network.revoke_access();
    // The registration is for another port, and the record has a token while the client registers.
    let client = authorizer(plan(2), &network);
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    assert_eq!((network.visits(), network.count("register")), (2, 2));
    assert_eq!(client.0.logins.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_nonce_that_expires_during_a_login_does_not_make_the_login_vain() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    let headers = |value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(WWW_AUTHENTICATE, value.parse().unwrap());
        headers.insert("dpop-nonce", "n".parse().unwrap());
        headers
    };
    let mut attempts = AuthAttempts::default();
    let (method, url) = (Method::POST, Url::parse(MCP).unwrap());
    let nonce = headers(r#"DPoP error="use_dpop_nonce""#);
    for (answer, visits) in [(&nonce, 0), (&headers("Bearer"), 1), (&nonce, 1)] {
        client.headers((&method, &url), &mut attempts).await.unwrap();
        let refusal = (StatusCode::UNAUTHORIZED, answer);
        let verdict = client.refused(refusal, "x", LoginPolicy::Allowed, &mut attempts).await;
        assert!(matches!(verdict, AuthVerdict::Retry), "{verdict:?}");
        assert_eq!(network.visits(), visits);
    }
    assert!(client.0.logins.check(&url).is_ok());
}
