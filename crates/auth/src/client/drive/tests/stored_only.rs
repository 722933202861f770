//! Programs that use the login of another one, and logins that a user asks for.

use http::StatusCode;

use super::network::{AS, Network};
use super::{LoginPolicy, authorizer, send, send_with};
use crate::client::plan::{Browser, Machine};
use crate::client::store::MemoryStore;
use crate::scope::Scopes;

#[tokio::test]
async fn a_program_that_never_logs_in_sends_no_request_and_uses_the_login_of_another() {
    let (network, store) = (Network::new(), MemoryStore::new());
    let reader =
        authorizer(Browser::new("app").store(store.clone()).stored_only("run x"), &network);
    for _ in 0..2 {
        let (status, error) = send_with(&reader, &network, "x", LoginPolicy::Allowed).await;
        assert_eq!(status, StatusCode::UNAUTHORIZED);
        assert_eq!(error.unwrap().to_string(), "no login is stored for this server; run x");
    }
    let demand = reader.demand().unwrap();
    assert_eq!((demand.is_step_up, demand.scopes.to_string()), (false, "basic".to_owned()));
    // No page, no registration, no document.
    assert_eq!((network.visits(), network.state().log.len()), (0, 0));
    let writer = authorizer(Browser::new("app").store(store), &network);
    assert_eq!(send(&writer, &network, "x").await, StatusCode::OK);
    assert_eq!(send(&reader, &network, "x").await, StatusCode::OK);
    network.revoke_access();
    assert_eq!(send(&reader, &network, "x").await, StatusCode::OK);
    assert_eq!((network.visits(), network.count("refresh_token")), (1, 1));
    network.revoke_all();
    let (_, error) = send_with(&reader, &network, "x", LoginPolicy::Allowed).await;
    assert!(error.unwrap().to_string().contains("could not be renewed"));
    assert_eq!(network.visits(), 1);
}

#[tokio::test]
async fn a_program_that_never_logs_in_takes_over_the_scopes_of_a_later_login() {
    let (network, store) = (Network::new(), MemoryStore::new());
    let plan = || Browser::new("app").store(store.clone());
    assert_eq!(send(&authorizer(plan(), &network), &network, "x").await, StatusCode::OK);
    let reader = authorizer(plan().stored_only(""), &network);
    for _ in 0..2 {
        let (status, error) =
            send_with(&reader, &network, "needs admin", LoginPolicy::Allowed).await;
        assert_eq!(status, StatusCode::FORBIDDEN);
        let expected = "the stored login does not have the scopes `admin`";
        assert_eq!(error.unwrap().to_string(), expected);
        let demand = reader.demand().unwrap();
        assert_eq!((demand.is_step_up, demand.scopes.to_string()), (true, "admin".to_owned()));
    }
    let scopes = Scopes::parse("admin").unwrap();
    authorizer(plan().scopes(scopes), &network).log_in_now().await.unwrap();
    assert_eq!(network.state().asked, ["basic", "basic admin"]);
    assert_eq!(send(&reader, &network, "needs admin").await, StatusCode::OK);
    assert!(reader.demand().is_none());
    assert_eq!(network.visits(), 2);
}

#[tokio::test]
async fn the_scopes_of_a_plan_are_asked_for_beside_those_of_the_challenge() {
    let network = Network::new();
    let scopes = Scopes::parse("export").unwrap();
    let client = authorizer(Browser::new("app").scopes(scopes.clone()), &network);
    assert_eq!(send(&client, &network, "needs export").await, StatusCode::OK);
    assert_eq!(network.state().asked, ["basic export"]);
    let program = authorizer(Machine::secret(AS, "pre", "s").scopes(scopes), &network);
    assert_eq!(send(&program, &network, "needs export").await, StatusCode::OK);
    assert_eq!(network.visits(), 1);
}

#[tokio::test]
async fn the_status_of_a_login_names_all_but_its_secrets() {
    let network = Network::new();
    let client = authorizer(Browser::new("app"), &network);
    assert!(client.status().await.unwrap().is_none());
    send(&client, &network, "x").await;
    let status = client.status().await.unwrap().unwrap();
    assert_eq!((status.issuer.as_str(), status.scopes.to_string()), (AS, "basic".to_owned()));
    assert!(status.can_renew && !status.is_bound);
    let left = status.expires.unwrap().duration_since(std::time::SystemTime::now()).unwrap();
    assert!((3590..=3600).contains(&left.as_secs()), "{left:?}");
    let shown = format!("{status:?}");
    assert!(
        !shown.contains("!access") && !shown.contains("!refresh") && !shown.contains("!secret")
    );
    client.logout().await.unwrap();
    assert!(client.status().await.unwrap().is_none());
}
