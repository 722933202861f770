//! Verdicts by the digest of the token, bounded in number and in bytes.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::SystemTime;

use bowline_proto::sync::lock;

/// The most verdicts.
const MOST_ENTRIES: usize = 10_000;
/// The most bytes of the claims that verdicts keep.
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// The digest of a token.
pub(super) type Digest = [u8; 32];

/// Verdicts of type `V`. A verdict belongs to a version, such as that of the key set, and is forgotten
/// when another version is current.
pub(super) struct VerdictCache<V>(Mutex<Entries<V>>);

struct Entries<V> {
    by_digest: HashMap<Digest, Entry<V>>,
    /// The oldest first. Each digest of `by_digest` is here once.
    order: VecDeque<Digest>,
    bytes: usize,
    version: u64,
}

struct Entry<V> {
    verdict: V,
    until: SystemTime,
    bytes: usize,
}

impl<V: Clone> VerdictCache<V> {
    pub(super) fn new() -> Self {
        let (by_digest, order) = (HashMap::new(), VecDeque::new());
        Self(Mutex::new(Entries { by_digest, order, bytes: 0, version: 0 }))
    }

    /// The verdict of a version, if it is kept and has not expired.
    pub(super) fn find(&self, digest: &Digest, version: u64, now: SystemTime) -> Option<V> {
        let entries = lock(&self.0);
        let entry = entries.by_digest.get(digest).filter(|_| entries.version == version)?;
        (now < entry.until).then(|| entry.verdict.clone())
    }

    /// Keeps a verdict with claims of about this many bytes, in place of the oldest ones if necessary.
    pub(super) fn keep(
        &self,
        digest: Digest,
        version: u64,
        until: SystemTime,
        (verdict, bytes): (V, usize),
    ) {
        let mut entries = lock(&self.0);
        if entries.version != version {
            *entries =
                Entries { by_digest: HashMap::new(), order: VecDeque::new(), bytes: 0, version };
        }
        if let Some(old) = entries.by_digest.insert(digest, Entry { verdict, until, bytes }) {
            entries.bytes -= old.bytes;
        } else {
            entries.order.push_back(digest);
        }
        entries.bytes += bytes;
        while entries.order.len() > MOST_ENTRIES || entries.bytes > MOST_BYTES {
            let oldest = entries.order.pop_front();
            let removed = oldest.and_then(|oldest| entries.by_digest.remove(&oldest));
            entries.bytes -= removed.map_or(0, |entry| entry.bytes);
        }
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        let entries = lock(&self.0);
        assert_eq!(entries.by_digest.len(), entries.order.len());
        entries.order.len()
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;
    use crate::jose::sha256;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn a_verdict_is_kept_until_it_expires_or_the_version_changes() {
        let cache = VerdictCache::new();
        cache.keep([1; 32], 0, at(10), ("a", 1));
        assert_eq!(cache.find(&[1; 32], 0, at(9)), Some("a"));
        assert_eq!(cache.find(&[1; 32], 0, at(10)), None);
        assert_eq!(cache.find(&[2; 32], 0, at(9)), None);
        assert_eq!(cache.find(&[1; 32], 1, at(9)), None);
        cache.keep([2; 32], 1, at(10), ("b", 1));
        assert_eq!(
            (cache.find(&[1; 32], 1, at(9)), cache.find(&[2; 32], 1, at(9))),
            (None, Some("b"))
        );
        assert_eq!(cache.find(&[1; 32], 0, at(9)), None);
    }

    #[test]
    fn the_cache_is_bounded_in_number() {
        let cache = VerdictCache::new();
        for n in 0..MOST_ENTRIES + 5 {
            cache.keep(sha256(&n.to_be_bytes()), 0, at(10), (n, 1));
        }
        assert_eq!(cache.len(), MOST_ENTRIES);
        assert_eq!(cache.find(&sha256(&4_usize.to_be_bytes()), 0, at(0)), None);
        assert_eq!(cache.find(&sha256(&5_usize.to_be_bytes()), 0, at(0)), Some(5));
    }

    #[test]
    fn the_cache_is_bounded_in_bytes() {
        let cache = VerdictCache::new();
        for n in 0..100_u8 {
            cache.keep([n; 32], 0, at(10), (n, MOST_BYTES / 4));
            cache.keep([n; 32], 0, at(10), (n, MOST_BYTES / 4));
        }
        assert_eq!(cache.len(), 4);
    }
}
