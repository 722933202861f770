//! Remembers which commands and addresses lead to servers with a handshake, so that each is probed
//! only once.
//!
//! A server that does not know the probe (`server/discover`) may let it time out or exit; either
//! costs seconds. The memory lasts as long as this process. An entry that turns out wrong is removed.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{LazyLock, Mutex, MutexGuard};

use bowline_proto::sync::lock;
use bowline_transport::connect::Link;

/// The most servers that are remembered. Further ones are probed each time, which only costs time.
const MOST: usize = 1024;

static LEGACY: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// Keyed with a secret of this process, so that no address can be made to collide with another.
static HASH: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// The remembered era of a server. Holds a hash of its command or address, which may hold secrets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RememberedEra(u64);

impl RememberedEra {
    /// Looks a server up by its command or its address.
    pub(crate) fn of(server: &impl Hash) -> Self {
        Self(HASH.hash_one(server))
    }

    /// Whether the server had a handshake the last time.
    pub(crate) fn had_handshake(self) -> bool {
        memory().contains(&self.0)
    }

    /// Remembers the era of the server, if it has a handshake.
    pub(crate) fn remember(self, link: &Link) {
        let mut memory = memory();
        if link.profile().revision.has_handshake() && memory.len() < MOST {
            memory.insert(self.0);
        }
    }

    pub(crate) fn forget(self) {
        memory().remove(&self.0);
    }
}

fn memory() -> MutexGuard<'static, BTreeSet<u64>> {
    lock(&LEGACY)
}

#[cfg(test)]
mod tests {
    use std::hash::{DefaultHasher, Hasher};

    use super::*;

    #[test]
    fn the_hash_of_an_address_cannot_be_predicted() {
        let address = "https://mcp.example.com/mcp";
        let mut unkeyed = DefaultHasher::new();
        address.hash(&mut unkeyed);
        assert_ne!(RememberedEra::of(&address).0, unkeyed.finish());
        assert_eq!(RememberedEra::of(&address).0, RememberedEra::of(&address).0);
    }
}
