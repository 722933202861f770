//! The digest of a file: SHA-256, as text `sha256:` and 64 hex digits in lower case.

use std::fmt;
use std::str::FromStr;

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

const PREFIX: &str = "sha256:";

/// The digest of a file.
///
/// It shows that a file is the one that its server listed. It does not show that the server can be
/// trusted: the digest comes from the same server.
///
/// ```
/// use bowline_skills::Digest;
///
/// let digest = Digest::of(b"abc");
/// assert!(digest.to_string().starts_with("sha256:ba7816bf"));
/// assert_eq!(digest.to_string().parse(), Ok(digest));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; SHA256_OUTPUT_LEN]);

/// A text is not a digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotADigest;

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let mut octets = [0; SHA256_OUTPUT_LEN];
        octets.copy_from_slice(digest(&SHA256, bytes).as_ref());
        Self(octets)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|octet| write!(f, "{octet:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let hex = text.strip_prefix(PREFIX).ok_or(NotADigest)?.as_bytes();
        let mut octets = [0; SHA256_OUTPUT_LEN];
        if hex.len() != 2 * octets.len() {
            return Err(NotADigest);
        }
        for (octet, pair) in octets.iter_mut().zip(hex.chunks_exact(2)) {
            *octet = hex_digit(pair[0])? << 4 | hex_digit(pair[1])?;
        }
        Ok(Self(octets))
    }
}

/// The value of a hex digit; upper case is not allowed.
fn hex_digit(digit: u8) -> Result<u8, NotADigest> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(NotADigest),
    }
}

impl fmt::Display for NotADigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("expected `sha256:` and 64 hex digits in lower case")
    }
}

impl std::error::Error for NotADigest {}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        let abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of(b"").to_string(), empty);
        assert_eq!(Digest::of(b"abc").to_string(), abc);
        assert_eq!(abc.parse(), Ok(Digest::of(b"abc")));
    }

    #[test]
    fn a_digest_has_one_spelling() {
        let good = Digest::of(b"abc").to_string();
        let upper = good.replace("ba", "BA");
        let long = format!("{good}0");
        for bad in ["", "sha256:", &upper, &long, &good[..70], &good[7..], "sha512:00"] {
            assert_eq!(bad.parse::<Digest>(), Err(NotADigest), "{bad}");
        }
    }
}
