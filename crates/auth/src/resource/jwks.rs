//! The keys of the authorization server, fetched at first use and cached.
//!
//! One task fetches while the requests wait: a caller that hangs up must not abort what others wait
//! for, nor make them fetch again and again. A token with an unknown key id makes the keys be
//! fetched again, at most every 30 seconds, so that a new key works at once and a flood of wrong
//! tokens does not become a flood of fetches. Keys that are about to age are fetched again while
//! requests use them, so that under steady use no request waits. A request that finds old keys waits
//! for a second at most: the server may have withdrawn one, but may also be down. If it cannot be
//! reached, old keys are used for a day.

use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bowline_proto::sync::lock;
use tokio::time::timeout;

use super::discover::discover;
use super::outage::is_recent;
use super::verify::VerifyContext;
use crate::error::{Error, Kind};
use crate::fetch::{FetchRequest, Fetcher};
use crate::jose::jwk::JwkSet;
use crate::url::Url;

/// The shortest time for which keys are fresh, whatever the server says.
pub const SHORTEST_AGE: Duration = Duration::from_secs(5 * 60);
/// The longest time for which keys are fresh, whatever the server says.
pub const LONGEST_AGE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long keys are used after they are no longer fresh, if fetching fails.
pub const LONGEST_STALE: Duration = Duration::from_secs(24 * 60 * 60);
/// The time between two fetches that unknown key ids or failures cause.
pub const FETCH_PAUSE: Duration = Duration::from_secs(30);
/// How long before keys are no longer fresh a request makes them be fetched, without waiting for it.
pub const FETCH_AHEAD: Duration = Duration::from_secs(30);
/// How long a request waits for new keys if it can use old ones.
pub const REFRESH_WAIT: Duration = Duration::from_secs(1);
/// How long an unknown key id is remembered.
pub const UNKNOWN_KEY_AGE: Duration = Duration::from_secs(60);
/// The most bytes of a key id that is remembered.
const MOST_KEY_ID: usize = 256;

/// Where the keys come from.
#[derive(Clone, Debug)]
pub(super) enum KeySource {
    /// They are configured, and never change.
    Fixed(Arc<JwkSet>),
    /// From a configured address.
    Address(Url),
    /// From the address in the metadata of the issuer.
    Issuer(String),
}

/// A key set and its number. Sets with the same keys have the same number.
#[derive(Clone, Debug)]
pub(super) struct KeyVersion {
    pub(super) keys: Arc<JwkSet>,
    pub(super) version: u64,
}

/// Keys that are fetched when they are needed.
pub(super) struct KeyCache {
    shared: Arc<Shared>,
    /// Held while keys are fetched.
    flight: Arc<tokio::sync::Mutex<()>>,
}

/// What the task that fetches keys shares with the requests that wait for it.
struct Shared {
    source: KeySource,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: Option<Current>,
    /// The time of the last attempt to fetch, successful or not.
    attempted: Option<SystemTime>,
    /// Key ids that a fetch did not find, and until when they are remembered. A fetch adds one at
    /// most, so the pause between fetches keeps this short.
    unknown: Vec<(String, SystemTime)>,
    /// The address from the metadata of the issuer.
    address: Option<Url>,
}

struct Current {
    keys: KeyVersion,
    fresh_until: SystemTime,
}

/// What to do for a token.
#[derive(Debug)]
enum Step {
    Use(KeyVersion),
    /// Fetch, and use these meanwhile: they are fresh.
    FetchAhead(KeyVersion),
    /// Fetch, and wait for it a little. The keys are usable meanwhile.
    Refresh(KeyVersion),
    /// Fetch, and wait for it.
    Fetch,
    /// There are no keys, and there was an attempt just now.
    Fail,
}

impl KeyCache {
    pub(super) fn new(source: KeySource) -> Self {
        let shared = Shared { source, state: Mutex::default() };
        Self { shared: Arc::new(shared), flight: Arc::default() }
    }

    /// The number of the keys that are used now, unless they have to be fetched first.
    pub(super) fn version(&self, now: SystemTime) -> Option<u64> {
        if let KeySource::Fixed(_) = self.shared.source {
            return Some(0);
        }
        match self.shared.step(None, now) {
            Step::Use(keys) => Some(keys.version),
            Step::FetchAhead(_) | Step::Refresh(_) | Step::Fetch | Step::Fail => None,
        }
    }

    /// The configured address of the keys.
    pub(super) fn address_setting(&self) -> Option<&Url> {
        match &self.shared.source {
            KeySource::Address(address) => Some(address),
            KeySource::Fixed(_) | KeySource::Issuer(_) => None,
        }
    }

    /// The keys for a token that names this key id. Calls `failed` if they cannot be fetched, even if
    /// old ones are used in their place.
    ///
    /// # Errors
    ///
    /// If there are no keys, not even old ones, and none can be fetched.
    pub(super) async fn keys(
        &self,
        id: Option<&str>,
        context: VerifyContext<'_>,
        failed: impl FnOnce(&Error) + Send + 'static,
    ) -> Result<KeyVersion, Error> {
        let shared = &self.shared;
        if let KeySource::Fixed(keys) = &shared.source {
            return Ok(KeyVersion { keys: Arc::clone(keys), version: 0 });
        }
        let flight = Arc::clone(&self.flight);
        let flight = match shared.step(id, context.now) {
            Step::Use(keys) => return Ok(keys),
            Step::Fail => return Err(no_keys()),
            Step::FetchAhead(keys) | Step::Refresh(keys) => match flight.try_lock_owned() {
                Ok(flight) => flight,
                Err(_) => return Ok(keys),
            },
            Step::Fetch => flight.lock_owned().await,
        };
        // The request that held the flight before may have fetched.
        let step = match shared.step(id, context.now) {
            Step::Use(keys) => return Ok(keys),
            Step::Fail => return Err(no_keys()),
            step => step,
        };
        let (shared, fetcher, now) = (shared.clone(), context.fetcher.clone(), context.now);
        let id = id.map(str::to_owned);
        let task = tokio::spawn(async move {
            let _flight = flight;
            let fetched = shared.fetch(&*fetcher).await.inspect_err(failed);
            lock(&shared.state).store(fetched, id.as_deref(), now)
        });
        let fetched = match step {
            Step::FetchAhead(keys) => return Ok(keys),
            Step::Refresh(keys) => match timeout(REFRESH_WAIT, task).await {
                Ok(fetched) => fetched,
                Err(_) => return Ok(keys),
            },
            Step::Use(_) | Step::Fail | Step::Fetch => task.await,
        };
        // The task can only be lost with its runtime.
        fetched.unwrap_or_else(|_| Err(no_keys()))
    }
}

impl Shared {
    fn step(&self, id: Option<&str>, now: SystemTime) -> Step {
        lock(&self.state).step(id, now)
    }

    async fn fetch(&self, fetcher: &dyn Fetcher) -> Result<(JwkSet, Duration), Error> {
        let address = match &self.source {
            KeySource::Address(address) => address.clone(),
            KeySource::Issuer(issuer) => self.address(issuer, fetcher).await?,
            KeySource::Fixed(keys) => return Ok(((**keys).clone(), LONGEST_AGE)),
        };
        let fetched = read_keys(address, fetcher).await;
        if fetched.is_err() {
            // The issuer may have moved its keys.
            lock(&self.state).address = None;
        }
        fetched
    }

    /// The address of the keys, by the metadata of the issuer.
    async fn address(&self, issuer: &str, fetcher: &dyn Fetcher) -> Result<Url, Error> {
        let known = lock(&self.state).address.clone();
        if let Some(address) = known {
            return Ok(address);
        }
        let missing = || Error::new(Kind::Metadata, "the authorization server names no `jwks_uri`");
        let address = discover(issuer, fetcher).await?.jwks_uri.ok_or_else(missing)?;
        lock(&self.state).address = Some(address.clone());
        Ok(address)
    }
}

async fn read_keys(address: Url, fetcher: &dyn Fetcher) -> Result<(JwkSet, Duration), Error> {
    address.check_confidential(Kind::Metadata, "`jwks_uri`")?;
    let answer = fetcher.fetch(FetchRequest::get(address)).await?;
    let keys = JwkSet::parse(answer.json()?)?;
    Ok((keys, answer.max_age().unwrap_or_default().clamp(SHORTEST_AGE, LONGEST_AGE)))
}

fn no_keys() -> Error {
    Error::fetch("there are no keys of the authorization server")
}

impl State {
    fn step(&self, id: Option<&str>, now: SystemTime) -> Step {
        let Some(current) = &self.current else {
            return if self.is_paused(now) { Step::Fail } else { Step::Fetch };
        };
        if now >= current.fresh_until + LONGEST_STALE {
            return if self.is_paused(now) { Step::Fail } else { Step::Fetch };
        }
        let keys = current.keys.clone();
        if self.is_paused(now) {
            return Step::Use(keys);
        }
        if now >= current.fresh_until {
            return Step::Refresh(keys);
        }
        match id {
            Some(id) if !keys.keys.has(id) && !self.is_unknown(id, now) => Step::Fetch,
            _ if now + FETCH_AHEAD >= current.fresh_until => Step::FetchAhead(keys),
            _ => Step::Use(keys),
        }
    }

    /// Whether the last attempt was too short a time ago for another.
    fn is_paused(&self, now: SystemTime) -> bool {
        self.attempted.is_some_and(|at| is_recent(at, FETCH_PAUSE, now))
    }

    fn is_unknown(&self, id: &str, now: SystemTime) -> bool {
        let is_known = |(known, until): &(String, SystemTime)| known == id && now < *until;
        id.len() > MOST_KEY_ID || self.unknown.iter().any(is_known)
    }

    fn store(
        &mut self,
        fetched: Result<(JwkSet, Duration), Error>,
        id: Option<&str>,
        now: SystemTime,
    ) -> Result<KeyVersion, Error> {
        self.attempted = Some(now);
        match fetched {
            Ok((keys, age)) => Ok(self.replace(keys, now + age, id, now)),
            Err(error) => match &self.current {
                Some(current) if now < current.fresh_until + LONGEST_STALE => {
                    Ok(current.keys.clone())
                }
                _ => Err(error),
            },
        }
    }

    fn replace(
        &mut self,
        keys: JwkSet,
        fresh_until: SystemTime,
        id: Option<&str>,
        now: SystemTime,
    ) -> KeyVersion {
        let keys = match &self.current {
            Some(current) if *current.keys.keys == keys => current.keys.clone(),
            Some(current) => KeyVersion { keys: Arc::new(keys), version: current.keys.version + 1 },
            None => KeyVersion { keys: Arc::new(keys), version: 1 },
        };
        self.current = Some(Current { keys: keys.clone(), fresh_until });
        self.unknown.retain(|(_, until)| now < *until);
        let unknown = id.filter(|id| !keys.keys.has(id));
        self.unknown.extend(unknown.map(|id| (id.to_owned(), now + UNKNOWN_KEY_AGE)));
        keys
    }
}

#[cfg(test)]
mod tests;
