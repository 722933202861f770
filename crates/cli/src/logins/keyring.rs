//! Tokens in the keyring of the system: the Keychain of macOS, the Credential Manager of Windows,
//! the key retention service of the kernel on Linux.
//!
//! A record is one secret of the keyring. A keyring cannot compare and replace in one step, so a
//! file beside the list of logins is locked meanwhile. Processes that renew a token wait for each
//! other as with files: the lock file of a record is the same.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

use bowline::auth::{Error, FileStore, Secret, Store, StoreKey, StoreLock, StoredRecord};
use bowline_auth::client::store::{StoreFuture, run_blocking};
use bowline_auth::private_file;
use keyring_core::{CredentialStore, Entry};

use crate::exit::Failure;

/// Opens the keyring of the system for the logins of a folder.
///
/// # Errors
///
/// If this system has none.
pub(crate) fn open(folder: PathBuf) -> Result<KeyringStore, Failure> {
    let keyring = system().map_err(|error| super::unusable(&failed(&error)))?;
    Ok(KeyringStore { folder, keyring })
}

#[cfg(target_os = "linux")]
fn system() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(linux_keyutils_keyring_store::Store::new()?)
}

#[cfg(target_os = "macos")]
fn system() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(apple_native_keyring_store::keychain::Store::new()?)
}

#[cfg(windows)]
fn system() -> keyring_core::Result<Arc<CredentialStore>> {
    Ok(windows_native_keyring_store::Store::new()?)
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn system() -> keyring_core::Result<Arc<CredentialStore>> {
    Err(keyring_core::Error::NotSupportedByStore("no keyring of this system is known".to_owned()))
}

/// The records of a folder of logins, in a keyring.
#[derive(Clone, Debug)]
pub(crate) struct KeyringStore {
    folder: PathBuf,
    keyring: Arc<CredentialStore>,
}

impl Store for KeyringStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, Option<StoredRecord>> {
        let (store, key) = (self.clone(), key.to_text());
        Box::pin(run_blocking(move || store.read(&key)))
    }

    fn swap<'a>(
        &'a self,
        key: &'a StoreKey,
        seen: Option<u64>,
        record: Option<StoredRecord>,
    ) -> StoreFuture<'a, bool> {
        let (store, key) = (self.clone(), key.to_text());
        Box::pin(run_blocking(move || store.replace(&key, seen, record.as_ref())))
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> StoreFuture<'a, StoreLock> {
        Box::pin(async move { FileStore::open(&self.folder)?.lock(key).await })
    }
}

impl KeyringStore {
    /// The secret of a key. Its name holds the folder, because each folder has its own locks.
    fn entry(&self, key: &str) -> Result<Entry, Error> {
        let user = format!("{} {key}", self.folder.display());
        let build =
            || self.keyring.build(super::CLIENT_NAME, &user, None).map_err(|error| failed(&error));
        if cfg!(target_os = "linux") {
            // Gives a thread without a session keyring one that leads to the records of other
            // processes; the entry still looks into the one before.
            build()?;
        }
        build()
    }

    fn read(&self, key: &str) -> Result<Option<StoredRecord>, Error> {
        let bytes = match self.entry(key)?.get_secret() {
            Ok(bytes) => bytes,
            Err(keyring_core::Error::NoEntry) => return Ok(None),
            Err(error) => return Err(failed(&error)),
        };
        let malformed = || Error::store("the keyring holds a secret that is not a record");
        let text = Secret::new(String::from_utf8(bytes).map_err(|_| malformed())?);
        let (version, record) = text.expose().split_once('\n').ok_or_else(malformed)?;
        let version = version.parse().map_err(|_| malformed())?;
        Ok(Some(StoredRecord { version, text: Secret::from(record) }))
    }

    fn replace(
        &self,
        key: &str,
        seen: Option<u64>,
        record: Option<&StoredRecord>,
    ) -> Result<bool, Error> {
        let _guard = self.guard()?;
        // On Linux the kernel updates the record for all sessions of the user only if this session
        // has found it first.
        if self.read(key)?.map(|record| record.version) != seen {
            return Ok(false);
        }
        let entry = self.entry(key)?;
        let outcome = match record {
            Some(record) => {
                let text = Secret::new(format!("{}\n{}", record.version, record.text.expose()));
                entry.set_secret(text.expose().as_bytes())
            }
            None => entry.delete_credential(),
        };
        match outcome {
            Ok(()) | Err(keyring_core::Error::NoEntry) => Ok(true),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Waits until no other process replaces a record. The guard is free when the file is closed.
    fn guard(&self) -> Result<File, Error> {
        // Creates the folder, and checks that no other user has access to it.
        FileStore::open(&self.folder)?;
        let path = self.folder.join("keyring.write");
        private_file::lock(&path).map_err(|error| {
            Error::store(format!("{} cannot be locked: {error}", path.display())).with_source(error)
        })
    }
}

/// The error of a keyring. Its text never holds a secret, but its values may.
fn failed(error: &keyring_core::Error) -> Error {
    Error::store(format!("the keyring of the system: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(folder: &std::path::Path) -> KeyringStore {
        let keyring = keyring_core::mock::Store::new().unwrap();
        KeyringStore { folder: folder.join("logins"), keyring }
    }

    fn record(version: u64) -> StoredRecord {
        StoredRecord { version, text: Secret::from(format!("{{\"token\":\"{version}\"}}\n")) }
    }

    fn loaded(store: &KeyringStore, key: &str) -> Option<(u64, String)> {
        let record = store.read(key).unwrap()?;
        Some((record.version, record.text.expose().clone()))
    }

    #[test]
    fn a_record_is_replaced_only_by_a_writer_that_has_seen_it() {
        let home = tempfile::tempdir().unwrap();
        let store = store(home.path());
        assert_eq!(loaded(&store, "a"), None);
        assert!(!store.replace("a", Some(1), Some(&record(2))).unwrap());
        assert!(store.replace("a", None, Some(&record(1))).unwrap());
        assert!(!store.replace("a", None, Some(&record(2))).unwrap());
        assert_eq!(loaded(&store, "a"), Some((1, "{\"token\":\"1\"}\n".to_owned())));
        assert!(store.replace("a", Some(1), Some(&record(2))).unwrap());
        assert!(!store.replace("a", Some(1), None).unwrap());
        assert_eq!(loaded(&store, "b"), None, "another key");
        assert!(store.replace("a", Some(2), None).unwrap());
        assert_eq!(loaded(&store, "a"), None);
    }

    #[test]
    fn of_many_writers_that_have_seen_the_same_record_one_replaces_it() {
        let home = tempfile::tempdir().unwrap();
        let store = store(home.path());
        assert!(store.replace("a", None, Some(&record(1))).unwrap());
        let winners = std::thread::scope(|scope| {
            let writers: Vec<_> = (2..34)
                .map(|version| {
                    let store = store.clone();
                    scope.spawn(move || store.replace("a", Some(1), Some(&record(version))))
                })
                .collect();
            writers.into_iter().map(|it| it.join().unwrap().unwrap()).filter(|it| *it).count()
        });
        assert_eq!(winners, 1);
    }

    #[test]
    fn no_file_of_the_folder_holds_a_token() {
        let home = tempfile::tempdir().unwrap();
        let store = store(home.path());
        assert!(store.replace("a", None, Some(&record(4711))).unwrap());
        for entry in std::fs::read_dir(&store.folder).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            assert!(!text.contains("4711"), "{text}");
        }
    }
}
