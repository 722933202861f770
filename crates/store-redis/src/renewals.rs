//! Remembers which values were renewed a moment ago, so that renewing them again is only a read.
//!
//! A read costs the database a third of what a script does, and changes nothing that replicas or a
//! disk must get.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bowline_store::Key;
use bowline_store::backend::Version;

/// The most values that are remembered.
const MOST: usize = 16 * 1024;

/// The values that this process renewed last.
///
/// `renew` promises three quarters of the expiry. The script prolongs what has less than
/// seven eighths left, so for an eighth of the expiry afterwards there is nothing to do. Each write
/// changes the version, so a value with the remembered version still has that time: others can only have
/// renewed it. After a failover the database may lack a renewal, so all are forgotten when the connection is
/// lost. (Appending with a mark sets the time of the mark and keeps its version. Marks are not
/// renewed in another way.)
#[derive(Default)]
pub(crate) struct Renewals {
    hashes: RandomState,
    /// By the hash of the key. Two keys with one hash do no harm, as their versions differ.
    renewed: Mutex<HashMap<u64, Renewal>>,
}

#[derive(Clone, Copy, Debug)]
struct Renewal {
    version: Version,
    /// Until then it has three quarters of the expiry left.
    until: Instant,
    expiry: Duration,
}

impl Renewals {
    /// The version of the value that needs no renewal at this time.
    pub(crate) fn recent(&self, key: &Key, expiry: Duration, now: Instant) -> Option<Version> {
        let renewed = self.renewed.lock().unwrap_or_else(PoisonError::into_inner);
        let renewal = renewed.get(&self.hashes.hash_one(key.as_str()))?;
        (expiry <= renewal.expiry && now < renewal.until).then_some(renewal.version)
    }

    /// Forgets all. A database that lost its connection may have lost renewals too.
    pub(crate) fn clear(&self) {
        self.renewed.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// Remembers that a value was renewed, or written, by a request that began at this time.
    pub(crate) fn note(&self, key: &Key, version: Version, expiry: Duration, began: Instant) {
        let mut renewed = self.renewed.lock().unwrap_or_else(PoisonError::into_inner);
        if renewed.len() >= MOST {
            renewed.retain(|_, renewal| began < renewal.until);
        }
        // All are recent. The next time each of them is renewed it is remembered again.
        if renewed.len() >= MOST {
            renewed.clear();
        }
        let Some(until) = began.checked_add(expiry / 8) else { return };
        renewed.insert(self.hashes.hash_one(key.as_str()), Renewal { version, until, expiry });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_needs_no_renewal_for_an_eighth_of_its_expiry() {
        let (renewals, now) = (Renewals::default(), Instant::now());
        let (key, other) = (Key::new(["a"]), Key::new(["b"]));
        let expiry = Duration::from_secs(800);
        assert_eq!(renewals.recent(&key, expiry, now), None);
        renewals.note(&key, Version(7), expiry, now);
        let almost = now + Duration::from_secs(99);
        assert_eq!(renewals.recent(&key, expiry, almost), Some(Version(7)));
        assert_eq!(renewals.recent(&key, expiry / 2, almost), Some(Version(7)));
        assert_eq!(renewals.recent(&other, expiry, almost), None, "another key");
        assert_eq!(renewals.recent(&key, expiry * 2, almost), None, "a longer life");
        assert_eq!(renewals.recent(&key, expiry, now + expiry / 8), None, "too late");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let (renewals, now) = (Renewals::default(), Instant::now());
        let expiry = Duration::from_secs(800);
        let note = |number: usize, began| {
            let key = Key::new([number.to_string().as_str()]);
            renewals.note(&key, Version(1), expiry, began);
        };
        let count = || renewals.renewed.lock().unwrap().len();
        (1..MOST).for_each(|number| note(number, now));
        note(MOST, now + expiry);
        assert_eq!(count(), MOST);
        note(MOST + 1, now + expiry);
        assert_eq!(count(), 2, "what is of no use any more makes room");
        (0..MOST).for_each(|number| note(number, now + expiry));
        assert!(count() <= MOST, "and if all is of use, it begins again");
    }
}
