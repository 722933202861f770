//! Access tokens, as the token endpoint issues them and as tests want them.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bowline_auth::jose::jwk::PublicKey;
use bowline_auth::jose::sign::{EmbeddedKey, SigningKey};
use bowline_auth::scope::Scopes;
use serde::Serialize;

use super::authority::Authority;
use super::authority_clock::seconds;
use super::grant_store::{AccessToken, Grant};
use super::options::AccessTokenFormat;
use super::random::random_text;

/// An access token in the making: [`AuthorizationServer::token`](super::AuthorizationServer::token).
///
/// Without further calls it is for the user and the first resource of the server, has all its scopes,
/// and lives as long as its tokens do.
#[must_use = "`build` makes the token"]
pub struct AccessTokenBuilder {
    authority: Arc<Authority>,
    grant: Grant,
    audience: Vec<String>,
    issuer: String,
    media_type: String,
    issued: SystemTime,
    lifetime: Duration,
    format: AccessTokenFormat,
    key: Arc<SigningKey>,
}

#[derive(Serialize)]
struct AccessTokenClaims<'a> {
    iss: &'a str,
    sub: &'a str,
    aud: &'a [String],
    iat: u64,
    exp: u64,
    jti: String,
    client_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scope: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cnf: Option<Thumbprint<'a>>,
}

/// The key that a token is bound to.
#[derive(Serialize)]
pub(super) struct Thumbprint<'a> {
    pub(super) jkt: &'a str,
}

impl AccessTokenBuilder {
    pub(super) fn new(authority: Arc<Authority>, grant: Grant) -> Self {
        Self {
            audience: grant.resource.iter().cloned().collect(),
            grant,
            issuer: authority.issuer.clone(),
            media_type: "at+jwt".to_owned(),
            issued: authority.clock.now(),
            lifetime: authority.options.lifetime,
            format: authority.options.format,
            key: authority.keys.current(),
            authority,
        }
    }

    /// The user, or the client itself.
    pub fn subject(mut self, subject: impl Into<String>) -> Self {
        self.grant.subject = subject.into();
        self
    }

    /// The client that the token was issued to.
    pub fn client(mut self, id: impl Into<String>) -> Self {
        self.grant.client = id.into();
        self
    }

    /// The resource that the token is for. Further calls add further ones.
    pub fn audience(mut self, resource: impl Into<String>) -> Self {
        // The first call replaces the resource of the server.
        if self.grant.resource.take().is_some() {
            self.audience.clear();
        }
        self.audience.push(resource.into());
        self
    }

    /// The scopes, in place of all that the server has.
    ///
    /// # Panics
    ///
    /// If one is not a scope.
    pub fn scopes<I>(mut self, scopes: I) -> Self
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        self.grant.scopes = Scopes::of(scopes).expect("every text is a scope");
        self
    }

    /// How long the token is valid.
    pub fn lifetime(mut self, lifetime: Duration) -> Self {
        self.lifetime = lifetime;
        self
    }

    /// Makes a token that expired an hour ago.
    pub fn expired(mut self) -> Self {
        self.issued -= self.lifetime + Duration::from_secs(3600);
        self
    }

    /// Binds the token to a key: its user must prove to have it (RFC 9449).
    pub fn bound_to(mut self, key: &PublicKey) -> Self {
        self.grant.key = Some(key.thumbprint());
        self
    }

    /// Names another issuer. The signature stays that of this server.
    pub fn issuer(mut self, issuer: impl Into<String>) -> Self {
        self.issuer = issuer.into();
        self
    }

    /// The `typ` in the header; `at+jwt` unless it is set.
    pub fn media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = media_type.into();
        self
    }

    /// Signs with a key that the server does not publish.
    pub fn signed_by(mut self, key: SigningKey) -> Self {
        self.key = Arc::new(key);
        self
    }

    /// Sets the format, JSON Web Token or opaque text, instead of that of the server.
    pub fn format(mut self, format: AccessTokenFormat) -> Self {
        self.format = format;
        self
    }

    /// Makes the token. Introspection knows it from now on.
    ///
    /// # Panics
    ///
    /// If the system gives no randomness.
    pub fn build(self) -> String {
        let expires = self.issued + self.lifetime;
        let token = match self.format {
            AccessTokenFormat::Jwt => self.sign(expires),
            AccessTokenFormat::Opaque => random_text(),
        };
        let record = AccessToken {
            grant: self.grant,
            audience: self.audience,
            issued: self.issued,
            expires,
            is_revoked: false,
        };
        self.authority.grants.lock().access.insert(token.clone(), record);
        token
    }

    fn sign(&self, expires: SystemTime) -> String {
        let claims = AccessTokenClaims {
            iss: &self.issuer,
            sub: &self.grant.subject,
            aud: &self.audience,
            iat: seconds(self.issued),
            exp: seconds(expires),
            jti: random_text(),
            client_id: &self.grant.client,
            scope: (!self.grant.scopes.is_empty()).then(|| self.grant.scopes.to_string()),
            cnf: self.grant.key.as_deref().map(|jkt| Thumbprint { jkt }),
        };
        let token = self.key.sign(&self.media_type, EmbeddedKey::Absent, &claims);
        token.expect("the system gives randomness").expose().clone()
    }
}
