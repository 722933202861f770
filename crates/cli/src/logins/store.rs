//! Where tokens are: in files, unless the user chose the keyring. The folder is created by the
//! first login, not by the commands that look for one.

use std::path::PathBuf;

use bowline::auth::{Error, FileStore, Store, StoreKey, StoreLock, StoredRecord};
use bowline_auth::client::store::StoreFuture;
use serde::{Deserialize, Serialize};

/// Where the tokens of a login are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TokenPlace {
    /// In files that only the user can read.
    #[default]
    Files,
    /// In the keyring of the system.
    Keyring,
}

impl TokenPlace {
    pub(crate) fn is_files(&self) -> bool {
        *self == Self::Files
    }
}

/// A folder of files that may not exist yet.
#[derive(Debug)]
pub(crate) struct LoginStore {
    folder: PathBuf,
}

impl LoginStore {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn open(&self) -> Result<FileStore, Error> {
        FileStore::open(&self.folder)
    }
}

impl Store for LoginStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredRecord>> {
        Box::pin(async move {
            match self.folder.is_dir() {
                true => self.open()?.load(key).await,
                false => Ok(None),
            }
        })
    }

    fn swap<'a>(
        &'a self,
        key: &'a StoreKey,
        seen: Option<u64>,
        record: Option<StoredRecord>,
    ) -> StoreFuture<'a, bool> {
        Box::pin(async move { self.open()?.swap(key, seen, record).await })
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock> {
        Box::pin(async move { self.open()?.lock(key).await })
    }
}
