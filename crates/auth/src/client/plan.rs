//! How a program wants to get its tokens.
//!
//! [`Browser`] sends the user to a page; [`Machine`], [`Workload`] and [`Enterprise`] have credentials
//! of their own. Each becomes a [`Plan`].

mod browser;
mod unattended;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use bowline_proto::sync::lock;
use futures_core::future::BoxFuture;

pub use self::browser::Browser;
pub(crate) use self::browser::{REDIRECT_PATH, check_document_url};
pub use self::unattended::{Enterprise, IdentityProvider, Machine, Workload};
use super::identity::{ClientIdentity, Credential};
use super::logins::LoginHistory;
use super::open::BrowserUrl;
use super::store::{MemoryStore, Store, StoreKey};
use crate::error::Error;
use crate::scope::Scopes;
use crate::secret::Secret;

/// The authorization server that knows a client: one issuer, or the first that is seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issuer(pub(crate) Option<String>);

impl Issuer {
    /// The issuer that the MCP server names at the first login. The store remembers it, and a change
    /// is an error: the credentials must not go to a server that the MCP server names later.
    pub fn first_seen() -> Self {
        Self(None)
    }
}

impl From<&str> for Issuer {
    fn from(issuer: &str) -> Self {
        Self(Some(issuer.to_owned()))
    }
}

impl From<String> for Issuer {
    fn from(issuer: String) -> Self {
        Self(Some(issuer))
    }
}

/// A client id that an authorization server knows already.
#[derive(Clone, Debug)]
pub(crate) struct Preregistered {
    pub(crate) issuer: Issuer,
    pub(crate) id: String,
    pub(crate) credential: Credential,
}

impl Preregistered {
    pub(crate) fn identity(&self) -> ClientIdentity {
        let (id, credential) = (self.id.clone(), self.credential.clone());
        ClientIdentity { id, credential, method: None }
    }
}

/// How a program wants to get its tokens. A [`Browser`], [`Machine`], [`Workload`] or [`Enterprise`]
/// becomes one.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The client, in the keys of records.
    pub(crate) client: String,
    /// The account, in the keys of records.
    pub(crate) account: String,
    pub(crate) grant: Grant,
    /// Scopes to ask for at every login, beside those that the server names.
    pub(crate) scopes: Scopes,
    pub(crate) dpop: DpopUse,
    pub(crate) store: SharedStore,
}

impl Plan {
    /// What a user can do to log in, if the plan uses and renews stored tokens and leaves logins to
    /// another program.
    pub(crate) fn stored_only(&self) -> Option<&str> {
        match &self.grant {
            Grant::Code(code) => match &code.page {
                PageDelivery::Never(advice) => Some(advice),
                _ => None,
            },
            _ => None,
        }
    }

    /// The extension of the protocol that a client with this plan declares in its capabilities.
    pub fn extension(&self) -> Option<&'static str> {
        match self.grant {
            Grant::Code(_) | Grant::Workload(..) => None,
            Grant::Credentials(_) => Some("io.modelcontextprotocol/oauth-client-credentials"),
            Grant::Enterprise(_) => {
                Some("io.modelcontextprotocol/enterprise-managed-authorization")
            }
        }
    }
}

/// When tokens are bound to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DpopUse {
    /// If the MCP server asks for it.
    WhenAsked,
    Always,
}

/// What is exchanged for a token.
#[derive(Clone, Debug)]
pub(crate) enum Grant {
    /// An authorization code, which the user's browser brings.
    Code(Box<CodeGrant>),
    /// The client's own credentials.
    Credentials(Preregistered),
    /// A token of the platform that the program runs on.
    Workload(Preregistered, AssertionSource),
    /// The user's identity at an identity provider.
    Enterprise(Box<EnterpriseGrant>),
}

impl Grant {
    /// The client id that was registered beforehand.
    pub(crate) fn preregistered(&self) -> Option<&Preregistered> {
        match self {
            Self::Code(code) => code.client.as_ref(),
            Self::Credentials(client) | Self::Workload(client, _) => Some(client),
            Self::Enterprise(enterprise) => Some(&enterprise.client),
        }
    }

    /// Where the assertion of a login comes from, if it needs one.
    pub(crate) fn assertion(&self) -> Option<&AssertionSource> {
        match self {
            Self::Code(_) | Self::Credentials(_) => None,
            Self::Workload(_, source) => Some(source),
            Self::Enterprise(enterprise) => Some(&enterprise.id_token),
        }
    }
}

/// A login of a user with a browser.
#[derive(Clone, Debug)]
pub(crate) struct CodeGrant {
    /// The name that the user reads at the authorization server.
    pub(crate) name: String,
    pub(crate) client: Option<Preregistered>,
    /// The URL of a metadata document, which is a client id.
    pub(crate) document: Option<String>,
    /// The issuers that support PKCE with S256 although their metadata do not say so.
    pub(crate) s256_known: Vec<String>,
    pub(crate) page: PageDelivery,
    /// The port of the redirect URI.
    pub(crate) port: Option<u16>,
}

/// A login with the identity that an identity provider vouches for.
#[derive(Clone, Debug)]
pub(crate) struct EnterpriseGrant {
    pub(crate) provider: IdentityProvider,
    pub(crate) id_token: AssertionSource,
    pub(crate) client: Preregistered,
}

/// How the user reaches a page.
#[derive(Clone)]
pub(crate) enum PageDelivery {
    /// A browser of this machine; the answer comes to a port of this machine.
    Loopback(Opener),
    /// The user opens the page anywhere, and pastes the address of the last page.
    Paste(Paster),
    /// The user is never sent to a page: another program logs in. Says how, or is empty.
    Never(String),
}

/// Opens a page.
pub(crate) type Opener =
    Arc<dyn Fn(BrowserUrl) -> BoxFuture<'static, Result<(), Error>> + Send + Sync>;
/// Shows a page, and gives the address that the user pasted, if any.
pub(crate) type Paster =
    Arc<dyn Fn(BrowserUrl) -> BoxFuture<'static, Option<String>> + Send + Sync>;

impl fmt::Debug for PageDelivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Loopback(_) => "Loopback",
            Self::Paste(_) => "Paste",
            Self::Never(_) => "Never",
        })
    }
}

/// Gives a new assertion for each login.
#[derive(Clone)]
pub(crate) struct AssertionSource(
    pub(crate) Arc<dyn Fn() -> BoxFuture<'static, Result<Secret<String>, Error>> + Send + Sync>,
);

impl fmt::Debug for AssertionSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AssertionSource")
    }
}

/// The store of a plan, and what its clients must know of each other's logins. Clones share both.
#[derive(Clone)]
pub(crate) struct SharedStore {
    pub(crate) store: Arc<dyn Store>,
    /// By the text of the pointer to the record.
    logins: Arc<Mutex<HashMap<String, Arc<LoginHistory>>>>,
}

impl SharedStore {
    pub(crate) fn new(store: impl Store) -> Self {
        Self { store: Arc::new(store), logins: Arc::default() }
    }

    /// The logins that a pointer stands for: at one MCP server, of one client and account.
    pub(crate) fn logins(&self, pointer: &StoreKey) -> Arc<LoginHistory> {
        lock(&self.logins).entry(pointer.to_text()).or_default().clone()
    }
}

impl Default for SharedStore {
    fn default() -> Self {
        Self::new(MemoryStore::new())
    }
}

impl fmt::Debug for SharedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Store")
    }
}
