//! JSON Object Signing: signatures, keys, and JSON Web Tokens.
//!
//! The algorithms are RS256, PS256, ES256 and EdDSA (Ed25519). `none` and the HMAC algorithms do not
//! exist here, so no token can choose them. Which of the four are acceptable comes from the
//! configuration; a token can only be refused for its `alg`.
//!
//! * [`jws`] — a signed text and its verification;
//! * [`jwk`] — public keys and key sets;
//! * [`jwt`] — the claims of a token;
//! * [`sign`] — private keys.

pub mod jwk;
pub mod jws;
pub mod jwt;
pub mod sign;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};

/// Base64url without padding. Each byte string has exactly one text.
pub(crate) fn to_base64(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads base64url without padding, strictly: other texts for the same bytes are refused.
pub(crate) fn from_base64(text: &str) -> Option<Vec<u8>> {
    URL_SAFE_NO_PAD.decode(text).ok()
}

/// The SHA-256 digest.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    digest(&SHA256, bytes).as_ref().try_into().expect("SHA-256 has 32 bytes")
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod wycheproof_tests;
