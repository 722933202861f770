//! Servers that forget a client, and browsers that bring forged answers, in virtual time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::StatusCode;
use tokio::time::{Instant, sleep, timeout};

use super::network::{AS, MCP, Network};
use super::{Authorizer, LoginPolicy, authorizer, send, send_with};
use crate::client::plan::{Browser, Machine};
use crate::url::Url;

#[tokio::test]
async fn a_client_that_its_server_has_forgotten_is_registered_anew() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    network.revoke_access();
    let refusal = (401, r#"{"error":"invalid_client"}"#.to_owned());
    network.state().faults.insert("/token".into(), refusal);
    let (status, _) = send_with(&client, &network, "x", LoginPolicy::Forbidden).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    network.state().faults.clear();
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    // The old registration was sent once, to renew the token.
    assert_eq!((network.visits(), network.count("register")), (2, 2));
    assert_eq!(network.count("refresh_token"), 1);
}

#[tokio::test]
async fn a_program_renews_its_token_where_the_server_named_its_document() {
    let network = Network::new();
    network.state().life = 0;
    network.state().place = "/documents/oauth-protected-resource";
    let client = authorizer(Machine::secret(AS, "pre", "s"), &network);
    for _ in 0..3 {
        assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    }
    assert_eq!(network.count("client_credentials"), 4);
}

#[tokio::test]
async fn a_client_that_was_registered_beforehand_keeps_its_login_if_its_server_refuses_it() {
    let network = Network::new();
    let plan = Browser::new("app").client_with_secret(AS, "pre", "s");
    let client = authorizer(plan, &network);
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    network.revoke_access();
    let refusal = (401, r#"{"error":"invalid_client"}"#.to_owned());
    network.state().faults.insert("/token".into(), refusal);
    send_with(&client, &network, "x", LoginPolicy::Forbidden).await;
    network.state().faults.clear();
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    assert_eq!(network.visits(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_forged_answers_neither_ends_a_login_nor_keeps_the_program_busy() {
    let network = Network::new();
    let forged = Arc::new(AtomicUsize::new(0));
    let counted = forged.clone();
    let browser = Browser::new("app").paste(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        async { Some("code=forged&state=guess".to_owned()) }
    });
    let client = Authorizer::new(browser, Url::parse(MCP).unwrap(), network.clone());
    let seconds = 5;
    let call = send_with(&client, &network, "x", LoginPolicy::Allowed);
    assert!(timeout(Duration::from_secs(seconds), call).await.is_err(), "the login goes on");
    let forged = forged.load(Ordering::Relaxed);
    assert!((21..=101 * seconds as usize).contains(&forged), "{forged}");
}

#[tokio::test(start_paused = true)]
async fn forged_answers_do_not_prolong_a_visit() {
    let network = Network::new();
    // Another page brings the browser back with a forged answer, again and again.
    let browser = Browser::new("app").paste(|_| async {
        sleep(Duration::from_secs(290)).await;
        Some("code=forged&state=guess".to_owned())
    });
    let client = Authorizer::new(browser, Url::parse(MCP).unwrap(), network.clone());
    let start = Instant::now();
    let (_, error) = send_with(&client, &network, "x", LoginPolicy::Allowed).await;
    let error = error.unwrap().to_string();
    assert!(error.contains("did not finish the login in time"), "{error}");
    assert_eq!(start.elapsed().as_secs(), 600);
}
