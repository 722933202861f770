//! Logins, renewals and logouts against authorization servers in memory.

mod as_swap;
mod network;
mod no_secret_in_output;
mod refresh_herd;
mod stored_only;
mod trouble;
mod vain_login;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use http::header::WWW_AUTHENTICATE;

use self::network::*;
use super::*;
use crate::client::plan::{Browser, Issuer, Machine};
use crate::client::store::{FileStore, MemoryStore};

/// Sends a message as an HTTP client does: repeats it while the verdict is to retry.
async fn send(authorizer: &Authorizer, network: &Network, operation: &str) -> StatusCode {
    send_with(authorizer, network, operation, LoginPolicy::Allowed).await.0
}

async fn send_with(
    authorizer: &Authorizer,
    network: &Network,
    operation: &str,
    policy: LoginPolicy,
) -> (StatusCode, Option<Error>) {
    let mut attempts = AuthAttempts::default();
    let (method, url) = (Method::POST, Url::parse(MCP).unwrap());
    for _ in 0..8 {
        let headers = authorizer.headers((&method, &url), &mut attempts).await.unwrap();
        let (status, answer) = network.call(operation, &headers);
        if status.is_success() {
            return (status, None);
        }
        match authorizer.refused((status, &answer), operation, policy, &mut attempts).await {
            AuthVerdict::Retry => {}
            AuthVerdict::Stands(error) => return (status, error),
        }
    }
    panic!("the client repeats a message without end");
}

fn authorizer(plan: impl Into<Plan>, network: &Arc<Network>) -> Authorizer {
    let mcp = Url::parse(MCP).unwrap();
    Authorizer::new(plan, mcp, network.clone()).with_visitor(network.visitor())
}

// spec: TOK-1, TOK-2, PRM-6, AUTH-2
#[tokio::test]
async fn the_first_refusal_logs_in_and_every_later_request_has_the_token() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    assert!(!client.is_logged_in().await.unwrap());
    for _ in 0..3 {
        assert_eq!(send(&client, &network, "tools/list").await, StatusCode::OK);
    }
    assert_eq!((network.visits(), network.count("register")), (1, 1));
    assert!(client.is_logged_in().await.unwrap());
}

// spec: TOK-3, TOK-8
#[tokio::test]
async fn a_token_is_sent_to_the_origin_of_the_mcp_server_only_and_in_a_header_only() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    send(&client, &network, "x").await;
    let headers = |url: &'static str| {
        let client = client.clone();
        async move {
            let url = Url::parse(url).unwrap();
            let mut attempts = AuthAttempts::default();
            client.headers((&Method::GET, &url), &mut attempts).await.unwrap()
        }
    };
    let own = headers("https://mcp.example/other?x=1").await;
    assert!(own[AUTHORIZATION].is_sensitive() && own.len() == 1);
    for url in ["https://as.example/mcp", "http://mcp.example/mcp", "https://mcp.example:8443/mcp"]
    {
        assert!(headers(url).await.is_empty(), "{url}");
    }
}

#[tokio::test]
async fn many_callers_share_one_login_and_a_dropped_caller_does_not_end_it() {
    let network = Network::new();
    network.hold_visits.store(true, Ordering::SeqCst);
    let client = authorizer(Browser::new("app"), &network);
    let first = tokio::spawn({
        let (client, network) = (client.clone(), network.clone());
        async move { send(&client, &network, "x").await }
    });
    network.visited.notified().await;
    let calls: Vec<_> = (0..20)
        .map(|_| {
            let (client, network) = (client.clone(), network.clone());
            tokio::spawn(async move { send(&client, &network, "x").await })
        })
        .collect();
    tokio::task::yield_now().await;
    first.abort();
    let _ = first.await;
    network.hold_visits.store(false, Ordering::SeqCst);
    network.release.notify_waiters();
    for call in calls {
        assert_eq!(call.await.unwrap(), StatusCode::OK);
    }
    assert_eq!(network.visits(), 1);
}

#[tokio::test]
async fn a_notification_never_starts_a_login() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    let (status, error) = send_with(&client, &network, "x", LoginPolicy::Forbidden).await;
    assert_eq!((status, error.is_none(), network.visits()), (StatusCode::UNAUTHORIZED, true, 0));
}

#[tokio::test]
async fn a_user_who_gives_up_is_asked_once() {
    let network = Network::new();
    network.state().refuses_users = true;
    let client = authorizer(Browser::new("app"), &network);
    let (status, error) = send_with(&client, &network, "x", LoginPolicy::Allowed).await;
    assert_eq!((status, network.visits()), (StatusCode::UNAUTHORIZED, 1));
    assert!(error.unwrap().is_visit());
}

// spec: SCOPE-14, SCOPE-15, SCOPE-16
#[tokio::test]
async fn a_missing_scope_is_asked_for_together_with_the_old_ones() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    assert_eq!(send(&client, &network, "tools/list").await, StatusCode::OK);
    assert_eq!(send(&client, &network, "needs admin").await, StatusCode::OK);
    assert_eq!(send(&client, &network, "needs export").await, StatusCode::OK);
    assert_eq!(network.state().asked, ["basic", "basic admin", "basic admin export"]);
    // A program may step up too.
    let network = Network::new();
    let client = authorizer(Machine::secret(AS, "pre", "s"), &network);
    assert_eq!(send(&client, &network, "needs admin").await, StatusCode::OK);
    assert_eq!(network.visits(), 0);
}

// spec: SCOPE-17, SCOPE-18
#[tokio::test]
async fn a_scope_that_is_not_granted_is_asked_for_once_for_each_operation() {
    let network = Network::new();
    network.state().never_granted = Some("admin");
    let client = authorizer(Browser::new("app"), &network);
    for _ in 0..3 {
        let (status, error) =
            send_with(&client, &network, "needs admin", LoginPolicy::Allowed).await;
        assert_eq!(status, StatusCode::FORBIDDEN);
        assert!(error.unwrap().to_string().contains("`admin`"));
    }
    assert_eq!(network.visits(), 2);
    // The token has all that the server wants, and still it refuses.
    let network = Network::new();
    network.state().always_forbids = true;
    let client = authorizer(Browser::new("app"), &network);
    let (status, _) = send_with(&client, &network, "needs admin", LoginPolicy::Allowed).await;
    assert_eq!((status, network.visits()), (StatusCode::FORBIDDEN, 2));
}

#[tokio::test]
async fn two_operations_that_step_up_at_once_both_succeed() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    send(&client, &network, "tools/list").await;
    let calls = ["needs admin", "needs export"].map(|operation| {
        let (client, network) = (client.clone(), network.clone());
        tokio::spawn(async move { send(&client, &network, operation).await })
    });
    for call in calls {
        assert_eq!(call.await.unwrap(), StatusCode::OK);
    }
}

// spec: REFR-4
#[tokio::test]
async fn a_token_that_expires_soon_is_renewed_before_it_is_sent() {
    for rotates in [true, false] {
        let network = Network::new();
        network.state().life = 0;
        network.state().rotates = rotates;
        let client = authorizer(Browser::new("app"), &network);
        for _ in 0..4 {
            assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
        }
        assert_eq!((network.visits(), network.count("refresh_token")), (1, 4));
    }
}

#[tokio::test]
async fn an_early_renewal_that_fails_is_not_repeated_with_every_request() {
    let network = Network::new();
    network.state().life = 0;
    let client = authorizer(Browser::new("app"), &network);
    send(&client, &network, "x").await;
    network.state().faults.insert("/token".into(), (503, "{}".into()));
    let before = network.count("refresh_token");
    for _ in 0..5 {
        assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    }
    assert_eq!(network.count("refresh_token"), before + 1);
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_replaced_by_a_login() {
    let network = Network::new();
    let store = MemoryStore::new();
    let plan = || Browser::new("app").store(store.clone());
    let first = authorizer(plan(), &network);
    send(&first, &network, "x").await;
    let held = first.held().await.unwrap().unwrap();
    let text = Secret::from("of a later version");
    let record = crate::client::store::StoredRecord { version: 7, text };
    assert!(store.swap(&held.key, Some(held.version), Some(record)).await.unwrap());
    assert_eq!(send(&authorizer(plan(), &network), &network, "x").await, StatusCode::OK);
    assert_eq!(network.visits(), 2);
}

#[tokio::test]
async fn a_server_that_gives_no_refresh_token_gets_a_new_login_after_a_refusal() {
    let network = Network::new();
    network.state().gives_refresh = false;
    let client = authorizer(Browser::new("app"), &network);
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    network.revoke_access();
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    assert_eq!((network.visits(), network.count("refresh_token")), (2, 0));
    assert_eq!(network.count("register"), 1);
}

#[tokio::test]
async fn a_refused_token_is_renewed_after_the_document_was_read_again() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    send(&client, &network, "x").await;
    let documents = network.count("oauth-protected-resource");
    network.revoke_access();
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    assert_eq!(network.count("oauth-protected-resource"), documents + 1);
    assert_eq!((network.visits(), network.count("refresh_token")), (1, 1));
}

#[tokio::test]
async fn a_spent_refresh_token_leads_to_a_login_and_the_registration_stays() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    send(&client, &network, "x").await;
    network.revoke_all();
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    assert_eq!((network.visits(), network.count("register")), (2, 1));
}

// spec: REG-14, REG-15, PRM-11, PRM-12, TOK-8
#[tokio::test]
async fn another_authorization_server_means_another_registration_and_login() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    send(&client, &network, "x").await;
    network.state().issuer = TWO.into();
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    assert_eq!((network.visits(), network.count("register")), (2, 2));
    // The old server is not asked for another token.
    assert_eq!(network.count("refresh_token"), 0);
    // A client that was registered beforehand is not shown to the new server.
    let network = Network::new();
    let client = authorizer(Machine::secret(Issuer::first_seen(), "pre", "s"), &network);
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    network.state().issuer = TWO.into();
    let (status, error) = send_with(&client, &network, "x", LoginPolicy::Allowed).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(error.unwrap().to_string().contains("`pre` is known to"));
    assert_eq!(network.count(TWO), 0);
}

#[tokio::test]
async fn a_record_outlives_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let store = || FileStore::open(folder.path().join("auth")).unwrap();
    let network = Network::new();
    for _ in 0..3 {
        let client = authorizer(Browser::new("app").store(store()), &network);
        assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    }
    assert_eq!(network.visits(), 1);
    let other = authorizer(Browser::new("app").account("bob").store(store()), &network);
    assert_eq!(send(&other, &network, "x").await, StatusCode::OK);
    assert_eq!(network.visits(), 2);
}

#[tokio::test]
async fn a_login_of_another_program_is_used() {
    let store = MemoryStore::new();
    let network = Network::new();
    let clients = [(); 2].map(|()| authorizer(Browser::new("app").store(store.clone()), &network));
    // Both have looked into the empty store.
    for client in &clients {
        assert!(!client.is_logged_in().await.unwrap());
    }
    for client in &clients {
        assert_eq!(send(client, &network, "x").await, StatusCode::OK);
    }
    assert_eq!(network.visits(), 1);
}

#[tokio::test]
async fn a_token_that_another_program_has_renewed_is_not_renewed_again() {
    let store = MemoryStore::new();
    let network = Network::new();
    let clients = [(); 2].map(|()| authorizer(Browser::new("app").store(store.clone()), &network));
    send(&clients[0], &network, "x").await;
    let old = clients[1].held().await.unwrap().unwrap();
    for client in &clients {
        client.renew(&old).await.unwrap();
        assert_ne!(client.held().await.unwrap().unwrap().version, old.version);
    }
    assert_eq!(network.count("refresh_token"), 1);
}

#[tokio::test]
async fn a_logout_revokes_the_refresh_token_then_the_access_token_and_deletes_both() {
    for status in [200, 500] {
        let network = Network::new();
        network.state().revocation_status = status;
        let store = MemoryStore::new();
        let client = authorizer(Browser::new("app").store(store.clone()), &network);
        client.logout().await.unwrap();
        assert_eq!(network.count("revoke"), 0);
        send(&client, &network, "x").await;
        client.logout().await.unwrap();
        let revoked = network.bodies("revoke");
        assert!(revoked[0].contains("token_type_hint=refresh_token"), "{revoked:?}");
        assert!(revoked[1].contains("token_type_hint=access_token"), "{revoked:?}");
        assert_eq!(format!("{store:?}"), "MemoryStore(0 records)");
        assert!(!client.is_logged_in().await.unwrap());
        assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
        assert_eq!(network.visits(), 2);
    }
}

#[tokio::test]
async fn a_bound_token_has_a_fresh_proof_on_every_request_and_nonces_are_answered_once() {
    let network = Network::new();
    network.state().is_bound = true;
    network.state().nonce = Some("n1".into());
    let client = authorizer(Browser::new("app"), &network);
    for _ in 0..3 {
        assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    }
    let mut proofs = network.state().proofs.clone();
    let count = proofs.len();
    proofs.sort();
    proofs.dedup();
    assert_eq!(proofs.len(), count);
    network.state().nonce = Some("n2".into());
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    network.revoke_access();
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    assert_eq!(network.visits(), 1);
}

#[tokio::test]
async fn a_bound_token_of_a_program_is_renewed_as_a_bound_one() {
    let network = Network::new();
    network.state().is_bound = true;
    network.state().life = 0;
    let client = authorizer(Machine::secret(AS, "pre", "s"), &network);
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    let first = client.held().await.unwrap().unwrap();
    assert_eq!(send(&client, &network, "x").await, StatusCode::OK);
    let second = client.held().await.unwrap().unwrap();
    assert_ne!(first.version, second.version);
    assert_eq!(second.tokens().unwrap().kind, TokenKind::DPoP);
}

#[tokio::test]
async fn a_message_is_repeated_with_a_nonce_once() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    let mut headers = HeaderMap::new();
    headers.insert(WWW_AUTHENTICATE, r#"DPoP error="use_dpop_nonce""#.parse().unwrap());
    headers.insert("dpop-nonce", "n".parse().unwrap());
    let mut attempts = AuthAttempts::default();
    for is_repeated in [true, false] {
        let refusal = (StatusCode::UNAUTHORIZED, &headers);
        let verdict = client.refused(refusal, "x", LoginPolicy::Forbidden, &mut attempts).await;
        assert_eq!(matches!(verdict, AuthVerdict::Retry), is_repeated);
    }
}

#[tokio::test]
async fn tokens_whose_refresh_token_is_spent_are_forgotten() {
    let network = Network::new();
    let store = MemoryStore::new();
    let plan = || Browser::new("app").store(store.clone());
    let client = authorizer(plan(), &network);
    send(&client, &network, "x").await;
    network.revoke_all();
    for _ in 0..2 {
        let (status, _) = send_with(&client, &network, "x", LoginPolicy::Forbidden).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(network.count("refresh_token"), 1);
    assert!(!authorizer(plan(), &network).is_logged_in().await.unwrap());
}

// spec: PRM-12, REG-14
#[tokio::test]
async fn the_secret_of_a_client_is_not_used_to_renew_a_token_of_another_server() {
    let network = Network::new();
    network.state().life = 0;
    let store = MemoryStore::new();
    let plan = |issuer: &str, secret: &str| {
        let browser = Browser::new("app").client_with_secret(issuer, "pre", secret);
        authorizer(browser.store(store.clone()), &network)
    };
    assert_eq!(send(&plan(AS, "one"), &network, "x").await, StatusCode::OK);
    let renewals = network.count("refresh_token");
    // The same program, configured for another server.
    send(&plan(TWO, "two"), &network, "x").await;
    assert_eq!(network.count("refresh_token"), renewals);
}

#[test]
fn a_challenge_is_chosen_in_any_order() {
    let network = Network::new();
    let choose = |plan: Browser, value: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(WWW_AUTHENTICATE, value.parse().unwrap());
        let client = authorizer(plan, &network);
        client.0.choose(&Challenge::read(&headers)).map(|it| it.scheme().to_owned())
    };
    for value in ["Basic realm=\"x\", DPoP a=\"1\", Bearer b=\"2\"", "Bearer x=\"1\", DPoP"] {
        assert_eq!(choose(Browser::new("a"), value).as_deref(), Some("Bearer"));
        assert_eq!(choose(Browser::new("a").dpop(), value).as_deref(), Some("DPoP"));
    }
    assert_eq!(choose(Browser::new("a"), "DPoP").as_deref(), Some("DPoP"));
    assert_eq!(choose(Browser::new("a"), "Basic realm=\"x\""), None);
}
