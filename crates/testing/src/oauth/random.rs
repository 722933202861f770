//! Unguessable texts, and the digest of PKCE.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};

/// A text of 128 random bits.
///
/// # Panics
///
/// If the system gives no randomness.
pub(super) fn random_text() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system gives randomness");
    URL_SAFE_NO_PAD.encode(bytes)
}

/// SHA-256 in base64url: the challenge of a PKCE verifier.
pub(super) fn s256(text: &str) -> String {
    URL_SAFE_NO_PAD.encode(digest(&SHA256, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    // RFC 7636, appendix B.
    #[test]
    fn the_challenge_of_a_verifier_is_that_of_the_rfc() {
        let challenge = s256("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk");
        assert_eq!(challenge, "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
    }
}
