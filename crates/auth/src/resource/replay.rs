//! Remembers proofs of possession, so that none is accepted twice.

use std::collections::{BTreeSet, HashSet};
use std::fmt;
use std::future::ready;
use std::sync::Mutex;
use std::time::SystemTime;

use bowline_proto::sync::lock;

use crate::fetch::BoxFuture;

/// The most proofs that a [`MemoryReplayTable`] remembers.
pub const MOST_PROOFS: usize = 100_000;

/// A set of digests that expire. Several processes that share a resource share the table.
pub trait ReplayTable: Send + Sync + 'static {
    /// Adds a digest until a time, unless it is there already. Both happen in one step: of two calls
    /// with the same digest, one gets [`ReplayVerdict::New`].
    fn remember(
        &self,
        digest: [u8; 32],
        until: SystemTime,
        now: SystemTime,
    ) -> BoxFuture<'_, ReplayVerdict>;
}

/// What a [`ReplayTable`] knows about a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplayVerdict {
    /// It was not there, and is now.
    New,
    /// It was there: the proof is a replay.
    Seen,
    /// There is no room, or the table cannot be reached. The proof can be neither accepted nor
    /// refused.
    Unavailable,
}

/// A table in the memory of this process.
#[derive(Default)]
pub struct MemoryReplayTable(Mutex<Digests>);

#[derive(Default)]
struct Digests {
    seen: HashSet<[u8; 32]>,
    /// The same digests by their expiry.
    by_expiry: BTreeSet<(SystemTime, [u8; 32])>,
}

impl ReplayTable for MemoryReplayTable {
    fn remember(
        &self,
        digest: [u8; 32],
        until: SystemTime,
        now: SystemTime,
    ) -> BoxFuture<'_, ReplayVerdict> {
        Box::pin(ready(lock(&self.0).remember(digest, until, now)))
    }
}

impl Digests {
    fn remember(&mut self, digest: [u8; 32], until: SystemTime, now: SystemTime) -> ReplayVerdict {
        while let Some((expiry, oldest)) = self.by_expiry.first().copied()
            && expiry <= now
        {
            self.by_expiry.pop_first();
            self.seen.remove(&oldest);
        }
        if self.seen.contains(&digest) {
            return ReplayVerdict::Seen;
        }
        // A digest must not make room for another: it could be replayed then.
        if self.seen.len() >= MOST_PROOFS {
            return ReplayVerdict::Unavailable;
        }
        self.seen.insert(digest);
        self.by_expiry.insert((until, digest));
        ReplayVerdict::New
    }
}

impl fmt::Debug for MemoryReplayTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryReplayTable({})", lock(&self.0).seen.len())
    }
}
