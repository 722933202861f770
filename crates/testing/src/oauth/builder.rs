//! Sets up an authorization server.

use std::future::IntoFuture;
use std::time::{Duration, SystemTime};

use bowline_auth::jose::jwk::JwkSet;
use bowline_auth::jose::sign::SigningKey;
use futures_core::future::BoxFuture;

use super::authorization_server::AuthorizationServer;
use super::fault::Fault;
use super::options::{
    AccessTokenFormat, DpopPolicy, LoginConsent, MetadataPlace, Options, TrustedIssuer, TrustedKeys,
};
use super::registered_client::{ClientAuthMethod, RegisteredClient};

/// An [`AuthorizationServer`] before its start. Awaiting it starts the server.
#[must_use = "awaiting it starts the server"]
#[derive(Default)]
pub struct AuthorizationServerBuilder {
    options: Options,
    faults: Vec<(Fault, Option<usize>)>,
}

impl AuthorizationServerBuilder {
    /// Gives the issuer a path, such as `/t1`. Every endpoint is below it.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.options.path = path.into();
        self
    }

    /// Publishes the metadata at these places only; by default at all three.
    pub fn metadata_at(mut self, places: impl IntoIterator<Item = MetadataPlace>) -> Self {
        self.options.metadata = places.into_iter().collect();
        self
    }

    /// Chooses what happens when a browser arrives; by default the user decides on a page.
    pub fn consent(mut self, consent: LoginConsent) -> Self {
        self.options.consent = consent;
        self
    }

    /// Names the user that sits at the browser; `ann` by default.
    pub fn user(mut self, subject: impl Into<String>) -> Self {
        self.options.user = subject.into();
        self
    }

    /// Adds a resource that tokens can be for. Without this call, tokens can be for any resource.
    pub fn resource(mut self, resource: impl Into<String>) -> Self {
        self.options.resources.push(resource.into());
        self
    }

    /// Accepts requests without `resource`, as clients of 2025-03-26 send them. Tokens are then for
    /// the first resource, if there is one.
    pub fn without_required_resource(mut self) -> Self {
        self.options.is_resource_required = false;
        self
    }

    /// The scopes that there are. A request without `scope` gets all of them. Without this call, a
    /// client can have any scope, and the metadata lists none.
    pub fn scopes<I>(mut self, scopes: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.options.scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// Lists the scope `offline_access`, and issues refresh tokens only to clients that ask for it.
    pub fn offline_access(mut self) -> Self {
        self.options.has_offline_access = true;
        self
    }

    /// How long access tokens are valid; five minutes by default.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.options.lifetime = lifetime;
        self
    }

    /// Issues JSON Web Tokens, which is the default, or opaque texts.
    pub fn access_tokens(mut self, format: AccessTokenFormat) -> Self {
        self.options.format = format;
        self
    }

    /// Signs with this key, in place of a new one for ES256.
    pub fn signing_key(mut self, key: SigningKey) -> Self {
        self.options.key = Some(key);
        self
    }

    /// Sends no `iss` in authorization responses, and does not announce it, as older servers.
    pub fn without_iss(mut self) -> Self {
        self.options.sends_iss = false;
        self
    }

    /// Has no registration endpoint.
    pub fn without_registration(mut self) -> Self {
        self.options.has_registration = false;
        self
    }

    /// Registers a client without `application_type` regardless of its redirects. Otherwise it counts as
    /// a web application, which cannot be redirected to this machine.
    pub fn without_required_application_type(mut self) -> Self {
        self.options.is_application_type_required = false;
        self
    }

    /// Does not accept the URL of a metadata document as a client id.
    pub fn without_client_documents(mut self) -> Self {
        self.options.has_client_documents = false;
        self
    }

    /// Gives the server a client metadata document that it would fetch from an `https` URL. Documents
    /// on this machine are fetched.
    pub fn client_document(mut self, url: impl Into<String>, json: impl Into<String>) -> Self {
        self.options.client_documents.insert(url.into(), json.into());
        self
    }

    /// Adds a client that is registered in advance.
    pub fn client(mut self, client: RegisteredClient) -> Self {
        self.options.clients.push(client);
        self
    }

    /// The ways in which a client may authenticate itself; by default all.
    pub fn auth_methods(mut self, methods: impl IntoIterator<Item = ClientAuthMethod>) -> Self {
        self.options.methods = methods.into_iter().collect();
        self
    }

    /// Whether clients bind their tokens to a key; by default they may.
    pub fn dpop(mut self, policy: DpopPolicy) -> Self {
        self.options.dpop = policy;
        self
    }

    /// Demands a nonce in every proof of possession.
    pub fn dpop_nonces(mut self) -> Self {
        self.options.wants_nonces = true;
        self
    }

    /// Issues no refresh tokens.
    pub fn without_refresh_tokens(mut self) -> Self {
        self.options.has_refresh_tokens = false;
        self
    }

    /// Lets a client use a refresh token any number of times, and answers a refresh without a new
    /// one. By default every refresh token is used once.
    pub fn without_rotation(mut self) -> Self {
        self.options.rotates = false;
        self
    }

    /// Accepts assertions of an issuer as a grant, for example workload identities.
    pub fn trust_keys(mut self, issuer: impl Into<String>, keys: JwkSet) -> Self {
        let keys = TrustedKeys::Fixed(keys);
        self.options.trusted.push(TrustedIssuer { issuer: issuer.into(), keys });
        self
    }

    /// Accepts assertions of another authorization server as a grant, for example that of an enterprise.
    pub fn trust(mut self, provider: &AuthorizationServer) -> Self {
        let keys = TrustedKeys::Of(provider.key_ring());
        let issuer = provider.issuer().to_owned();
        self.options.trusted.push(TrustedIssuer { issuer, keys });
        self
    }

    /// Stops the server's clock at a time. [`AuthorizationServer::advance`] moves it.
    pub fn time(mut self, time: SystemTime) -> Self {
        self.options.time = Some(time);
        self
    }

    /// Makes a mistake, always.
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push((fault, None));
        self
    }

    /// Makes a mistake the first few times.
    pub fn fault_times(mut self, fault: Fault, times: usize) -> Self {
        self.faults.push((fault, Some(times)));
        self
    }
}

impl IntoFuture for AuthorizationServerBuilder {
    type Output = AuthorizationServer;
    type IntoFuture = BoxFuture<'static, AuthorizationServer>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(AuthorizationServer::serve(self.options, self.faults))
    }
}
