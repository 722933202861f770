//! The time and the randomness of one step: arguments, so that tests choose both.

use std::fmt;
use std::time::SystemTime;

use ring::hmac::{HMAC_SHA256, Key, sign};
use ring::rand::{SecureRandom as _, SystemRandom};

use crate::error::{Error, Kind};
use crate::jose::to_base64;
use crate::secret::Secret;

/// When a step happens, and 32 random bytes of which all random values of the step are derived.
pub(crate) struct Moment {
    pub(crate) now: SystemTime,
    seed: Secret<Vec<u8>>,
}

impl Moment {
    /// Takes both from the system.
    pub(crate) fn of_system() -> Result<Self, Error> {
        let mut seed = vec![0; 32];
        let failed = |_| Error::new(Kind::Key, "the system gives no randomness");
        SystemRandom::new().fill(&mut seed).map_err(failed)?;
        Ok(Self { now: SystemTime::now(), seed: Secret::new(seed) })
    }

    #[cfg(test)]
    pub(crate) fn fixed(seconds: u64, seed: u8) -> Self {
        let now = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        Self { now, seed: Secret::new(vec![seed; 32]) }
    }

    /// A random value for one purpose: 256 bits, as 43 characters. The same purpose always has the
    /// same value; values of different purposes tell nothing about each other.
    pub(crate) fn draw(&self, purpose: &str) -> Secret<String> {
        Secret::new(to_base64(&self.bytes(purpose)))
    }

    /// A random number for one purpose, not 0.
    pub(crate) fn number(&self, purpose: &str) -> u64 {
        let bytes = self.bytes(purpose);
        let first = bytes.first_chunk().expect("a digest has 32 bytes");
        u64::from_le_bytes(*first).max(1)
    }

    fn bytes(&self, purpose: &str) -> [u8; 32] {
        let key = Key::new(HMAC_SHA256, self.seed.expose());
        let tag = sign(&key, purpose.as_bytes());
        tag.as_ref().try_into().expect("a digest has 32 bytes")
    }
}

impl fmt::Debug for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Moment({:?})", self.now)
    }
}
