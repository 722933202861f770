//! A store of files, which several programs of one user can share.
//!
//! Each record is a file of its own, which only the user can read. Its name is a digest of the key;
//! its first line is the version. It is written beside and renamed, so a reader sees the old record
//! or the new one. Two files beside it are locked, and never deleted: `.write` while a record is
//! compared and replaced, `.lock` while a program renews the token. A program that is killed while it
//! writes leaves a file that ends in `.new`; the next write in the folder deletes it.

use std::fmt;
use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_core::future::BoxFuture;

use super::{Store, StoreKey, StoreLock, StoredRecord, run_blocking};
use crate::error::{Error, Kind};
use crate::jose::{sha256, to_base64};
use crate::private_file;
use crate::secret::Secret;

/// The most bytes of a record.
const MOST_RECORD: u64 = 1024 * 1024;
/// How long to wait for the lock of another program. It holds the lock for one request.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// How often the lock is tried.
const PAUSE: Duration = Duration::from_millis(20);

/// Keeps records in a folder of files.
#[derive(Clone)]
pub struct FileStore {
    folder: PathBuf,
}

impl FileStore {
    /// Opens a folder, and creates it if it is absent. Only its owner may have access to it.
    ///
    /// # Errors
    ///
    /// If it cannot be created, or others have access to it.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, Error> {
        let folder = folder.into();
        private_file::create_folder(&folder).map_err(|error| failed(&folder, "created", error))?;
        check_access(&folder)?;
        Ok(Self { folder })
    }

    fn path(&self, key: &StoreKey, extension: &str) -> PathBuf {
        let name = to_base64(&sha256(key.to_text().as_bytes()));
        self.folder.join(format!("{name}.{extension}"))
    }
}

impl Store for FileStore {
    fn load<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<Option<StoredRecord>, Error>> {
        let path = self.path(key, "record");
        Box::pin(run_blocking(move || read(&path)))
    }

    fn swap<'a>(
        &'a self,
        key: &'a StoreKey,
        seen: Option<u64>,
        record: Option<StoredRecord>,
    ) -> BoxFuture<'a, Result<bool, Error>> {
        let (path, guard) = (self.path(key, "record"), self.path(key, "write"));
        let folder = self.folder.clone();
        Box::pin(run_blocking(move || {
            let _guard =
                private_file::lock(&guard).map_err(|error| failed(&guard, "locked", error))?;
            if read(&path)?.map(|record| record.version) != seen {
                return Ok(false);
            }
            delete_leftovers(&folder, &guard);
            match record {
                Some(record) => write(&path, &record)?,
                None => remove(&path)?,
            }
            Ok(true)
        }))
    }

    fn lock<'a>(&'a self, key: &'a StoreKey) -> BoxFuture<'a, Result<StoreLock, Error>> {
        let path = self.path(key, "lock");
        Box::pin(async move {
            let busy = || Error::store("another program has locked the record for too long");
            let waiting = tokio::time::timeout(LONGEST_WAIT, wait_for(&path));
            waiting.await.map_err(|_| busy())?.map(StoreLock::new)
        })
    }
}

impl fmt::Debug for FileStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FileStore({})", self.folder.display())
    }
}

/// Locks a file. The lock is free again when the file is closed, also if the program is killed.
async fn wait_for(path: &Path) -> Result<File, Error> {
    let file = private_file::open_guard(path).map_err(|error| failed(path, "opened", error))?;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::WouldBlock) => tokio::time::sleep(PAUSE).await,
            Err(TryLockError::Error(error)) => return Err(failed(path, "locked", error)),
        }
    }
}

fn read(path: &Path) -> Result<Option<StoredRecord>, Error> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(path, "opened", error)),
    };
    let mut text = String::new();
    let length = file.take(MOST_RECORD + 1).read_to_string(&mut text);
    let text = Secret::new(text);
    let length = length.map_err(|error| failed(path, "read", error))?;
    let malformed = || Error::store(format!("{} is not a record", path.display()));
    if length as u64 > MOST_RECORD {
        return Err(malformed());
    }
    let (version, record) = text.expose().split_once('\n').ok_or_else(malformed)?;
    let version = version.parse().map_err(|_| malformed())?;
    Ok(Some(StoredRecord { version, text: Secret::from(record) }))
}

fn write(path: &Path, record: &StoredRecord) -> Result<(), Error> {
    let text = Secret::new(format!("{}\n{}", record.version, record.text.expose()));
    if text.expose().len() as u64 > MOST_RECORD {
        // It could never be read again, nor be replaced.
        return Err(Error::too_large("a record", MOST_RECORD as usize, "bytes"));
    }
    let written = private_file::replace(path, text.expose().as_bytes());
    written.map_err(|error| failed(path, "written", error))
}

/// Deletes the files of writers that were killed. A record whose guard is free has no writer; this
/// function's caller holds the guard of its own record. What cannot be deleted now is left to the next
/// write.
fn delete_leftovers(folder: &Path, own_guard: &Path) {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    for path in paths.filter(|path| path.extension().is_some_and(|it| it == "new")) {
        let name = path.file_name().and_then(|it| it.to_str()).unwrap_or_default();
        let Some((record, _)) = name.split_once('.') else { continue };
        let guard = folder.join(format!("{record}.write"));
        let guard_file = (guard != own_guard).then(|| File::open(&guard));
        let is_free = match &guard_file {
            None => true,
            Some(file) => file.as_ref().is_ok_and(|file| file.try_lock().is_ok()),
        };
        if is_free {
            let _ = fs::remove_file(&path);
        }
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(failed(path, "deleted", error))
        }
        _ => Ok(()),
    }
}

/// Refuses a folder that others have access to.
#[cfg(unix)]
fn check_access(folder: &Path) -> Result<(), Error> {
    use std::os::unix::fs::PermissionsExt as _;

    let metadata = fs::metadata(folder).map_err(|error| failed(folder, "opened", error))?;
    match metadata.permissions().mode() & 0o077 {
        0 => Ok(()),
        _ => {
            let shown = folder.display();
            let text = format!("others have access to {shown}; `chmod 700` takes it from them");
            Err(Error::new(Kind::Store, text))
        }
    }
}

#[cfg(not(unix))]
fn check_access(_folder: &Path) -> Result<(), Error> {
    Ok(())
}

fn failed(path: &Path, action: &str, error: io::Error) -> Error {
    let text = format!("{} cannot be {action}: {error}", path.display());
    Error::new(Kind::Store, text).with_source(error)
}
