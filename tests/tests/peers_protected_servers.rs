//! Our client logs in to protected servers of other SDKs, in both eras.
//!
//! Some take tokens of `oidc-provider`, others are their own authorization servers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bowline::auth::{Browser, BrowserUrl, FileStore, Machine};
use bowline::{Client, Result};
use bowline_testing::oauth::UserAgent;
use bowline_tests::peers::PeerServer;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

const OIDC_PROVIDER: &[&str] = &["node22", "oidc-provider.mjs"];
const TYPESCRIPT_V1: &[&str] = &["node", "ts-v1-protected.mjs"];
const TYPESCRIPT_V2: &[&str] = &["node", "ts-v2-protected.mjs"];
const FASTMCP: &[&str] = &["python", "fastmcp_protected.py"];

/// The user, who approves every login.
#[derive(Clone, Default)]
struct User(Arc<AtomicUsize>);

impl User {
    fn browser(&self) -> Browser {
        let user = self.clone();
        Browser::new("bowline").open_with(move |page: BrowserUrl| {
            user.0.fetch_add(1, Ordering::Relaxed);
            async move { UserAgent::Approves.open(&page.to_text()).await }
        })
    }

    /// How often the user logged in.
    fn logins(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// A protected server, with tokens of `oidc-provider`.
async fn with_provider(peer: &[&str]) -> (PeerServer, PeerServer) {
    let provider = PeerServer::start(OIDC_PROVIDER, &[]).await;
    let server = PeerServer::start(peer, &["--issuer", &provider.url]).await;
    (server, provider)
}

async fn call(client: &Client, tool: &str) -> Result<String> {
    Ok(client.call(tool, json!({})).await?.text())
}

#[tokio::test]
async fn a_user_logs_in_to_typescript_v2_and_again_for_another_scope() {
    let (server, _provider) = with_provider(TYPESCRIPT_V2).await;
    for revision in ERAS {
        let user = User::default();
        let client = Client::http(&server.url).auth(user.browser()).revisions([revision]);
        let client = client.connect().await.unwrap();
        assert_eq!(client.revision(), revision);
        assert_eq!(call(&client, "whoami").await.unwrap(), "ann");
        assert_eq!(user.logins(), 1, "{revision}");
        assert_eq!(call(&client, "purge").await.unwrap(), "gone");
        assert_eq!(call(&client, "purge").await.unwrap(), "gone");
        assert_eq!(user.logins(), 2, "{revision}");
        client.close().await;
    }
}

#[tokio::test]
async fn a_machine_logs_in_to_typescript_v2() {
    let (server, provider) = with_provider(TYPESCRIPT_V2).await;
    for revision in ERAS {
        let machine = Machine::secret(provider.url.as_str(), "machine", "machine-secret");
        let client = Client::http(&server.url).auth(machine).revisions([revision]);
        let client = client.connect().await.unwrap();
        assert_eq!(call(&client, "whoami").await.unwrap(), "machine", "{revision}");
        client.close().await;
    }
}

#[tokio::test]
async fn a_login_is_stored_until_the_user_logs_out() {
    let (server, _provider) = with_provider(FASTMCP).await;
    let (directory, user) = (tempfile::tempdir().unwrap(), User::default());
    for revision in ERAS {
        let store = FileStore::open(directory.path().join("logins")).unwrap();
        let client = Client::http(&server.url).auth(user.browser().store(store));
        let client = client.revisions([revision]).connect().await.unwrap();
        assert_eq!(call(&client, "whoami").await.unwrap(), "ann");
        assert_eq!(user.logins(), 1, "{revision}");
        if revision == ERAS[1] {
            client.logout().await.unwrap();
            assert_eq!(call(&client, "whoami").await.unwrap(), "ann");
            assert_eq!(user.logins(), 2);
        }
        client.close().await;
    }
}

/// FastMCP does not list a tool for which the token lacks a scope, and answers a call as if there
/// were none, so a client cannot know that a login would help.
#[tokio::test]
async fn fastmcp_hides_a_tool_that_needs_another_scope() {
    let (server, _provider) = with_provider(FASTMCP).await;
    for revision in ERAS {
        let user = User::default();
        let client = Client::http(&server.url).auth(user.browser()).revisions([revision]);
        let client = client.connect().await.unwrap();
        assert_eq!(call(&client, "purge").await.unwrap(), "Unknown tool: 'purge'");
        assert_eq!(user.logins(), 1, "{revision}");
        client.close().await;
    }
}

#[tokio::test]
async fn a_user_logs_in_to_fastmcp_that_is_its_own_authorization_server() {
    let server = PeerServer::start(FASTMCP, &[]).await;
    for revision in ERAS {
        let user = User::default();
        let client = Client::http(&server.url).auth(user.browser()).revisions([revision]);
        let client = client.connect().await.unwrap();
        assert!(!call(&client, "whoami").await.unwrap().is_empty());
        assert_eq!(user.logins(), 1, "{revision}");
        client.close().await;
    }
}

#[tokio::test]
async fn a_user_logs_in_to_typescript_v1_that_is_its_own_authorization_server() {
    let server = PeerServer::start(TYPESCRIPT_V1, &[]).await;
    let user = User::default();
    let client = Client::http(&server.url).auth(user.browser()).connect().await.unwrap();
    assert_eq!(client.revision(), Revision::V2025_11_25);
    let whoami: Value = serde_json::from_str(&call(&client, "whoami").await.unwrap()).unwrap();
    assert_eq!((&whoami["scopes"], &whoami["resource"]), (&json!(["mcp"]), &json!(server.url)));
    assert_eq!(user.logins(), 1);
    client.close().await;
}
