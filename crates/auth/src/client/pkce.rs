//! PKCE (RFC 7636): a secret that binds an authorization code to the client that asked for it.

use super::moment::Moment;
use crate::jose::{sha256, to_base64};
use crate::secret::Secret;

/// The method, the only one that this client uses.
pub(crate) const METHOD: &str = "S256";

/// The secret. The authorization server gets its digest with the request, and itself with the code.
#[derive(Clone, Debug)]
pub(crate) struct Verifier(Secret<String>);

impl Verifier {
    pub(crate) fn new(moment: &Moment) -> Self {
        Self(moment.draw("code_verifier"))
    }

    pub(crate) fn text(&self) -> &Secret<String> {
        &self.0
    }

    /// The digest.
    pub(crate) fn challenge(&self) -> String {
        to_base64(&sha256(self.0.expose().as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: PKCE-1, PKCE-3
    #[test]
    fn the_challenge_is_the_digest_of_the_verifier() {
        // The example of RFC 7636, appendix B.
        let verifier = Verifier(Secret::from("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"));
        assert_eq!(verifier.challenge(), "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM");
        let drawn = Verifier::new(&Moment::fixed(0, 1));
        assert_eq!(drawn.text().expose().len(), 43);
        assert_ne!(drawn.challenge(), Verifier::new(&Moment::fixed(0, 2)).challenge());
    }
}
