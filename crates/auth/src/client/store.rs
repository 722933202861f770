//! Where records of logins are kept.
//!
//! Several programs may share a store. So a record has a version, a new record replaces the version
//! that its writer has seen and no other, and a program that renews a token locks the record first:
//! a refresh token that is used twice revokes the login.

mod file;
mod memory;

use std::any::Any;
use std::fmt;

use futures_core::future::BoxFuture;

pub use self::file::FileStore;
pub use self::memory::MemoryStore;
use crate::error::Error;
use crate::secret::Secret;

/// What a store answers, for programs with a store of their own.
pub type StoreFuture<'a, T> = BoxFuture<'a, Result<T, Error>>;

/// Keeps records of logins. They hold tokens and must be kept secret.
pub trait Store: Send + Sync + 'static {
    /// The record of a key.
    ///
    /// # Errors
    ///
    /// If the store fails. See [`Error::store`].
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<StoredRecord>, Error>>;

    /// Replaces the record of a key if its version is the one that was seen, `None` if there was no
    /// record. Deletes it if the new record is `None`. Says whether it did, in one indivisible step.
    ///
    /// # Errors
    ///
    /// If the store fails.
    fn swap<'a>(
        &'a self,
        key: &'a StoreKey,
        seen: Option<u64>,
        record: Option<StoredRecord>,
    ) -> BoxFuture<'a, Result<bool, Error>>;

    /// Waits until no other program or task holds the lock of this key, and takes it.
    ///
    /// # Errors
    ///
    /// If the store fails, or the lock is not free in time.
    fn lock<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<StoreLock, Error>>;
}

/// Runs operations of a store on a thread where they may block.
///
/// # Errors
///
/// If the operations fail, or the runtime ends.
pub async fn run_blocking<T: Send + 'static>(
    operations: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let lost = |_| Error::store("the program is ending");
    tokio::task::spawn_blocking(operations).await.map_err(lost)?
}

/// A record as a store keeps it.
#[derive(Clone, Debug)]
pub struct StoredRecord {
    /// A random number, a different one for each text.
    pub version: u64,
    /// The record.
    pub text: Secret<String>,
}

/// A lock, held until it is dropped.
pub struct StoreLock(
    #[expect(dead_code, reason = "dropping it frees the lock")] Box<dyn Any + Send>,
);

impl StoreLock {
    /// Wraps a value whose `Drop` frees the lock.
    pub fn new(held: impl Any + Send) -> Self {
        Self(Box::new(held))
    }
}

impl fmt::Debug for StoreLock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreLock")
    }
}

/// What a record is about: an issuer, a resource, a client and an account. Or what points to it: the
/// same without an issuer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreKey {
    issuer: Option<String>,
    resource: String,
    client: String,
    account: String,
}

impl StoreKey {
    /// The key under which the issuer of a resource is remembered.
    pub(crate) fn pointer(resource: &str, client: &str, account: &str) -> Self {
        let (resource, client, account) = (resource.into(), client.into(), account.into());
        Self { issuer: None, resource, client, account }
    }

    /// The key of the record of a resource at an issuer, for the same client and account.
    pub(crate) fn record(&self, issuer: &str, resource: &str) -> Self {
        let (issuer, resource) = (Some(issuer.to_owned()), resource.to_owned());
        Self { issuer, resource, ..self.clone() }
    }

    /// The issuer, `None` for a pointer.
    pub fn issuer(&self) -> Option<&str> {
        self.issuer.as_deref()
    }

    /// The resource.
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// The key as one text. Different keys have different texts. It holds no secret.
    pub fn to_text(&self) -> String {
        let parts = (&self.issuer, &self.resource, &self.client, &self.account);
        serde_json::to_string(&parts).expect("texts can be written as JSON")
    }
}

#[cfg(test)]
mod tests;
