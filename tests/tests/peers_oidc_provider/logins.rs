//! Our server takes tokens of `oidc-provider`. Clients of other SDKs log in to it with their own OAuth,
//! and so does our client.

use std::net::{Ipv4Addr, SocketAddr};

use bowline::auth::{Browser, BrowserUrl, Introspection, Jwt, Machine};
use bowline::http::Authorization;
use bowline::{Claims, Client, Server, Tool};
use bowline_http::server::Listener;
use bowline_testing::oauth::UserAgent;
use bowline_tests::peers::{self, PeerServer};
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{CLIENT, client_metadata};

const TYPESCRIPT_V2: &[&str] = &["node", "ts-v2-login.mjs"];
const PYTHON: &[&str] = &["python", "py_login.py"];

const ERAS: [(&str, Revision); 2] =
    [("legacy", Revision::V2025_11_25), ("modern", Revision::V2026_07_28)];

/// Our server and its authorization server, until this is dropped.
struct ProtectedServer {
    url: String,
    issuer: String,
    _provider: PeerServer,
    _serving: JoinSet<()>,
}

impl ProtectedServer {
    /// A server that takes signed tokens.
    async fn start() -> Self {
        let mut document = client_metadata();
        document["client_id"] = CLIENT.into();
        Self::with(&["--document", &document.to_string()], signed).await
    }

    /// A server whose tokens `oidc-provider` issues with these arguments.
    async fn with<A: Authorization>(arguments: &[&str], tokens: fn(&str, &str) -> A) -> Self {
        let provider = PeerServer::start(&["node22", "oidc-provider.mjs"], arguments).await;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = Listener::bind(address, "/mcp").await.unwrap();
        let url = format!("http://{}/mcp", listener.address().unwrap());
        let server = Server::new("protected", "1.0.0")
            .tool(Tool::new("whoami", async |caller: Claims| caller.subject))
            .tool(Tool::new("purge", || async { "gone" }).require_scope("admin"));
        let http = server.http().public_url(&url).auth(tokens(&provider.url, &url));
        let mut serving = JoinSet::new();
        serving.spawn(listener.serve(http.build().unwrap(), std::future::pending()));
        let issuer = provider.url.clone();
        Self { url, issuer, _provider: provider, _serving: serving }
    }

    /// Our client logs in, and calls both tools.
    async fn log_in(&self, browser: &Browser) {
        for (_, revision) in ERAS {
            let client = Client::http(&self.url).auth(browser.clone()).revisions([revision]);
            let client = client.connect().await.unwrap();
            for (tool, expected) in [("whoami", "ann"), ("purge", "gone")] {
                assert_eq!(client.call(tool, json!({})).await.unwrap().text(), expected);
            }
            client.close().await;
        }
    }
}

/// Verifies signed tokens for a server.
fn signed(issuer: &str, url: &str) -> Jwt {
    Jwt::issuer(issuer).audience(url).require_scope("mcp")
}

/// The user approves every login.
fn browser() -> Browser {
    let open = |page: BrowserUrl| async move { UserAgent::Approves.open(&page.to_text()).await };
    Browser::new("bowline").open_with(open)
}

/// Lets a peer log in and call tools, and gives its report.
async fn report(peer: &[&str], arguments: &[&str]) -> Value {
    serde_json::from_str(&peers::run(peer, arguments).await).unwrap()
}

#[tokio::test]
async fn clients_of_other_sdks_register_themselves_and_log_in() {
    let server = ProtectedServer::start().await;
    for peer in [TYPESCRIPT_V2, PYTHON] {
        for (era, revision) in ERAS {
            let report = report(peer, &["--era", era, &server.url, "whoami"]).await;
            assert_eq!(report["tools"], json!({ "whoami": "ann" }), "{peer:?} {era}");
            assert_eq!(report["revision"], revision.as_str(), "{peer:?}");
            assert_eq!(report["logins"].as_array().unwrap().len(), 1, "{peer:?} {era}");
            assert_eq!(report["logins"][0]["resource"], server.url, "{peer:?} {era}");
        }
    }
}

/// A client that registers itself asks for the scopes of the first challenge, and `oidc-provider`
/// grants it no others later. A client with a metadata document is not bound to any.
#[tokio::test]
async fn clients_of_other_sdks_log_in_again_for_another_scope() {
    let server = ProtectedServer::start().await;
    for peer in [TYPESCRIPT_V2, PYTHON] {
        for (era, _) in ERAS {
            let login = ["--era", era, "--document", CLIENT, &server.url, "whoami", "purge"];
            let report = report(peer, &login).await;
            assert_eq!(report["tools"], json!({ "whoami": "ann", "purge": "gone" }), "{peer:?}");
            assert_eq!(report["client"], CLIENT, "{peer:?} {era}");
            assert_eq!(report["logins"].as_array().unwrap().len(), 2, "{peer:?} {era}");
        }
    }
}

#[tokio::test]
async fn our_client_logs_in_and_again_for_another_scope() {
    let server = ProtectedServer::start().await;
    server.log_in(&browser()).await;
    server.log_in(&browser().metadata_document(CLIENT)).await;
}

#[tokio::test]
async fn our_client_logs_in_with_tokens_that_are_bound_to_its_key() {
    let bound = |issuer: &str, url: &str| signed(issuer, url).dpop();
    ProtectedServer::with(&[], bound).await.log_in(&browser()).await;
    // The server asks for no proof, and the client insists.
    ProtectedServer::start().await.log_in(&browser().dpop()).await;
}

#[tokio::test]
async fn our_client_logs_in_with_opaque_tokens() {
    let opaque = |issuer: &str, url: &str| {
        let tokens = Introspection::issuer(issuer).client("machine", "machine-secret");
        tokens.audience(url).require_scope("mcp")
    };
    ProtectedServer::with(&["--opaque"], opaque).await.log_in(&browser()).await;
}

#[tokio::test]
async fn a_machine_logs_in_and_has_only_the_scopes_that_it_asked_for() {
    let server = ProtectedServer::start().await;
    for (_, revision) in ERAS {
        let machine = Machine::secret(server.issuer.as_str(), "machine", "machine-secret");
        let client = Client::http(&server.url).auth(machine).revisions([revision]);
        let client = client.connect().await.unwrap();
        assert_eq!(client.call("whoami", json!({})).await.unwrap().text(), "machine");
        let tools = client.tools().all().await.unwrap();
        assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["whoami"]);
        client.close().await;
    }
}
