//! Values that must not leave this process except on purpose: tokens, keys, client secrets.

use std::fmt;

use serde::{Deserialize, Deserializer};
use zeroize::Zeroize;

use crate::jose::sha256;

/// A secret. `Debug` prints its type but not its content; `Display` and `Serialize` do not exist;
/// its memory is erased when it is dropped.
///
/// ```
/// use bowline_auth::secret::Secret;
///
/// let token = Secret::from("abc");
/// assert_eq!(format!("{token:?}"), "Secret(…)");
/// assert_eq!(token.expose(), "abc");
/// ```
#[derive(Clone)]
pub struct Secret<T: Zeroize>(T);

impl<T: Zeroize> Secret<T> {
    /// Wraps a value. Copies of it that exist elsewhere are not erased.
    pub fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, to be sent or compared.
    pub fn expose(&self) -> &T {
        &self.0
    }
}

impl Secret<String> {
    /// Whether two secrets are equal. The time that this takes does not depend on where they first
    /// differ.
    pub fn is_equal(&self, other: &Self) -> bool {
        is_equal(self.0.as_bytes(), other.0.as_bytes())
    }
}

/// Whether two texts are equal, in a time that does not depend on where they first differ.
pub(crate) fn is_equal(one: &[u8], other: &[u8]) -> bool {
    // An attacker that sees where two digests differ learns nothing about the text of either.
    sha256(one) == sha256(other)
}

impl From<&str> for Secret<String> {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<String> for Secret<String> {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<Vec<u8>> for Secret<Vec<u8>> {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl<T: Zeroize> Drop for Secret<T> {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl<T: Zeroize> fmt::Debug for Secret<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl<'de, T: Zeroize + Deserialize<'de>> Deserialize<'de> for Secret<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_nothing_of_a_secret() {
        let secret = Secret::from("canary");
        assert_eq!(
            format!("{secret:?} {:?}", Some(Secret::from(vec![7_u8]))),
            "Secret(…) Some(Secret(…))"
        );
    }

    #[test]
    fn a_secret_is_erased_when_it_is_dropped() {
        use std::sync::atomic::{AtomicBool, Ordering};

        struct Probe<'a>(&'a AtomicBool);
        impl Zeroize for Probe<'_> {
            fn zeroize(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let is_erased = AtomicBool::new(false);
        drop(Secret::new(Probe(&is_erased)));
        assert!(is_erased.into_inner());
    }

    #[test]
    fn secrets_are_compared_by_their_text() {
        assert!(Secret::from("a").is_equal(&Secret::from("a")));
        assert!(!Secret::from("a").is_equal(&Secret::from("b")));
    }
}
