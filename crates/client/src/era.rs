//! Remembers which commands and addresses lead to servers of the handshake era, so that they are
//! probed only once.
//!
//! A server that does not know the probe may let it time out or die of it; either costs seconds. The
//! memory lasts as long as this process, and an entry that proves wrong is forgotten.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use bowline_transport::connect::Link;

/// More than any host knows. Past that nothing is remembered, which only costs time.
const WAYS: usize = 1024;

static LEGACY: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// Keyed with a secret of this process: nobody can make up an address that stands for another.
static HASH: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// What leads to a server, as a number: it may hold secrets, which are not ours to keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way(u64);

impl Way {
    /// By a command, or by an address.
    pub(crate) fn of(way: &impl Hash) -> Self {
        Self(HASH.hash_one(way))
    }

    /// Whether it led to a server of the handshake era the last time.
    pub(crate) fn is_legacy(self) -> bool {
        memory().contains(&self.0)
    }

    /// Remembers where it led.
    pub(crate) fn remember(self, link: &Link) {
        let mut memory = memory();
        if !link.profile().revision.is_modern() && memory.len() < WAYS {
            memory.insert(self.0);
        }
    }

    pub(crate) fn forget(self) {
        memory().remove(&self.0);
    }
}

fn memory() -> MutexGuard<'static, BTreeSet<u64>> {
    LEGACY.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hasher};

    use super::*;

    #[test]
    fn what_stands_for_an_address_cannot_be_foreseen() {
        let address = "https://mcp.example.com/mcp";
        let mut unkeyed = DefaultHasher::new();
        address.hash(&mut unkeyed);
        assert_ne!(Way::of(&address).0, unkeyed.finish());
        assert_eq!(Way::of(&address).0, Way::of(&address).0);
    }
}
