//! Our client logs in at an authorization server, over real sockets, and calls our protected server
//! with the tokens.

use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

use bowline::auth::{
    Browser, Enterprise, FileStore, IdentityProvider, Issuer, Machine, Secret, SigningKey, Workload,
};
use bowline::client::{ClientAuthorization, ClientBuilder, HttpServer};
use bowline::http::{Admit, Authorization};
use bowline::{Client, Server};
use bowline_auth::jose::jwk::JwkSet;
use bowline_auth::jose::sign::EmbeddedKey;
use bowline_auth::resource::Jwt;
use bowline_testing::oauth::{
    AuthorizationServer, AuthorizationServerBuilder, DpopPolicy, OAuthEndpoint, RegisteredClient,
    UserAgent,
};
use bowline_types::revision::Revision;
use serde_json::json;

use super::server;
use crate::test_server::{TestServer, within};

const BOTH: [Revision; 2] = [Revision::LATEST, Revision::LATEST_LEGACY];

/// Verifies tokens of an authorization server for the URL at which the server listens.
struct TokensOf {
    issuer: String,
    change: fn(Jwt) -> Jwt,
}

impl Authorization for TokensOf {
    fn admit_to(self: Arc<Self>, resource: &str) -> Result<Arc<dyn Admit>, String> {
        let jwt = Jwt::issuer(&*self.issuer).audience(resource).require_scope("mcp");
        Arc::new((self.change)(jwt)).admit_to(resource)
    }
}

fn authority() -> AuthorizationServerBuilder {
    AuthorizationServer::start().scopes(["mcp", "admin", "export"])
}

/// Starts a server that takes tokens of an authorization server.
async fn protected(authority: &AuthorizationServer, change: fn(Jwt) -> Jwt) -> TestServer {
    let tokens = TokensOf { issuer: authority.issuer().to_owned(), change };
    TestServer::of(server(), |http| http.auth(tokens)).await
}

fn to(server: &TestServer) -> ClientBuilder<HttpServer> {
    Client::http(format!("http://{}/mcp", server.address))
}

fn browser(authority: &AuthorizationServer) -> Browser {
    Browser::new("my client").open_with(authority.approve())
}

fn count(authority: &AuthorizationServer, endpoint: OAuthEndpoint) -> usize {
    authority.requests_to(endpoint).len()
}

async fn text(client: &Client, tool: &str) -> String {
    within(client.call(tool, json!({})).into_future()).await.unwrap().text()
}

/// Who the server says that a client with this login is.
async fn name_of(server: &TestServer, login: impl ClientAuthorization) -> String {
    let client = within(to(server).auth(login).connect()).await.unwrap();
    let name = text(&client, "whoami").await;
    client.close().await;
    name
}

#[tokio::test]
async fn a_user_logs_in_once_for_all_connections_in_both_eras() {
    let authority = authority().await;
    let server = protected(&authority, |jwt| jwt).await;
    let folder = tempfile::tempdir().unwrap();
    for revision in BOTH.into_iter().chain(BOTH) {
        let store = FileStore::open(folder.path().join("logins")).unwrap();
        let client = to(&server).auth(browser(&authority).store(store)).revisions([revision]);
        let client = within(client.connect()).await.unwrap();
        assert_eq!(text(&client, "whoami").await, "ann mcp");
        client.close().await;
    }
    assert_eq!(count(&authority, OAuthEndpoint::Register), 1);
    assert_eq!(count(&authority, OAuthEndpoint::Authorize), 1);
    assert_eq!(count(&authority, OAuthEndpoint::Token), 1);
}

#[tokio::test]
async fn a_user_without_a_browser_pastes_the_address_of_the_last_page() {
    let authority = authority().await;
    let server = protected(&authority, |jwt| jwt).await;
    let approves = |page: bowline::auth::BrowserUrl| async move {
        UserAgent::Approves.decide(&page.to_string()).await.ok()
    };
    assert_eq!(name_of(&server, Browser::new("ci").paste(approves)).await, "ann mcp");
    let gives_up = to(&server).auth(Browser::new("ci").paste(|_| async { None }));
    let error = within(gives_up.connect()).await.unwrap_err();
    assert!(error.is_unauthorized(), "{error}");
}

#[tokio::test]
async fn programs_log_in_without_a_user() {
    const PLATFORM: &str = "https://platform.example";
    let (key, _) = SigningKey::generate().unwrap();
    let (platform_key, _) = SigningKey::generate().unwrap();
    let public = platform_key.public().to_json();
    let keys = JwkSet::parse(&format!(r#"{{"keys":[{public}]}}"#)).unwrap();
    let authority = authority()
        .client(RegisteredClient::with_secret("api", "s"))
        .client(RegisteredClient::with_key("signed", key.public()))
        .client(RegisteredClient::public("pod"))
        .trust_keys(PLATFORM, keys)
        .await;
    let server = protected(&authority, |jwt| jwt).await;
    let issuer = authority.issuer();
    assert_eq!(name_of(&server, Machine::secret(issuer, "api", "s")).await, "api mcp");
    let first = Issuer::first_seen();
    assert_eq!(name_of(&server, Machine::key(first, "signed", key)).await, "signed mcp");
    let exp = authority.now().duration_since(UNIX_EPOCH).unwrap().as_secs() + 60;
    let claims = json!({ "iss": PLATFORM, "sub": "pod-1", "aud": issuer, "exp": exp });
    let token = platform_key.sign("JWT", EmbeddedKey::Absent, &claims).unwrap();
    let workload = Workload::new(issuer, "pod", move || {
        let token: Secret<String> = token.clone();
        async move { Ok(token) }
    });
    assert_eq!(name_of(&server, workload).await, "pod-1 mcp");
    assert_eq!(count(&authority, OAuthEndpoint::Authorize), 0);
}

#[tokio::test]
async fn an_employee_logs_in_with_the_identity_provider_of_the_enterprise() {
    let api = || RegisteredClient::with_secret("api", "s");
    let provider = AuthorizationServer::start().client(api()).await;
    let authority = authority().trust(&provider).client(api()).await;
    let server = protected(&authority, |jwt| jwt).await;
    let identity = IdentityProvider::new(provider.issuer(), "api").secret("s");
    let enterprise = Enterprise::new(identity, provider.id_token("api", "ann"));
    let enterprise = enterprise.client(authority.issuer(), "api", "s");
    assert_eq!(name_of(&server, enterprise).await, "ann mcp");
    assert_eq!(count(&authority, OAuthEndpoint::Authorize), 0);
}

// spec: SCOPE-14, SCOPE-15
#[tokio::test]
async fn a_call_that_needs_more_scopes_sends_the_user_to_the_page_once_more() {
    for revision in BOTH {
        let authority = authority().await;
        let server = protected(&authority, |jwt| jwt).await;
        let client = to(&server).auth(browser(&authority)).revisions([revision]);
        let client = within(client.connect()).await.unwrap();
        assert_eq!(text(&client, "export").await, "out");
        assert_eq!(text(&client, "whoami").await, "ann export,mcp");
        assert_eq!(text(&client, "purge").await, "gone");
        assert_eq!(text(&client, "whoami").await, "ann admin,export,mcp");
        assert_eq!(count(&authority, OAuthEndpoint::Authorize), 3);
        client.close().await;
    }
}

#[tokio::test]
async fn a_scope_that_the_user_denies_fails_the_call_and_not_the_connection() {
    let authority = authority().await;
    let server = protected(&authority, |jwt| jwt).await;
    let (approve, deny) = (authority.approve(), authority.deny());
    let denies_admin =
        Browser::new("my client").open_with(move |page: bowline::auth::BrowserUrl| {
            match page.to_string().contains("admin") {
                true => deny(page),
                false => approve(page),
            }
        });
    let client = within(to(&server).auth(denies_admin).connect()).await.unwrap();
    let error = within(client.call("purge", json!({})).into_future()).await.unwrap_err();
    assert_eq!(error.http_status(), Some(403), "{error}");
    assert!(error.to_string().contains("access_denied"), "{error}");
    assert_eq!(text(&client, "whoami").await, "ann mcp");
}

#[tokio::test]
async fn a_user_that_denies_is_asked_once() {
    let authority = authority().await;
    let server = protected(&authority, |jwt| jwt).await;
    let denied = Browser::new("my client").open_with(authority.deny());
    let error = within(to(&server).auth(denied).connect()).await.unwrap_err();
    assert!(error.is_unauthorized() && error.to_string().contains("access_denied"), "{error}");
    assert_eq!(count(&authority, OAuthEndpoint::Authorize), 1);
}

#[tokio::test]
async fn tokens_are_renewed_without_the_user() {
    let authority = authority().lifetime(Duration::ZERO).await;
    let server = protected(&authority, |jwt| jwt).await;
    let client = within(to(&server).auth(browser(&authority)).connect()).await.unwrap();
    for _ in 0..3 {
        assert_eq!(text(&client, "whoami").await, "ann mcp");
    }
    assert!(count(&authority, OAuthEndpoint::Token) > 3);
    assert_eq!((count(&authority, OAuthEndpoint::Authorize), authority.reuses()), (1, 0));
}

#[tokio::test]
async fn a_user_logs_out_and_another_logs_in() {
    let authority = authority().await;
    let server = protected(&authority, |jwt| jwt).await;
    let client = within(to(&server).auth(browser(&authority)).connect()).await.unwrap();
    assert_eq!(text(&client, "whoami").await, "ann mcp");
    within(client.logout()).await.unwrap();
    assert_eq!(count(&authority, OAuthEndpoint::Revoke), 2);
    authority.sign_in("ben");
    assert_eq!(text(&client, "whoami").await, "ben mcp");
    assert_eq!(count(&authority, OAuthEndpoint::Authorize), 2);
}

#[tokio::test]
async fn tokens_that_are_bound_to_a_key_are_proved_with_every_request() {
    let authority = authority().dpop(DpopPolicy::Required).dpop_nonces().await;
    let server = protected(&authority, |jwt| jwt.dpop().dpop_nonces()).await;
    for revision in BOTH {
        let client = to(&server).auth(browser(&authority)).revisions([revision]);
        let client = within(client.connect()).await.unwrap();
        for _ in 0..2 {
            assert_eq!(text(&client, "whoami").await, "ann mcp");
        }
        client.close().await;
    }
}

#[tokio::test]
async fn a_token_of_one_server_is_not_sent_to_another() {
    let authority = authority().await;
    let (one, other) =
        (protected(&authority, |jwt| jwt).await, protected(&authority, |jwt| jwt).await);
    let browser = browser(&authority);
    for server in [&one, &other, &one] {
        assert_eq!(name_of(server, browser.clone()).await, "ann mcp");
    }
    assert_eq!(count(&authority, OAuthEndpoint::Authorize), 2);
    let plain =
        TestServer::of((Server::new("plain", "1"), one.handlers.clone()), |http| http).await;
    let client = within(to(&plain).auth(browser).connect()).await.unwrap();
    client.close().await;
    assert_eq!(count(&authority, OAuthEndpoint::Authorize), 2);
}

#[tokio::test]
async fn a_server_that_accepts_no_token_of_its_authorization_server_opens_one_page() {
    let authority = authority().await;
    // It wants tokens for another name than its own URL, which no client asks for.
    let wrong = TestServer::of(server(), |http| {
        http.auth(Jwt::issuer(authority.issuer()).audience("https://elsewhere.example/mcp"))
    });
    let wrong = wrong.await;
    let browser = browser(&authority);
    for _ in 0..3 {
        let error = within(to(&wrong).auth(browser.clone()).connect()).await.unwrap_err();
        let text = error.to_string();
        assert!(error.is_unauthorized(), "{text}");
        for part in [
            format!("`http://{}/mcp` answered 401", wrong.address),
            "`invalid_token`, `the access token is for another resource`".to_owned(),
            "no new login for ".to_owned(),
            "check which issuer and which audience the server accepts".to_owned(),
        ] {
            assert!(text.contains(&part), "{text}");
        }
    }
    assert_eq!(count(&authority, OAuthEndpoint::Authorize), 1);
}
