//! An authorization server for tests of protected servers and of clients that log in.
//!
//! [`AuthorizationServer::start`] opens a real HTTP server on a free port of this machine. It does
//! what such a server should, and refuses what it should refuse: PKCE is required, redirects must match
//! exactly, a refresh token works once. Then a test injects a [`Fault`] and checks that the client
//! detects it.
//!
//! It is for tests only: it keeps everything in memory, forever, and asks no user for a password.
//!
//! # A protected server
//!
//! A server that verifies tokens needs the issuer, and tokens that are right or wrong in one way:
//!
//! ```
//! use bowline_testing::oauth::{AuthorizationServer, OAuthEndpoint};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let authority =
//!     AuthorizationServer::start().resource("https://mcp.example/mcp").scopes(["mcp", "admin"]).await;
//! let good = authority.token().subject("ann").scopes(["mcp"]).build();
//! let stale = authority.token().expired().build();
//! let foreign = authority.token().audience("https://another.example/mcp").build();
//! // … send each to the server under test, which fetches the keys from `authority.issuer()` …
//! # let _ = (good, stale, foreign);
//!
//! authority.rotate_key();
//! let newer = authority.token().build();
//! // … the server under test fetches the keys again …
//! # let _ = newer;
//! assert_eq!(authority.requests_to(OAuthEndpoint::Jwks).len(), 0);
//! # }
//! ```
//!
//! # A client that logs in
//!
//! A client opens a page for its user. [`AuthorizationServer::approve`] gives it a function that does
//! so and approves; [`deny`](AuthorizationServer::deny) one that denies. Here the client is the test
//! itself:
//!
//! ```
//! use bowline_testing::oauth::{AuthorizationServer, Fault, RegisteredClient, UserAgent};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let client = RegisteredClient::public("app").redirect_uri("http://127.0.0.1/callback");
//! let authority = AuthorizationServer::start().client(client).fault(Fault::WrongIss).await;
//!
//! let page = format!(
//!     "{}/authorize?client_id=app&redirect_uri=http://127.0.0.1:4000/callback&response_type=code\
//!      &code_challenge=E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM&code_challenge_method=S256\
//!      &resource=https://mcp.example/mcp&state=xyz",
//!     authority.issuer()
//! );
//! let back = UserAgent::Approves.decide(&page).await?;
//! assert!(back.starts_with("http://127.0.0.1:4000/callback?code="));
//! assert!(back.ends_with("&state=xyz&iss=https%3A%2F%2Fattacker.example"));
//! # Ok(())
//! # }
//! ```
//!
//! # What it saw
//!
//! [`requests`](AuthorizationServer::requests) lists all requests with their parameters, so that a
//! test can state what a client must send and must not send. [`SeenRequest`] prints no secrets.
//!
//! # Time
//!
//! The server's clock is the system's, plus what [`advance`](AuthorizationServer::advance) added. The
//! code under test should take its time from [`now`](AuthorizationServer::now).
//! [`time`](AuthorizationServerBuilder::time) stops the clock.

mod access_token;
mod assertion;
mod authenticate;
mod authority;
mod authority_clock;
mod authorization_server;
mod authorize;
mod builder;
mod cookie_jar;
mod exchange;
mod fault;
mod grant_store;
mod grant_type;
mod id_token;
mod introspect;
mod key_ring;
mod known_client;
mod loopback_http;
mod loopback_listener;
mod metadata;
mod oauth_answer;
mod oauth_request;
mod options;
mod proof;
mod random;
mod redeem;
mod register;
mod registered_client;
mod request_log;
mod route;
mod token;
mod token_answer;
mod user_agent;

pub use self::access_token::AccessTokenBuilder;
pub use self::authorization_server::AuthorizationServer;
pub use self::builder::AuthorizationServerBuilder;
pub use self::fault::Fault;
pub use self::loopback_http::VisitError;
pub use self::options::{AccessTokenFormat, DpopPolicy, LoginConsent, MetadataPlace};
pub use self::registered_client::{ClientAuthMethod, RegisteredClient};
pub use self::request_log::{OAuthEndpoint, SeenRequest};
pub use self::user_agent::UserAgent;
