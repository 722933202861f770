//! Clients that the authorization server knows.

use std::fmt;

use bowline_auth::jose::jwk::{JwkSet, PublicKey};
use bowline_auth::secret::Secret;
use bowline_auth::url::Url;
use bowline_types::json::RawJson;

/// How a client authenticates itself at the token endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientAuthMethod {
    /// It does not: a public client, which sends its id.
    None,
    /// Its id and secret in the `Authorization` header.
    SecretBasic,
    /// Its id and secret in the form.
    SecretPost,
    /// A token that it signed with its private key (RFC 7523).
    PrivateKeyJwt,
}

impl ClientAuthMethod {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::SecretBasic, Self::SecretPost, Self::PrivateKeyJwt, Self::None];

    /// The name in metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::SecretBasic => "client_secret_basic",
            Self::SecretPost => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.name() == name)
    }
}

/// A client that is known to the authorization server: registered in advance, by itself, or by its
/// metadata document.
#[derive(Clone)]
pub struct RegisteredClient {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) secret: Option<Secret<String>>,
    pub(super) keys: JwkSet,
    pub(super) methods: Vec<ClientAuthMethod>,
    pub(super) redirect_uris: Vec<String>,
    /// `None`: every grant.
    pub(super) grants: Option<Vec<String>>,
}

impl RegisteredClient {
    /// A client without a secret, which may use every grant that needs no authentication.
    pub fn public(id: impl Into<String>) -> Self {
        let id = id.into();
        Self {
            name: id.clone(),
            id,
            secret: None,
            keys: JwkSet::default(),
            methods: vec![ClientAuthMethod::None],
            redirect_uris: Vec::new(),
            grants: None,
        }
    }

    /// A client with a secret, which it may send in the header or in the form.
    pub fn with_secret(id: impl Into<String>, secret: impl Into<Secret<String>>) -> Self {
        let methods = vec![ClientAuthMethod::SecretBasic, ClientAuthMethod::SecretPost];
        Self { secret: Some(secret.into()), methods, ..Self::public(id) }
    }

    /// A client that authenticates itself with a private key.
    ///
    /// # Panics
    ///
    /// Never: a public key is always valid JSON.
    pub fn with_key(id: impl Into<String>, key: &PublicKey) -> Self {
        let key = RawJson::from_checked(key.to_json());
        let set = format!(r#"{{"keys":[{}]}}"#, key.as_str());
        let keys = JwkSet::parse(&set).expect("a public key is valid JSON");
        Self { keys, methods: vec![ClientAuthMethod::PrivateKeyJwt], ..Self::public(id) }
    }

    /// Adds an address to which the browser may be sent back.
    ///
    /// It must match exactly, except for the port of an address of this machine, such as
    /// `http://127.0.0.1/callback`: a native client listens on any port.
    #[must_use]
    pub fn redirect_uri(mut self, uri: impl Into<String>) -> Self {
        self.redirect_uris.push(uri.into());
        self
    }

    /// Restricts the client to these grants, such as `client_credentials`.
    #[must_use]
    pub fn grants<I>(mut self, grants: I) -> Self
    where
        I: IntoIterator<Item: Into<String>>,
    {
        self.grants = Some(grants.into_iter().map(Into::into).collect());
        self
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn is_public(&self) -> bool {
        self.methods == [ClientAuthMethod::None]
    }

    pub(super) fn may_use(&self, grant: &str) -> bool {
        self.grants.as_ref().is_none_or(|grants| grants.iter().any(|known| known == grant))
    }

    pub(super) fn may_return_to(&self, uri: &str) -> bool {
        // A header can carry nothing else.
        let is_printable = uri.bytes().all(|c| c.is_ascii_graphic());
        is_printable && self.redirect_uris.iter().any(|known| matches_redirect(known, uri))
    }

    /// Whether every redirect leads to this machine.
    pub(super) fn is_local_only(&self) -> bool {
        let is_local = |uri: &String| Url::parse(uri).is_ok_and(|url| url.is_loopback());
        self.redirect_uris.iter().all(is_local)
    }
}

impl fmt::Debug for RegisteredClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("RegisteredClient");
        shown.field("id", &self.id).field("methods", &self.methods);
        shown.field("redirect_uris", &self.redirect_uris).finish_non_exhaustive()
    }
}

fn matches_redirect(known: &str, uri: &str) -> bool {
    if known == uri {
        return true;
    }
    let (Ok(known), Ok(uri)) = (Url::parse(known), Url::parse(uri)) else { return false };
    // The system chooses the port on which a native client listens (RFC 8252, section 7.3).
    known.is_loopback()
        && !known.is_https()
        && !uri.is_https()
        && (known.host(), known.path(), known.query()) == (uri.host(), uri.path(), uri.query())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_redirect_matches_to_the_letter_but_for_the_port_of_this_machine() {
        for (known, uri, matches) in [
            ("https://a.example/cb", "https://a.example/cb", true),
            ("https://a.example/cb", "https://a.example/cb/", false),
            ("https://a.example/cb", "https://A.example/cb", false),
            ("https://a.example/cb", "https://a.example:8443/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:4000/cb", true),
            ("http://127.0.0.1/cb", "http://localhost:4000/cb", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:4000/other", false),
            ("http://127.0.0.1/cb", "http://127.0.0.1:4000/cb?x", false),
            ("http://127.0.0.1:4000/cb", "http://127.0.0.1:4001/cb", true),
            ("http://[::1]:4000/cb", "http://[::1]:4001/cb", true),
            ("http://localhost:4000/cb", "http://localhost:4001/cb", true),
            ("http://127.0.0.1:4000/cb", "https://127.0.0.1:4001/cb", false),
            ("https://127.0.0.1:4000/cb", "https://127.0.0.1:4001/cb", false),
            ("http://127.0.0.1:4000/cb", "http://127.0.0.2:4000/cb", false),
            ("app:/cb", "app:/cb", true),
        ] {
            assert_eq!(matches_redirect(known, uri), matches, "{known} {uri}");
        }
    }

    #[test]
    fn debug_shows_no_secret() {
        let client = RegisteredClient::with_secret("api", "canary");
        assert!(!format!("{client:?}").contains("canary"));
    }
}
