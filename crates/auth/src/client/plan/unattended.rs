//! Logins without a user at a browser: a program has credentials of its own.

use std::future::Future;
use std::sync::Arc;

use super::{
    AssertionSource, Credential, DpopUse, EnterpriseGrant, Grant, Issuer, Plan, Preregistered,
    SharedStore,
};
use crate::client::store::Store;
use crate::error::Error;
use crate::jose::sign::SigningKey;
use crate::scope::Scopes;
use crate::secret::Secret;
use crate::url::Url;

/// Logs a program in with its own client id (`client_credentials`).
#[derive(Clone, Debug)]
pub struct Machine {
    client: Preregistered,
    options: Options,
}

/// Logs a program in with a token of the platform that it runs on (workload identity, RFC 7523).
#[derive(Clone, Debug)]
pub struct Workload {
    client: Preregistered,
    token: AssertionSource,
    options: Options,
}

/// Logs a user in with the identity that an enterprise's identity provider vouches for.
///
/// The user is never sent to the authorization server of the MCP server.
#[derive(Clone, Debug)]
pub struct Enterprise {
    grant: EnterpriseGrant,
    options: Options,
}

/// What all of them have.
#[derive(Clone, Debug)]
struct Options {
    account: String,
    scopes: Scopes,
    dpop: DpopUse,
    store: SharedStore,
}

impl Default for Options {
    fn default() -> Self {
        let (account, scopes, store) = Default::default();
        Self { account, scopes, dpop: DpopUse::WhenAsked, store }
    }
}

impl Options {
    fn plan(self, client: &str, grant: Grant) -> Plan {
        let Self { account, scopes, dpop, store } = self;
        Plan { client: client.to_owned(), account, grant, scopes, dpop, store }
    }
}

macro_rules! options {
    ($($type:ident)*) => {$(
        impl $type {
            /// Keeps records in a store. Without it, they are kept in memory.
            #[must_use]
            pub fn store(mut self, store: impl Store) -> Self {
                self.options.store = SharedStore::new(store);
                self
            }

            /// Keeps apart the logins of several accounts of one program.
            #[must_use]
            pub fn account(mut self, account: impl Into<String>) -> Self {
                self.options.account = account.into();
                self
            }

            /// Asks for these scopes at every login, beside those that the server names.
            #[must_use]
            pub fn scopes(mut self, scopes: Scopes) -> Self {
                self.options.scopes = scopes;
                self
            }

            /// Insists on tokens that are bound to a key (DPoP). Without it, they are bound if the
            /// MCP server asks for it.
            #[must_use]
            pub fn dpop(mut self) -> Self {
                self.options.dpop = DpopUse::Always;
                self
            }
        }
    )*};
}

options!(Machine Workload Enterprise);

impl Machine {
    /// A client with a secret. It is sent as basic authentication or in the body, as the metadata of
    /// the authorization server say.
    pub fn secret(
        issuer: impl Into<Issuer>,
        id: impl Into<String>,
        secret: impl Into<Secret<String>>,
    ) -> Self {
        Self::new(issuer.into(), id.into(), Credential::Secret(secret.into()))
    }

    /// A client with a private key (`private_key_jwt`). The key never leaves the program.
    pub fn key(issuer: impl Into<Issuer>, id: impl Into<String>, key: SigningKey) -> Self {
        Self::new(issuer.into(), id.into(), Credential::Key(Arc::new(key)))
    }

    fn new(issuer: Issuer, id: String, credential: Credential) -> Self {
        let client = Preregistered { issuer, id, credential };
        Self { client, options: Options::default() }
    }
}

impl From<Machine> for Plan {
    fn from(Machine { client, options }: Machine) -> Self {
        options.plan(&format!("machine {}", client.id), Grant::Credentials(client))
    }
}

impl Workload {
    /// The function gives the current token of the platform, for each login anew.
    pub fn new<F, R>(issuer: impl Into<Issuer>, id: impl Into<String>, token: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<Secret<String>, Error>> + Send + 'static,
    {
        let (issuer, id, credential) = (issuer.into(), id.into(), Credential::None);
        let client = Preregistered { issuer, id, credential };
        let token = AssertionSource(Arc::new(move || Box::pin(token())));
        Self { client, token, options: Options::default() }
    }
}

impl From<Workload> for Plan {
    fn from(Workload { client, token, options }: Workload) -> Self {
        options.plan(&format!("workload {}", client.id), Grant::Workload(client, token))
    }
}

/// The identity provider of an enterprise, and the client that the user logged in with there.
#[derive(Clone, Debug)]
pub struct IdentityProvider {
    pub(crate) issuer: String,
    pub(crate) id: String,
    pub(crate) credential: Credential,
    pub(crate) token_endpoint: Option<Url>,
}

impl IdentityProvider {
    /// The issuer, and the client id there.
    pub fn new(issuer: impl Into<String>, id: impl Into<String>) -> Self {
        let (issuer, id, credential) = (issuer.into(), id.into(), Credential::None);
        Self { issuer, id, credential, token_endpoint: None }
    }

    /// The secret of the client at the identity provider.
    #[must_use]
    pub fn secret(mut self, secret: impl Into<Secret<String>>) -> Self {
        self.credential = Credential::Secret(secret.into());
        self
    }

    /// The token endpoint. Without it, the metadata of the issuer name it.
    #[must_use]
    pub fn token_endpoint(mut self, url: Url) -> Self {
        self.token_endpoint = Some(url);
        self
    }
}

impl Enterprise {
    /// The identity provider, and the ID token that it gave about the user. Set the client at the
    /// authorization server of the MCP server with [`client`](Self::client).
    pub fn new(provider: IdentityProvider, id_token: impl Into<Secret<String>>) -> Self {
        let id_token = id_token.into();
        Self::with(provider, move || {
            let id_token = id_token.clone();
            async move { Ok(id_token) }
        })
    }

    /// The same with a function that gives the current ID token, for each login anew.
    pub fn with<F, R>(provider: IdentityProvider, id_token: F) -> Self
    where
        F: Fn() -> R + Send + Sync + 'static,
        R: Future<Output = Result<Secret<String>, Error>> + Send + 'static,
    {
        let (id, credential) = (provider.id.clone(), Credential::None);
        let client = Preregistered { issuer: Issuer::first_seen(), id, credential };
        let id_token = AssertionSource(Arc::new(move || Box::pin(id_token())));
        let grant = EnterpriseGrant { provider, id_token, client };
        Self { grant, options: Options::default() }
    }

    /// The client at the authorization server of the MCP server. Without it, the client id at the
    /// identity provider is used there too, without a secret.
    #[must_use]
    pub fn client(
        mut self,
        issuer: impl Into<Issuer>,
        id: impl Into<String>,
        secret: impl Into<Secret<String>>,
    ) -> Self {
        let (issuer, id) = (issuer.into(), id.into());
        let credential = Credential::Secret(secret.into());
        self.grant.client = Preregistered { issuer, id, credential };
        self
    }
}

impl From<Enterprise> for Plan {
    fn from(Enterprise { grant, options }: Enterprise) -> Self {
        let client = format!("enterprise {}", grant.client.id);
        options.plan(&client, Grant::Enterprise(Box::new(grant)))
    }
}
