//! A quick hash, for tables whose keys are made by this program.
//!
//! Peers only look things up there. They cannot choose the keys, so they cannot choose them to
//! collide, and the hash need not be one that they could not foresee.

use std::hash::{BuildHasherDefault, Hasher};

/// For tables whose keys are made by this program.
pub type OwnKeys = BuildHasherDefault<Quick>;

/// FNV-1a.
#[derive(Clone, Debug)]
pub struct Quick(u64);

impl Default for Quick {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
