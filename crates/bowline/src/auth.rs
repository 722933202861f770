//! Authorization over HTTP (OAuth).
//!
//! # Clients
//!
//! A client with one of these (`ClientBuilder::auth`) logs in when its server demands it, keeps and
//! renews its tokens, and asks for more scopes when a call needs them:
//!
//! | to log in | use |
//! |---|---|
//! | a user, with a browser | `Browser` |
//! | a program, with a client id of its own | `Machine` |
//! | a program, with a token of the platform that it runs on | `Workload` |
//! | a user, with the identity provider of an enterprise | `Enterprise` |
//!
//! Tokens are kept in memory, unless a `FileStore` or another `Store` keeps them.
//!
//! # Servers
//!
//! A server with one of these (`Http::auth`) admits only callers with an access token:
//!
//! | tokens | use |
//! |---|---|
//! | that the authorization server signed | `Jwt` |
//! | that only the authorization server understands | `Introspection` |
//! | that a function of yours verifies | `verify_fn` |
//! | that are written in the program, for development | `FixedTokens` |
//!
//! Handlers take the `Claims` of their caller, and tools, resources and prompts can require scopes.

#[cfg(feature = "auth-client")]
#[doc(inline)]
pub use {
    bowline_auth::client::drive::{LoginDemand, LoginStatus},
    bowline_auth::client::open::BrowserUrl,
    bowline_auth::client::plan::{
        Browser, Enterprise, IdentityProvider, Issuer, Machine, Workload,
    },
    bowline_auth::client::store::{
        FileStore, MemoryStore, Store, StoreKey, StoreLock, StoredRecord,
    },
    bowline_auth::jose::sign::SigningKey,
    bowline_client::ServerLogin,
};
#[doc(inline)]
pub use {
    bowline_auth::error::Error, bowline_auth::jose::jws::Algorithm, bowline_auth::scope::Scopes,
    bowline_auth::secret::Secret, bowline_auth::url::Url,
};
#[cfg(feature = "auth-server")]
#[doc(inline)]
pub use {
    bowline_auth::fetch::{FetchRequest, Fetched, Fetcher},
    bowline_auth::jose::jwk::JwkSet,
    bowline_auth::resource::introspect::{IntrospectionClient, IntrospectionIssuer},
    bowline_auth::resource::jwt::JwtIssuer,
    bowline_auth::resource::policy::Policy,
    bowline_auth::resource::verify::VerifyFn,
    bowline_auth::resource::{
        Denied, FixedTokens, Introspection, Jwt, Presented, Verified, Verify, VerifyContext,
        verify_fn,
    },
    bowline_proto::request::{Access, Claims},
};
