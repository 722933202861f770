//! Authorization over HTTP (OAuth).
//!
//! # Clients
//!
//! A client that is given to `ClientBuilder::auth` logs in when its server demands it, keeps and
//! renews its tokens, and asks for more scopes when a call needs them:
//!
//! | to log in | use |
//! |---|---|
//! | a user, with a browser | [`Browser`] |
//! | a program, with a client id of its own | [`Machine`] |
//! | a program, with a token of the platform that it runs on | [`Workload`] |
//! | a user, with the identity provider of an enterprise | [`Enterprise`] |
//!
//! Tokens are kept in memory, unless a [`FileStore`] or another [`Store`] keeps them.

#[cfg(feature = "auth-client")]
#[doc(inline)]
pub use {
    bowline_auth::client::open::BrowserUrl,
    bowline_auth::client::plan::{
        Browser, Enterprise, IdentityProvider, Issuer, Machine, Workload,
    },
    bowline_auth::client::store::{
        FileStore, MemoryStore, Store, StoreKey, StoreLock, StoredRecord,
    },
    bowline_auth::jose::sign::SigningKey,
};
#[doc(inline)]
pub use {
    bowline_auth::error::Error, bowline_auth::jose::jws::Algorithm, bowline_auth::secret::Secret,
    bowline_auth::url::Url,
};
