//! Nonces for proofs of possession, which this resource can check without having stored them.
//!
//! A nonce is the time at which it was made and a code that only holders of the key can compute. A
//! proof that contains a recent nonce was made recently, by whatever clock the client has.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ring::hmac;

use crate::error::{Error, Kind};
use crate::jose::{from_base64, to_base64};
use crate::secret::is_equal;

/// How long a nonce is accepted.
pub const NONCE_AGE: Duration = Duration::from_secs(5 * 60);
/// From this age on, answers bring the caller a new nonce.
pub const RENEWAL_AGE: Duration = Duration::from_secs(2 * 60);

const TIME: usize = 8;
const CODE: usize = 16;

/// Makes and checks nonces.
pub struct Nonces {
    /// The first makes nonces; all check them.
    keys: Vec<hmac::Key>,
}

/// The verdict about a nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NonceVerdict {
    Fresh,
    /// Accepted, but the caller should get a new one.
    Ageing,
    Refused,
}

impl Nonces {
    /// Nonces under these keys. Several processes that share a resource need the same keys.
    pub fn new(keys: impl IntoIterator<Item = [u8; 32]>) -> Self {
        // The purpose is part of the key, because the caller may use the same bytes elsewhere.
        let derive = |key: [u8; 32]| {
            let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
            hmac::Key::new(hmac::HMAC_SHA256, hmac::sign(&key, b"DPoP nonce").as_ref())
        };
        Self { keys: keys.into_iter().map(derive).collect() }
    }

    /// Nonces under a random key that only this process knows.
    ///
    /// # Errors
    ///
    /// If the system gives no randomness.
    pub fn random() -> Result<Self, Error> {
        let random = ring::rand::generate::<[u8; 32]>(&ring::rand::SystemRandom::new());
        let failed = |_| Error::new(Kind::Key, "the system gives no randomness for nonces");
        Ok(Self::new([random.map_err(failed)?.expose()]))
    }

    /// A nonce of this time.
    pub(super) fn make(&self, now: SystemTime) -> String {
        let time = seconds(now).to_be_bytes();
        let code = self.keys.first().map(|key| hmac::sign(key, &time));
        let code = code.as_ref().map_or(&[][..], AsRef::as_ref);
        to_base64(&[&time, code.get(..CODE).unwrap_or_default()].concat())
    }

    pub(super) fn check(&self, nonce: &str, now: SystemTime) -> NonceVerdict {
        let bytes = from_base64(nonce).unwrap_or_default();
        let Some((time, code)) = bytes.split_first_chunk::<TIME>() else {
            return NonceVerdict::Refused;
        };
        let is_ours = |key: &hmac::Key| is_equal(&hmac::sign(key, time).as_ref()[..CODE], code);
        let made = UNIX_EPOCH.checked_add(Duration::from_secs(u64::from_be_bytes(*time)));
        let age = made.and_then(|made| now.duration_since(made).ok());
        match age {
            Some(age) if age < NONCE_AGE && self.keys.iter().any(is_ours) => {
                if age < RENEWAL_AGE {
                    NonceVerdict::Fresh
                } else {
                    NonceVerdict::Ageing
                }
            }
            _ => NonceVerdict::Refused,
        }
    }
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

impl fmt::Debug for Nonces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Nonces")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(1_700_000_000 + seconds)
    }

    #[test]
    fn a_nonce_ages_and_ends() {
        let nonces = Nonces::new([[1; 32]]);
        let nonce = nonces.make(at(0));
        for (seconds, verdict) in [
            (0, NonceVerdict::Fresh),
            (119, NonceVerdict::Fresh),
            (120, NonceVerdict::Ageing),
            (299, NonceVerdict::Ageing),
            (300, NonceVerdict::Refused),
        ] {
            assert_eq!(nonces.check(&nonce, at(seconds)), verdict, "{seconds}");
        }
        let later = nonces.make(at(10));
        assert_eq!(nonces.check(&later, at(0)), NonceVerdict::Refused);
    }

    #[test]
    fn a_nonce_of_another_key_is_refused_unless_the_key_is_still_known() {
        let (old, new) = (Nonces::new([[1; 32]]), Nonces::new([[2; 32]]));
        let both = Nonces::new([[2; 32], [1; 32]]);
        let nonce = old.make(at(0));
        assert_eq!(new.check(&nonce, at(1)), NonceVerdict::Refused);
        assert_eq!(both.check(&nonce, at(1)), NonceVerdict::Fresh);
        assert_eq!(new.check(&both.make(at(0)), at(1)), NonceVerdict::Fresh);
        let random = Nonces::random().unwrap();
        assert_eq!(old.check(&random.make(at(0)), at(0)), NonceVerdict::Refused);
    }

    #[test]
    fn a_forged_nonce_is_refused() {
        let nonces = Nonces::new([[1; 32]]);
        let time = 1_700_000_000_u64.to_be_bytes();
        for bytes in [&[][..], &time[..], &[&time[..], &[0; 16]].concat(), &[0xff; 24], &[7; 100]] {
            assert_eq!(nonces.check(&to_base64(bytes), at(0)), NonceVerdict::Refused);
        }
        assert_eq!(nonces.check("no base64!", at(0)), NonceVerdict::Refused);
    }
}
