//! Remembers proofs of possession, so that none is accepted twice.

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::future::ready;
use std::sync::Mutex;
use std::time::SystemTime;

use bowline_proto::request::Owner;
use bowline_proto::sync::lock;

use crate::fetch::BoxFuture;

/// The most proofs that a [`MemoryReplayTable`] remembers.
pub const MOST_PROOFS: usize = 100_000;
/// The most proofs of one caller that a [`MemoryReplayTable`] remembers. A caller that sends more
/// shuts out itself and no other.
pub const MOST_PROOFS_OF_CALLER: usize = 10_000;

/// A set of proofs that expire. Several processes that share a resource share the table.
pub trait ReplayTable: Send + Sync + 'static {
    /// Adds a proof, unless one with its digest is there already. Both happen in one step: of two
    /// calls with the same digest, one gets [`ReplayVerdict::New`].
    fn remember(&self, proof: UsedProof, now: SystemTime) -> BoxFuture<'_, ReplayVerdict>;
}

/// A proof of possession that was used.
#[derive(Clone, Debug)]
pub struct UsedProof {
    /// The digest of its id and its key.
    pub digest: [u8; 32],
    /// The caller. A table that bounds the proofs of each caller keeps room for the others.
    pub owner: Owner,
    /// Until when it must be remembered. After that, its age is reason enough to refuse it.
    pub until: SystemTime,
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
pub struct MemoryReplayTable(Mutex<Proofs>);

#[derive(Default)]
struct Proofs {
    /// The caller of each proof, by the digest of the proof.
    seen: HashMap<[u8; 32], Owner>,
    /// The same digests by their expiry.
    by_expiry: BTreeSet<(SystemTime, [u8; 32])>,
    /// How many proofs each caller has in the table. A caller without proofs has no entry.
    counts: HashMap<Owner, usize>,
}

impl ReplayTable for MemoryReplayTable {
    fn remember(&self, proof: UsedProof, now: SystemTime) -> BoxFuture<'_, ReplayVerdict> {
        Box::pin(ready(lock(&self.0).remember(proof, now)))
    }
}

impl Proofs {
    fn remember(&mut self, proof: UsedProof, now: SystemTime) -> ReplayVerdict {
        self.expire(now);
        let UsedProof { digest, owner, until } = proof;
        if self.seen.contains_key(&digest) {
            return ReplayVerdict::Seen;
        }
        let count = self.counts.get(&owner).copied().unwrap_or_default();
        // A proof must not make room for another: it could be replayed then.
        if count >= MOST_PROOFS_OF_CALLER || self.seen.len() >= MOST_PROOFS {
            return ReplayVerdict::Unavailable;
        }
        self.counts.insert(owner.clone(), count + 1);
        self.seen.insert(digest, owner);
        self.by_expiry.insert((until, digest));
        ReplayVerdict::New
    }

    fn expire(&mut self, now: SystemTime) {
        while let Some((until, oldest)) = self.by_expiry.first().copied()
            && until <= now
        {
            self.by_expiry.pop_first();
            let Some(owner) = self.seen.remove(&oldest) else { continue };
            match self.counts.get_mut(&owner) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(self.counts.remove(&owner)),
            }
        }
    }
}

impl fmt::Debug for MemoryReplayTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MemoryReplayTable({})", lock(&self.0).seen.len())
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    fn at(seconds: usize) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds as u64)
    }

    fn proof(subject: &str, id: usize, until: usize) -> UsedProof {
        let digest = crate::jose::sha256(format!("{subject} {id}").as_bytes());
        UsedProof { digest, owner: Owner::known("i", subject), until: at(until) }
    }

    #[test]
    fn a_caller_that_fills_its_share_shuts_out_only_itself() {
        let mut proofs = Proofs::default();
        for id in 0..MOST_PROOFS_OF_CALLER {
            assert_eq!(proofs.remember(proof("eve", id, 10 + id), at(0)), ReplayVerdict::New);
        }
        let more = || proof("eve", MOST_PROOFS_OF_CALLER, 20_000);
        assert_eq!(proofs.remember(more(), at(0)), ReplayVerdict::Unavailable);
        assert_eq!(proofs.remember(proof("eve", 0, 10), at(0)), ReplayVerdict::Seen);
        assert_eq!(proofs.remember(proof("ann", 0, 10), at(0)), ReplayVerdict::New);
        // Each proof that expires makes room for another.
        assert_eq!(proofs.remember(more(), at(10)), ReplayVerdict::New);
        let next = proof("eve", MOST_PROOFS_OF_CALLER + 1, 20_000);
        assert_eq!(proofs.remember(next, at(10)), ReplayVerdict::Unavailable);
    }

    #[test]
    fn a_caller_whose_proofs_have_expired_takes_up_no_room() {
        let mut proofs = Proofs::default();
        for id in 0..3 {
            proofs.remember(proof("ann", id, 10 + id), at(0));
            proofs.remember(proof("bob", id, 20), at(0));
        }
        assert_eq!(proofs.counts.len(), 2);
        proofs.remember(proof("cid", 0, 30), at(12));
        assert_eq!(proofs.counts.len(), 2);
        assert_eq!((proofs.seen.len(), proofs.by_expiry.len()), (4, 4));
    }
}
