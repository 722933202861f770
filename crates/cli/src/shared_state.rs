//! What several processes of a command share: the store of sessions, and the keys of states.

use std::error::Error as _;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use bowline::http::Http;
use bowline::store::backend::Error;
use bowline::store::{Backend, Redis, RedisDurability, RedisLimits, RedisOptions};
use bowline::{Server, StateKeys, StateKeysError};

use crate::exit::{Exit, Failure};
use crate::observe::Observation;
use crate::print::{self, line, text};

/// The variable with the path of the file that holds the password of the store.
const PASSWORD_FILE: &str = "BOWLINE_STORE_PASSWORD_FILE";

/// The most bytes of a task, as servers keep by default. Redis is asked to take as many; records of
/// sessions have a lower limit of their own.
const TASK_BYTES: usize = 4 * 1024 * 1024 + 1024;

/// What a URL of a store looks like.
const FORMS: &str = "a store is `redis://HOST:6379`, `rediss://HOST:6379` (with TLS) or \
                     `sqlite:/path/to/file`";

/// The options of commands that several processes can serve together.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Several processes")]
pub(crate) struct SharedStateArgs {
    /// Keeps sessions, events and tasks over HTTP in this store, not in memory: `redis://HOST`,
    /// `rediss://HOST` (with TLS) or `sqlite:FILE` (cargo feature `sqlite`)
    ///
    /// All processes with the same Redis serve the same sessions, and sessions survive a restart.
    /// Servers that are commands run once for each process. If such a server remembers its callers,
    /// the proxy in front has to send all requests of a session to one process; in nginx:
    /// `hash $http_mcp_session_id consistent;`. `BOWLINE_STORE_PASSWORD_FILE` names a file with the
    /// password, so that no list of processes shows it.
    #[arg(long, value_name = "URL", env = "BOWLINE_STORE_URL", hide_env_values = true)]
    store: Option<StoreUrl>,
    /// What a write to Redis waits for: `memory`, `replicated:N` (the memory of N replicas too) or
    /// `fsync` (the disk)
    ///
    /// A failure of Redis may lose what only its memory has. Sessions begin anew then, but tasks are
    /// lost: where they matter, use `replicated:1`, or `fsync` with `appendonly yes` and
    /// `appendfsync always`.
    #[arg(long, value_name = "WORD", env = "BOWLINE_STORE_DURABILITY", hide_env_values = true)]
    store_durability: Option<StoreDurability>,
    /// Trusts the certificates in this PEM file, not those of the system; for `rediss://HOST`
    #[arg(long, value_name = "FILE", env = "BOWLINE_STORE_CA_FILE", hide_env_values = true)]
    store_ca: Option<PathBuf>,
    /// Encrypts the state of calls that ask the user with the keys of this file; SIGHUP reads it again
    ///
    /// Each line is a key, as `openssl rand -base64 32` makes it. The first one encrypts, all of them
    /// decrypt. Give the same file to all processes, so that each can continue a call of a server with a
    /// URL.
    #[arg(long, value_name = "FILE")]
    state_keys: Option<PathBuf>,
}

/// The URL of a store. It may contain a password, so nothing prints it.
#[derive(Clone)]
struct StoreUrl(String);

impl From<String> for StoreUrl {
    fn from(url: String) -> Self {
        Self(url)
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StoreUrl")
    }
}

/// What a write to Redis waits for. `None` for a variable that is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct StoreDurability(Option<RedisDurability>);

impl FromStr for StoreDurability {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let durability = match text.split_once(':') {
            None if text.is_empty() => return Ok(Self(None)),
            None if text == "memory" => RedisDurability::Memory,
            None if text == "fsync" => RedisDurability::Fsync,
            Some(("replicated", count)) => match count.parse() {
                Ok(count) if count > 0 => RedisDurability::Replicated(count),
                _ => return Err("write a number of replicas from 1 on, as in `replicated:1`"),
            },
            _ => return Err("write `memory`, `replicated:N` or `fsync`"),
        };
        Ok(Self(Some(durability)))
    }
}

impl SharedStateArgs {
    /// Connects to the store and reads the keys.
    ///
    /// # Errors
    ///
    /// If the URL is wrong, if the store cannot be used, or if the file has no keys.
    pub(crate) async fn open(&self) -> Result<SharedState, Failure> {
        let keys = self.keys()?;
        let store = match self.url() {
            Some(url) => Some(self.open_store(url).await?),
            None => None,
        };
        Ok(SharedState { store, keys })
    }

    /// Reads the keys, for a command over stdio: its one session ends with it, and needs no store.
    ///
    /// # Errors
    ///
    /// If the file has no keys.
    pub(crate) fn open_keys(&self) -> Result<SharedState, Failure> {
        if self.url().is_some() {
            print::note("the store is for HTTP, and is not used over stdio");
        }
        Ok(SharedState { store: None, keys: self.keys()? })
    }

    /// The URL. A variable that is empty counts as one that is not set.
    fn url(&self) -> Option<&str> {
        let url = self.store.as_ref().map(|StoreUrl(url)| url.as_str());
        url.filter(|url| !url.is_empty())
    }

    async fn open_store(&self, url: &str) -> Result<Arc<dyn Backend>, Failure> {
        match url.split_once(':') {
            Some(("redis" | "rediss", rest)) if rest.starts_with("//") => {
                let store = self.redis(url)?.connect().await;
                let failed = |error: Error| Failure::new(Exit::Unreachable, line(error));
                Ok(Arc::new(store.map_err(failed)?))
            }
            Some(("sqlite", path)) => open_file(path.strip_prefix("//").unwrap_or(path)),
            _ => Err(Failure::usage("`--store` names no store that is known").hint(FORMS)),
        }
    }

    fn redis(&self, url: &str) -> Result<RedisOptions, Failure> {
        let mut limits = RedisLimits::default();
        limits.value_bytes = limits.value_bytes.max(TASK_BYTES);
        let mut options = Redis::options(url).limits(limits);
        if let Some(file) = std::env::var_os(PASSWORD_FILE).filter(|file| !file.is_empty()) {
            check_access(Path::new(&file))?;
            options = options.password_file(PathBuf::from(file));
        }
        if let Some(file) = self.store_ca.as_ref().filter(|file| !file.as_os_str().is_empty()) {
            options = options.ca_file(file);
        }
        match self.store_durability {
            Some(StoreDurability(Some(durability))) => Ok(options.durability(durability)),
            _ => {
                print::note(MAY_LOSE_TASKS);
                Ok(options)
            }
        }
    }

    fn keys(&self) -> Result<Option<StateKeys>, Failure> {
        let Some(path) = &self.state_keys else { return Ok(None) };
        let keys = StateKeys::file(path);
        let keys = keys.map_err(|error| Failure::usage(line(with_cause(&error))))?;
        tokio::spawn(reload_at_signals(keys.clone()));
        Ok(Some(keys))
    }
}

/// Refuses a file with a password that others than its group may read, or others than its owner may
/// write: as the file with the keys of states is. A file that cannot be read is reported when it is
/// needed.
#[cfg(unix)]
fn check_access(file: &Path) -> Result<(), Failure> {
    let metadata = std::fs::metadata(file).ok();
    let mode = metadata.map_or(0, |it| std::os::unix::fs::MetadataExt::mode(&it));
    match mode & 0o027 {
        0 => Ok(()),
        _ => Err(Failure::usage(text!(
            "other users have access to the password of the store in {}; `chmod 600` it",
            file.display()
        ))),
    }
}

#[cfg(not(unix))]
fn check_access(_: &Path) -> Result<(), Failure> {
    Ok(())
}

/// The note that `serve` and `gateway` print if the operator has not chosen a durability.
const MAY_LOSE_TASKS: &str = "\
note: a failure of Redis may lose tasks; `--store-durability replicated:1` or `fsync` keeps them, and \
`memory` accepts the loss";

#[cfg(feature = "sqlite")]
fn open_file(path: &str) -> Result<Arc<dyn Backend>, Failure> {
    let file = bowline::store::SqliteBackend::open(path);
    Ok(Arc::new(file.map_err(|error| Failure::new(Exit::Unreachable, line(error)))?))
}

#[cfg(not(feature = "sqlite"))]
fn open_file(_: &str) -> Result<Arc<dyn Backend>, Failure> {
    Err(Failure::usage("this `bowline` cannot use a file as a store")
        .hint("cargo install --locked --path crates/cli --features sqlite"))
}

/// What several processes share.
pub(crate) struct SharedState {
    store: Option<Arc<dyn Backend>>,
    keys: Option<StateKeys>,
}

impl SharedState {
    /// The keys, if a file was named.
    pub(crate) fn keys(&self) -> Option<&StateKeys> {
        self.keys.as_ref()
    }

    /// The server with the keys.
    pub(crate) fn server(&self, server: Server) -> Server {
        match &self.keys {
            Some(keys) => server.state_keys(keys.clone()),
            None => server,
        }
    }

    /// The server over HTTP, with the store, whose operations are observed.
    pub(crate) fn http(&self, server: &Server, observation: &Observation) -> Http {
        match &self.store {
            Some(store) => server.http().store(observation.store(store.clone())),
            None => server.http(),
        }
    }
}

/// Reads the keys again at each SIGHUP. A file with a mistake is reported, and the old keys stay.
async fn reload_at_signals(keys: StateKeys) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut hung_up) = signal(SignalKind::hangup()) else { return };
        while hung_up.recv().await.is_some() {
            match keys.reload() {
                Ok(()) => print::note("the state keys were read again"),
                Err(error) => {
                    print::note(text!("the old state keys stay: {}", with_cause(&error)));
                }
            }
        }
    }
    #[cfg(not(unix))]
    drop(keys);
}

fn with_cause(error: &StateKeysError) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}
