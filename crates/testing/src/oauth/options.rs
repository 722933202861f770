//! What an authorization server does, as its builder sets it.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bowline_auth::jose::jwk::JwkSet;
use bowline_auth::jose::sign::SigningKey;

use super::key_ring::KeyRing;
use super::registered_client::{ClientAuthMethod, RegisteredClient};

/// The scope that asks for a refresh token.
pub(super) const OFFLINE_ACCESS: &str = "offline_access";

/// Where the metadata is published, relative to an issuer such as `https://a.example/t1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetadataPlace {
    /// `/.well-known/oauth-authorization-server/t1` (RFC 8414).
    OAuth,
    /// `/.well-known/openid-configuration/t1` (RFC 8414, section 5).
    OpenIdInserted,
    /// `/t1/.well-known/openid-configuration` (OpenID Connect Discovery).
    OpenIdAppended,
}

/// What happens when a browser arrives at the authorization endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LoginConsent {
    /// The user decides on a page. See [`approve`](super::AuthorizationServer::approve).
    Ask,
    /// The server approves at once, without a page. For clients that only follow redirects.
    Approve,
    /// The server denies at once.
    Deny,
}

/// Whether tokens are bound to a key of the client (RFC 9449).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DpopPolicy {
    /// A proof is ignored, and the metadata does not offer any algorithm.
    Ignored,
    /// A client may send a proof.
    Optional,
    /// A client must send a proof.
    Required,
}

/// What an access token looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AccessTokenFormat {
    /// A JSON Web Token (RFC 9068).
    Jwt,
    /// A random text, which only introspection explains.
    Opaque,
}

/// An issuer whose assertions are grants here.
#[derive(Clone)]
pub(super) struct TrustedIssuer {
    pub(super) issuer: String,
    pub(super) keys: TrustedKeys,
}

#[derive(Clone)]
pub(super) enum TrustedKeys {
    Fixed(JwkSet),
    /// Those of another authorization server of the test.
    Of(Arc<KeyRing>),
}

impl TrustedIssuer {
    pub(super) fn keys(&self) -> JwkSet {
        match &self.keys {
            TrustedKeys::Fixed(set) => set.clone(),
            TrustedKeys::Of(ring) => ring.set(),
        }
    }
}

pub(super) struct Options {
    pub(super) path: String,
    pub(super) metadata: Vec<MetadataPlace>,
    pub(super) consent: LoginConsent,
    pub(super) user: String,
    /// Empty: any resource.
    pub(super) resources: Vec<String>,
    pub(super) is_resource_required: bool,
    /// Empty: any scope.
    pub(super) scopes: Vec<String>,
    pub(super) has_offline_access: bool,
    pub(super) lifetime: Duration,
    pub(super) format: AccessTokenFormat,
    pub(super) sends_iss: bool,
    pub(super) has_registration: bool,
    pub(super) is_application_type_required: bool,
    pub(super) has_client_documents: bool,
    /// Documents by their URLs, which are not fetched.
    pub(super) client_documents: HashMap<String, String>,
    pub(super) clients: Vec<RegisteredClient>,
    pub(super) methods: Vec<ClientAuthMethod>,
    pub(super) dpop: DpopPolicy,
    pub(super) wants_nonces: bool,
    pub(super) has_refresh_tokens: bool,
    pub(super) rotates: bool,
    pub(super) trusted: Vec<TrustedIssuer>,
    pub(super) time: Option<SystemTime>,
    pub(super) key: Option<SigningKey>,
}

impl Default for Options {
    fn default() -> Self {
        use MetadataPlace::{OAuth, OpenIdAppended, OpenIdInserted};

        Self {
            path: String::new(),
            metadata: vec![OAuth, OpenIdInserted, OpenIdAppended],
            consent: LoginConsent::Ask,
            user: "ann".to_owned(),
            resources: Vec::new(),
            is_resource_required: true,
            scopes: Vec::new(),
            has_offline_access: false,
            lifetime: Duration::from_secs(300),
            format: AccessTokenFormat::Jwt,
            sends_iss: true,
            has_registration: true,
            is_application_type_required: true,
            has_client_documents: true,
            client_documents: HashMap::new(),
            clients: Vec::new(),
            methods: ClientAuthMethod::ALL.to_vec(),
            dpop: DpopPolicy::Optional,
            wants_nonces: false,
            has_refresh_tokens: true,
            rotates: true,
            trusted: Vec::new(),
            time: None,
            key: None,
        }
    }
}
