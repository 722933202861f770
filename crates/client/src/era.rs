//! Remembers which commands start servers of the handshake era, so that they are probed only once.
//!
//! A server that does not know the probe may let it time out or die of it; either costs seconds. The
//! memory lasts as long as this process, and an entry that proves wrong is forgotten.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bowline_transport::child::Command;

/// More than any host starts. Past that nothing is remembered, which only costs time.
const COMMANDS: usize = 1024;

static LEGACY: Mutex<BTreeSet<u64>> = Mutex::new(BTreeSet::new());

/// A command line as a number: arguments may hold secrets, which are not ours to keep.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandLine(u64);

impl CommandLine {
    pub(crate) fn of(command: &Command) -> Self {
        let mut hasher = DefaultHasher::new();
        command.hash(&mut hasher);
        Self(hasher.finish())
    }

    /// Whether it started a server of the handshake era the last time.
    pub(crate) fn is_legacy(self) -> bool {
        memory().contains(&self.0)
    }

    pub(crate) fn remember_legacy(self) {
        let mut memory = memory();
        if memory.len() < COMMANDS {
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
