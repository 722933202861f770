//! The handle of a running authorization server.

use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bowline_auth::jose::sign::SigningKey;
use bowline_auth::scope::Scopes;
use bowline_proto::sync::lock;
use futures_core::future::BoxFuture;
use serde::Serialize;

use super::access_token::AccessTokenBuilder;
use super::authority::Authority;
use super::builder::AuthorizationServerBuilder;
use super::fault::Fault;
use super::grant_store::Grant;
use super::id_token;
use super::key_ring::{KeyRing, new_key};
use super::loopback_http::VisitError;
use super::loopback_listener::{LoopbackListener, ServingGuard};
use super::options::Options;
use super::registered_client::RegisteredClient;
use super::request_log::{OAuthEndpoint, SeenRequest};
use super::user_agent::UserAgent;

/// An authorization server on a free port of this machine. It ends when its last clone is dropped.
#[derive(Clone)]
pub struct AuthorizationServer {
    authority: Arc<Authority>,
    _serving: Arc<ServingGuard>,
}

impl AuthorizationServer {
    /// Begins to set up a server. Awaiting the builder starts it.
    pub fn start() -> AuthorizationServerBuilder {
        AuthorizationServerBuilder::default()
    }

    pub(super) async fn serve(options: Options, faults: Vec<(Fault, Option<usize>)>) -> Self {
        let listener = LoopbackListener::bind().await;
        let authority = Arc::new(Authority::new(&listener.origin(), options));
        for (fault, times) in faults {
            authority.faults.inject(fault, times);
        }
        let serving = Arc::new(listener.serve(authority.clone()));
        Self { authority, _serving: serving }
    }

    /// The issuer: what a resource names in `authorization_servers`.
    pub fn issuer(&self) -> &str {
        &self.authority.issuer
    }

    /// The URL of an endpoint.
    pub fn url(&self, endpoint: OAuthEndpoint) -> String {
        let name = match endpoint {
            OAuthEndpoint::Metadata => ".well-known/openid-configuration",
            OAuthEndpoint::Jwks => "jwks",
            OAuthEndpoint::Authorize => "authorize",
            OAuthEndpoint::Consent => "consent",
            OAuthEndpoint::Register => "register",
            OAuthEndpoint::Token => "token",
            OAuthEndpoint::Introspect => "introspect",
            OAuthEndpoint::Revoke => "revoke",
            OAuthEndpoint::Unknown => "unknown",
        };
        self.authority.endpoint(name)
    }

    /// A function that opens the page of a login, as a browser does, and approves. It returns when
    /// the client has received the answer.
    pub fn approve<P: fmt::Display>(
        &self,
    ) -> impl Fn(P) -> BoxFuture<'static, Result<(), VisitError>> + Clone + Send + Sync + 'static + use<P>
    {
        UserAgent::Approves.opener()
    }

    /// The same, for a user that denies.
    pub fn deny<P: fmt::Display>(
        &self,
    ) -> impl Fn(P) -> BoxFuture<'static, Result<(), VisitError>> + Clone + Send + Sync + 'static + use<P>
    {
        UserAgent::Denies.opener()
    }

    /// Puts another user in front of the browser.
    pub fn sign_in(&self, subject: impl Into<String>) {
        *lock(&self.authority.user) = subject.into();
    }

    /// Passes requests for all other paths on to a server of this machine, which so becomes a part of
    /// the origin. An MCP server of 2025-03-26 is its own authorization server:
    ///
    /// ```
    /// # use bowline_testing::oauth::AuthorizationServer;
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> std::io::Result<()> {
    /// # let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    /// let authority = AuthorizationServer::start().await;
    /// authority.share_origin_with(listener.local_addr()?);
    /// let mcp = format!("{}/mcp", authority.issuer());
    /// // … serve the MCP server with the public URL `mcp` on the listener …
    /// # Ok(())
    /// # }
    /// ```
    pub fn share_origin_with(&self, server: SocketAddr) {
        *lock(&self.authority.neighbour) = Some(server);
    }

    /// An access token without a login, for tests of protected servers.
    pub fn token(&self) -> AccessTokenBuilder {
        let options = &self.authority.options;
        let grant = self.grant("test", lock(&self.authority.user).clone());
        let scopes = Scopes::of(&options.scopes).expect("the builder was given scopes");
        let grant = Grant { scopes, resource: options.resources.first().cloned(), ..grant };
        AccessTokenBuilder::new(self.authority.clone(), grant)
    }

    /// An ID token about a user for a client, as after a login with the scope `openid`.
    pub fn id_token(&self, client: &str, subject: &str) -> String {
        id_token::sign(&self.authority, &self.grant(client, subject.to_owned()))
    }

    /// Signs any claims with the current key, as a token of a type such as `at+jwt`.
    ///
    /// # Panics
    ///
    /// If they cannot be written as JSON.
    pub fn sign(&self, media_type: &str, claims: &impl Serialize) -> String {
        id_token::signed(&self.authority, media_type, claims)
    }

    fn grant(&self, client: &str, subject: String) -> Grant {
        Grant {
            client: client.to_owned(),
            subject,
            scopes: Scopes::new(),
            resource: None,
            nonce: None,
            key: None,
            family: self.authority.grants.lock().new_family(),
        }
    }

    /// The server's time.
    pub fn now(&self) -> SystemTime {
        self.authority.clock.now()
    }

    /// Moves the server's clock forward.
    pub fn advance(&self, time: Duration) {
        self.authority.clock.advance(time);
    }

    /// Signs with a new key for ES256 from now on. Earlier keys stay published.
    pub fn rotate_key(&self) {
        self.rotate_key_to(new_key());
    }

    /// Signs with this key from now on. Earlier keys stay published.
    pub fn rotate_key_to(&self, key: SigningKey) {
        self.authority.keys.rotate(key);
    }

    /// Publishes only the key that signs now. Tokens of earlier keys cannot be verified any more.
    pub fn retire_keys(&self) {
        self.authority.keys.retire();
    }

    pub(super) fn key_ring(&self) -> Arc<KeyRing> {
        self.authority.keys.clone()
    }

    /// Demands another nonce in proofs of possession from now on.
    pub fn rotate_nonce(&self) {
        self.authority.grants.lock().rotate_nonce();
    }

    /// Registers a client in advance.
    pub fn add_client(&self, client: RegisteredClient) {
        self.authority.add_client(client);
    }

    /// Forgets a client, as servers do with clients that registered themselves.
    pub fn remove_client(&self, id: &str) {
        self.authority.remove_client(id);
    }

    /// Makes a mistake from now on.
    pub fn inject(&self, fault: Fault) {
        self.authority.faults.inject(fault, None);
    }

    /// Makes a mistake the next few times.
    pub fn inject_times(&self, fault: Fault, times: usize) {
        self.authority.faults.inject(fault, Some(times));
    }

    /// Makes no mistakes any more.
    pub fn heal(&self) {
        self.authority.faults.clear();
    }

    /// The requests so far, in the order in which they arrived.
    pub fn requests(&self) -> Vec<SeenRequest> {
        self.authority.log.all()
    }

    /// The requests to an endpoint so far.
    pub fn requests_to(&self, endpoint: OAuthEndpoint) -> Vec<SeenRequest> {
        let mut requests = self.requests();
        requests.retain(|request| request.endpoint() == endpoint);
        requests
    }

    /// How many logins were revoked because a code or a refresh token was used twice.
    pub fn reuses(&self) -> usize {
        self.authority.grants.lock().reuses
    }
}

impl fmt::Debug for AuthorizationServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AuthorizationServer({})", self.issuer())
    }
}
