//! The keys that seal the state of calls, and the file that replicas share them by.
//!
//! Rotation without a lost call: append the new key to the file of every replica and reload, move it
//! to the first line and reload, and remove the old key once its last state has expired. A key may
//! seal 2³² states, since nonces are random: at 1,000 a second, rotate every 30 days.

use std::fmt;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{KEY_ID, StateKey};

/// Keys that seal `requestState`: the first seals, all of them open. Clones share them.
///
/// Made of keys that the program has, or of a file with a key on each line, which is read again by
/// [`reload`](Self::reload):
///
/// ```no_run
/// use bowline_server::{Server, StateKeys};
///
/// let keys = StateKeys::file("/run/secrets/state-keys")?;
/// let server = Server::new("shop", "1.0.0").state_keys(keys.clone());
/// // After the file has changed:
/// keys.reload()?;
/// # Ok::<(), bowline_server::StateKeysError>(())
/// ```
#[derive(Clone)]
pub struct StateKeys {
    /// `None` if the program gave the keys.
    file: Option<Arc<Path>>,
    current: Arc<RwLock<Arc<[NamedKey]>>>,
}

/// A key and its name.
pub(super) type NamedKey = ([u8; KEY_ID], StateKey);

impl StateKeys {
    /// Reads the keys of a file: on each line one key, 32 bytes in base64, as
    /// `openssl rand -base64 32` makes them. Empty lines and lines that begin with `#` are ignored.
    ///
    /// The keys are as secret as the states: on Unix the file must not be accessible to all users, nor
    /// writable by its group. A group may read it, because containers get secrets that way.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, has no key, has a line that is none, or is accessible to others.
    pub fn file(path: impl Into<PathBuf>) -> Result<Self, StateKeysError> {
        let path = path.into();
        let keys = read(&path)?;
        Ok(Self { file: Some(path.into()), ..Self::of(keys) })
    }

    /// Reads the file again. Sealed states open as long as their keys are in it. Does nothing if
    /// there is no file.
    ///
    /// # Errors
    ///
    /// As [`file`](Self::file). Then the old keys stay.
    pub fn reload(&self) -> Result<(), StateKeysError> {
        let Some(path) = &self.file else { return Ok(()) };
        let keys = read(path)?;
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = named(keys);
        Ok(())
    }

    /// Whether the keys come from a file.
    #[cfg(feature = "http")]
    pub(crate) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.current().is_empty()
    }

    pub(super) fn current(&self) -> Arc<[NamedKey]> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn of(keys: impl IntoIterator<Item = StateKey>) -> Self {
        Self { file: None, current: Arc::new(RwLock::new(named(keys))) }
    }
}

fn named(keys: impl IntoIterator<Item = StateKey>) -> Arc<[NamedKey]> {
    keys.into_iter().map(|key| (key.id(), key)).collect()
}

fn read(path: &Path) -> Result<Vec<StateKey>, StateKeysError> {
    let error = |problem| StateKeysError { path: path.to_owned(), problem };
    let unreadable = |cause| error(Problem::Unreadable(cause));
    let mut file = fs::File::open(path).map_err(unreadable)?;
    if is_accessible_to_others(&file.metadata().map_err(unreadable)?) {
        return Err(error(Problem::Accessible));
    }
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(unreadable)?;
    let lines = text.lines().map(str::trim).enumerate();
    let keys = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let keys = keys.map(|(index, line)| {
        let bytes = STANDARD.decode(line).ok();
        let key = bytes.and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
        key.map(StateKey::from).ok_or_else(|| error(Problem::NoKeyOn(index + 1)))
    });
    let keys = keys.collect::<Result<Vec<_>, _>>()?;
    match keys.is_empty() {
        true => Err(error(Problem::Empty)),
        false => Ok(keys),
    }
}

/// Whether others than the owner may write a file, or others than its group may read it.
#[cfg(unix)]
fn is_accessible_to_others(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o027 != 0
}

#[cfg(not(unix))]
fn is_accessible_to_others(_: &fs::Metadata) -> bool {
    false
}

impl<K: Into<StateKey>, const N: usize> From<[K; N]> for StateKeys {
    fn from(keys: [K; N]) -> Self {
        Self::of(keys.map(Into::into))
    }
}

impl<K: Into<StateKey>> From<Vec<K>> for StateKeys {
    fn from(keys: Vec<K>) -> Self {
        Self::of(keys.into_iter().map(Into::into))
    }
}

impl fmt::Debug for StateKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateKeys").field("file", &self.file).finish_non_exhaustive()
    }
}

/// Why the keys of a file could not be read.
#[derive(Debug)]
pub struct StateKeysError {
    path: PathBuf,
    problem: Problem,
}

#[derive(Debug)]
enum Problem {
    Unreadable(std::io::Error),
    /// Other users can read or write the file.
    Accessible,
    Empty,
    /// The number of the line.
    NoKeyOn(usize),
}

/// Never shows the line itself: it may be a key with a mistake.
impl fmt::Display for StateKeysError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        let hint = "make one with `openssl rand -base64 32`";
        match &self.problem {
            Problem::Unreadable(_) => write!(f, "cannot read the state keys in {path}"),
            Problem::Accessible => {
                write!(f, "other users have access to the state keys in {path}; `chmod 600` it")
            }
            Problem::Empty => write!(f, "there is no state key in {path}; {hint}"),
            Problem::NoKeyOn(line) => {
                write!(f, "{path}, line {line}: no key of 32 bytes in base64; {hint}")
            }
        }
    }
}

impl std::error::Error for StateKeysError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.problem {
            Problem::Unreadable(cause) => Some(cause),
            Problem::Accessible | Problem::Empty | Problem::NoKeyOn(_) => None,
        }
    }
}
