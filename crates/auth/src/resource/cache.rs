//! Verdicts by their token, bounded in number and in bytes.
//!
//! A verdict is found by a hash of the token under a random key of this process, and counts only if
//! its token is the very same. A digest would do without the token, but costs ten times as much, and
//! every request pays for it. The comparison may take a time that depends on where the tokens differ:
//! a caller cannot choose a token with the hash of another, because it does not know the key, so
//! nearly every token that is compared is the same.

use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher as _;
use std::sync::Mutex;
use std::time::SystemTime;

use bowline_proto::sync::lock;

use super::verify::Presented;

/// The most verdicts.
const MOST_ENTRIES: usize = 10_000;
/// The most bytes of the tokens and claims that verdicts keep.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// Verdicts of type `V`. A verdict belongs to a version, such as that of the key set, and is forgotten
/// when another version is current.
pub(super) struct VerdictCache<V> {
    entries: Mutex<Entries<V>>,
    hasher: RandomState,
}

struct Entries<V> {
    by_hash: HashMap<u64, Entry<V>>,
    /// The oldest first. Each hash of `by_hash` is here once.
    order: VecDeque<u64>,
    bytes: usize,
    version: u64,
}

struct Entry<V> {
    token: Presented,
    verdict: V,
    until: SystemTime,
    bytes: usize,
}

impl<V: Clone> VerdictCache<V> {
    pub(super) fn new() -> Self {
        Self { entries: Mutex::new(Entries::new(0)), hasher: RandomState::new() }
    }

    /// The verdict of a version, if it is kept and has not expired.
    pub(super) fn find(&self, token: &Presented, version: u64, now: SystemTime) -> Option<V> {
        let hash = self.hash(token);
        let entries = lock(&self.entries);
        let entry = entries.by_hash.get(&hash).filter(|_| entries.version == version)?;
        let is_found = entry.token.expose() == token.expose() && now < entry.until;
        is_found.then(|| entry.verdict.clone())
    }

    /// Whether there is a verdict about a token, even if it has expired.
    pub(super) fn remembers(&self, token: &Presented) -> bool {
        let hash = self.hash(token);
        let entries = lock(&self.entries);
        entries.by_hash.get(&hash).is_some_and(|entry| entry.token.expose() == token.expose())
    }

    /// Keeps a verdict with claims of about this many bytes, in place of the oldest ones if necessary.
    pub(super) fn keep(
        &self,
        token: &Presented,
        version: u64,
        until: SystemTime,
        (verdict, bytes): (V, usize),
    ) {
        let (hash, token) = (self.hash(token), token.clone());
        let bytes = bytes + token.expose().len();
        let mut entries = lock(&self.entries);
        if entries.version != version {
            *entries = Entries::new(version);
        }
        if let Some(old) = entries.by_hash.insert(hash, Entry { token, verdict, until, bytes }) {
            entries.bytes -= old.bytes;
        } else {
            entries.order.push_back(hash);
        }
        entries.bytes += bytes;
        while entries.order.len() > MOST_ENTRIES || entries.bytes > MOST_BYTES {
            let oldest = entries.order.pop_front();
            let removed = oldest.and_then(|oldest| entries.by_hash.remove(&oldest));
            entries.bytes -= removed.map_or(0, |entry| entry.bytes);
        }
    }

    fn hash(&self, token: &Presented) -> u64 {
        self.hasher.hash_one(token.expose())
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        let entries = lock(&self.entries);
        assert_eq!(entries.by_hash.len(), entries.order.len());
        entries.order.len()
    }
}

impl<V> Entries<V> {
    fn new(version: u64) -> Self {
        Self { by_hash: HashMap::new(), order: VecDeque::new(), bytes: 0, version }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn token(n: usize) -> Presented {
        Presented::new(format!("{n:08}"))
    }

    #[test]
    fn a_verdict_is_kept_until_it_expires_or_the_version_changes() {
        let cache = VerdictCache::new();
        cache.keep(&token(1), 0, at(10), ("a", 1));
        assert_eq!(cache.find(&token(1), 0, at(9)), Some("a"));
        assert_eq!(cache.find(&token(1), 0, at(10)), None);
        assert_eq!(cache.find(&token(2), 0, at(9)), None);
        assert_eq!(cache.find(&token(1), 1, at(9)), None);
        cache.keep(&token(2), 1, at(10), ("b", 1));
        assert_eq!(
            (cache.find(&token(1), 1, at(9)), cache.find(&token(2), 1, at(9))),
            (None, Some("b"))
        );
        assert_eq!(cache.find(&token(1), 0, at(9)), None);
    }

    #[test]
    fn a_token_with_the_hash_of_another_does_not_get_its_verdict() {
        let cache = VerdictCache::new();
        cache.keep(&token(1), 0, at(10), ("a", 1));
        let hash = cache.hash(&token(1));
        lock(&cache.entries).by_hash.get_mut(&hash).unwrap().token = token(2);
        assert_eq!(cache.find(&token(1), 0, at(9)), None);
        // The newer token takes the place of the other.
        cache.keep(&token(1), 0, at(10), ("b", 1));
        assert_eq!((cache.find(&token(1), 0, at(9)), cache.len()), (Some("b"), 1));
    }

    #[test]
    fn the_cache_is_bounded_in_number() {
        let cache = VerdictCache::new();
        for n in 0..MOST_ENTRIES + 5 {
            cache.keep(&token(n), 0, at(10), (n, 1));
        }
        assert_eq!(cache.len(), MOST_ENTRIES);
        assert_eq!(cache.find(&token(4), 0, at(0)), None);
        assert_eq!(cache.find(&token(5), 0, at(0)), Some(5));
    }

    #[test]
    fn the_cache_is_bounded_in_bytes() {
        let cache = VerdictCache::new();
        // The token counts too.
        let bytes = MOST_BYTES / 4 - token(0).expose().len();
        for (bytes, most) in [(bytes, 4), (bytes + 1, 3)] {
            for n in 0..100 {
                cache.keep(&token(n), 0, at(10), (n, bytes));
                cache.keep(&token(n), 0, at(10), (n, bytes));
            }
            assert_eq!(cache.len(), most);
        }
    }
}
