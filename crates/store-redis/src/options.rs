//! Where the database is, and what is expected of it.

use std::fmt;
use std::path::{Path, PathBuf};

use bowline_store::backend::{Error, Result};

/// The variable with the URL.
const URL: &str = "BOWLINE_STORE_URL";

/// The variable with the path of the file that holds the password.
const PASSWORD_FILE: &str = "BOWLINE_STORE_PASSWORD_FILE";

/// What a write waits for before it succeeds. A failover can lose what only the primary has.
///
/// Sessions need only [`Memory`](Self::Memory): a client whose session is lost begins a new one. Tasks
/// are lost for good, so a server with tasks should use one of the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedisDurability {
    /// The memory of the primary. A failover or a crash of the database may lose the last second.
    #[default]
    Memory,
    /// The memory of this many replicas too. A write that they do not confirm within a quarter of a
    /// second fails, although it took place. While they lag, reads continue.
    Replicated(usize),
    /// The disk of the primary. Needs `appendonly yes` and `appendfsync always`: with `everysec`,
    /// which is allowed from Redis 7.2 on, a write waits up to a second, and fails if that is too
    /// long.
    Fsync,
}

/// The limits of a [`Redis`](crate::Redis) store.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedisLimits {
    /// The most bytes of one value. A larger one is refused, since clients fill records.
    pub value_bytes: usize,
    /// The most bytes of one log. Beyond that it drops its oldest items.
    pub log_bytes: usize,
    /// The most items of one log. Beyond that it drops its oldest.
    pub log_items: usize,
}

impl Default for RedisLimits {
    fn default() -> Self {
        Self { value_bytes: 64 * 1024, log_bytes: 1024 * 1024, log_items: 1024 }
    }
}

/// How to connect to Redis. Made by [`Redis::options`](crate::Redis::options) or
/// [`from_env`](Self::from_env).
///
/// ```no_run
/// use bowline_store_redis::{RedisDurability, Redis};
///
/// # async fn example() -> Result<(), bowline_store::Error> {
/// let store = Redis::options("rediss://mcp@redis.example.com")
///     .password_file("/run/secrets/redis")
///     .ca_file("/etc/ssl/our-ca.pem")
///     .durability(RedisDurability::Replicated(1))
///     .connect()
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct RedisOptions {
    pub(crate) url: String,
    pub(crate) password_file: Option<PathBuf>,
    pub(crate) ca_file: Option<PathBuf>,
    pub(crate) prefix: String,
    pub(crate) durability: RedisDurability,
    pub(crate) limits: RedisLimits,
}

impl RedisOptions {
    pub(crate) fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            password_file: None,
            ca_file: None,
            prefix: "bowline".to_owned(),
            durability: RedisDurability::default(),
            limits: RedisLimits::default(),
        }
    }

    /// The URL in the variable `BOWLINE_STORE_URL`, and the password in the file that
    /// `BOWLINE_STORE_PASSWORD_FILE` names, if it is set.
    ///
    /// # Errors
    ///
    /// If `BOWLINE_STORE_URL` is not set.
    pub fn from_env() -> Result<Self> {
        Self::from_variables(|name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let missing = || {
            Error::new(format!(
                "the variable {URL} is not set; it names the store, such as `redis://localhost:6379`"
            ))
        };
        let mut options = Self::new(&variable(URL).ok_or_else(missing)?);
        options.password_file = variable(PASSWORD_FILE).map(Into::into);
        Ok(options)
    }

    /// Takes the password from a file, which is read each time a connection is made. It replaces a
    /// password in the URL. An end of line after the password is ignored.
    #[must_use]
    pub fn password_file(mut self, path: impl AsRef<Path>) -> Self {
        self.password_file = Some(path.as_ref().to_owned());
        self
    }

    /// Trusts the certificates in this PEM file instead of those that the system trusts. For URLs
    /// with `rediss`.
    #[must_use]
    pub fn ca_file(mut self, path: impl AsRef<Path>) -> Self {
        self.ca_file = Some(path.as_ref().to_owned());
        self
    }

    /// Sets what all keys of the store begin with; `bowline` unless set. Stores with different
    /// prefixes share a database and nothing else.
    #[must_use]
    pub fn prefix(mut self, prefix: &str) -> Self {
        prefix.clone_into(&mut self.prefix);
        self
    }

    /// Sets what a write waits for before it succeeds.
    #[must_use]
    pub fn durability(mut self, durability: RedisDurability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn limits(mut self, limits: RedisLimits) -> Self {
        self.limits = limits;
        self
    }

    /// The URL of each host that the URL names, separated by commas. Only the first part of a URL can
    /// hold a comma that separates hosts; a user's name or password may hold others.
    pub(crate) fn urls(&self) -> Vec<String> {
        let Some((scheme, rest)) = self.url.split_once("://") else {
            return vec![self.url.clone()];
        };
        let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (user, hosts) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
        hosts.split(',').map(|host| format!("{scheme}://{user}{host}{path}")).collect()
    }
}

impl fmt::Debug for RedisOptions {
    /// Without the user, the password and the path of its file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let authority = self.url.split_once("://").map_or("", |(_, rest)| rest);
        let hosts = authority.rsplit_once('@').map_or(authority, |(_, hosts)| hosts);
        let hosts = &hosts[..hosts.find(['/', '?']).unwrap_or(hosts.len())];
        let shown = if self.url.contains("://") { hosts } else { "?" };
        f.debug_struct("RedisOptions")
            .field("hosts", &shown)
            .field("prefix", &self.prefix)
            .field("durability", &self.durability)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_names_the_store() {
        let variable = |name: &str| {
            let value = if name == URL { "redis://a" } else { "/run/password" };
            Some(value.to_owned())
        };
        let options = RedisOptions::from_variables(variable).unwrap();
        assert_eq!(options.url, "redis://a");
        assert_eq!(options.password_file.as_deref(), Some(Path::new("/run/password")));
        let error = RedisOptions::from_variables(|_| None).unwrap_err().to_string();
        assert!(error.contains("BOWLINE_STORE_URL is not set"), "{error}");
    }

    #[test]
    fn a_url_may_name_several_hosts() {
        let urls = |url: &str| RedisOptions::new(url).urls();
        assert_eq!(urls("redis://a"), ["redis://a"]);
        let several = urls("rediss://ann:se,cret@a:1,b:2,[::1]:3/0?protocol=resp3");
        let end = "/0?protocol=resp3";
        assert_eq!(
            several,
            ["a:1", "b:2", "[::1]:3"].map(|host| { format!("rediss://ann:se,cret@{host}{end}") })
        );
    }

    #[test]
    fn debug_hides_credentials() {
        for url in ["redis://ann:secret@a:1/0", "redis://:secret@a:1?x=secret", "secret"] {
            let options = RedisOptions::new(url).password_file("/run/secret");
            let text = format!("{options:?}");
            assert!(!text.contains("secret") && !text.contains("ann"), "{text}");
        }
    }
}
