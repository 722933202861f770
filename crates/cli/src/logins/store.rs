//! Where tokens are: in files, unless the user chose the keyring. The folder is created by the
//! first login, not by the commands that look for one.

use std::path::PathBuf;

use bowline::auth::{Error, FileStore, Store, StoreKey, StoreLock, StoredRecord};
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

pub(super) type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;

impl LoginStore {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    fn open(&self) -> Result<FileStore, Error> {
        FileStore::open(&self.folder)
    }
}

impl Store for LoginStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<StoredRecord>, Error>> {
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
    ) -> BoxFuture<'a, Result<bool, Error>> {
        Box::pin(async move { self.open()?.swap(key, seen, record).await })
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<StoreLock, Error>> {
        Box::pin(async move { self.open()?.lock(key).await })
    }
}
