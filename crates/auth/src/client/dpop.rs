//! DPoP (RFC 9449): proofs that the client has the key that its token is bound to.

use std::fmt;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use http::Method;
use http::header::HeaderName;
use serde::Serialize;

use super::moment::Moment;
use crate::error::Error;
use crate::fetch::{FetchRequest, Fetched};
use crate::jose::jws::Algorithm;
use crate::jose::sign::{EmbeddedKey, SigningKey};
use crate::jose::{sha256, to_base64};
use crate::secret::Secret;
use crate::url::Url;

/// The header that holds a proof.
pub(crate) const PROOF: HeaderName = HeaderName::from_static("dpop");
/// The header in which a server names the nonce of the next proof.
const NONCE: HeaderName = HeaderName::from_static("dpop-nonce");
/// The error of a server that wants a nonce.
pub(crate) const USE_NONCE: &str = "use_dpop_nonce";
/// The most bytes of a nonce.
const MOST_NONCE: usize = 1024;

/// A key for proofs.
#[derive(Clone)]
pub(crate) struct DpopKey {
    key: Arc<SigningKey>,
    /// The key as it is stored.
    stored: Secret<Vec<u8>>,
}

impl DpopKey {
    /// A new key.
    pub(crate) fn generate() -> Result<Self, Error> {
        let (key, stored) = SigningKey::generate()?;
        Ok(Self { key: Arc::new(key), stored })
    }

    /// A key that was stored.
    pub(crate) fn load(stored: Secret<Vec<u8>>) -> Result<Self, Error> {
        Ok(Self { key: Arc::new(SigningKey::der(&stored, Algorithm::Es256)?), stored })
    }

    pub(crate) fn stored(&self) -> &Secret<Vec<u8>> {
        &self.stored
    }

    /// The thumbprint that tokens are bound to.
    pub(crate) fn thumbprint(&self) -> String {
        self.key.public().thumbprint()
    }
}

impl fmt::Debug for DpopKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.key)
    }
}

/// Makes proofs for one server: a key, and the nonce that the server named last.
#[derive(Clone, Debug)]
pub(crate) struct Prover {
    pub(crate) key: DpopKey,
    pub(crate) nonce: Option<String>,
}

impl Prover {
    pub(crate) fn new(key: DpopKey) -> Self {
        Self { key, nonce: None }
    }

    /// A new proof for one request. A proof is never sent twice.
    pub(crate) fn prove(
        &self,
        (method, url): (&Method, &Url),
        token: Option<&Secret<String>>,
        moment: &Moment,
    ) -> Result<Secret<String>, Error> {
        #[derive(Serialize)]
        struct Proof<'a> {
            jti: &'a str,
            htm: &'a str,
            htu: String,
            iat: u64,
            #[serde(skip_serializing_if = "Option::is_none")]
            ath: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            nonce: Option<&'a str>,
        }

        let jti = moment.draw("dpop");
        let proof = Proof {
            jti: jti.expose(),
            htm: method.as_str(),
            htu: format!("{}{}", url.origin(), url.path()),
            iat: moment.now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
            ath: token.map(|token| to_base64(&sha256(token.expose().as_bytes()))),
            nonce: self.nonce.as_deref(),
        };
        self.key.key.sign("dpop+jwt", EmbeddedKey::Present, &proof)
    }

    /// Adds a proof to a request for an authorization server.
    pub(crate) fn prove_request(
        &self,
        request: FetchRequest,
        moment: &Moment,
    ) -> Result<FetchRequest, Error> {
        let proof = self.prove((&request.method, &request.url), None, moment)?;
        request.with_credential(PROOF, &proof)
    }
}

/// The nonce that an answer names.
pub(crate) fn nonce(headers: &http::HeaderMap) -> Option<String> {
    let nonce = headers.get(&NONCE)?.to_str().ok()?;
    (!nonce.is_empty() && nonce.len() <= MOST_NONCE).then(|| nonce.to_owned())
}

/// The nonce that an answer of an authorization server names.
pub(crate) fn nonce_of(answer: &Fetched) -> Option<String> {
    nonce(&answer.headers)
}

#[cfg(test)]
mod tests {
    use bowline_types::read::read;

    use super::*;
    use crate::jose::jwk::Jwk;
    use crate::jose::jws::Jws;
    use crate::jose::jwt::ProofClaims;

    fn open(proof: &Secret<String>) -> ProofClaims {
        let jws = Jws::parse(proof.expose(), &[Algorithm::Es256]).unwrap();
        assert_eq!(jws.media_type(), Some("dpop+jwt"));
        let jwk = Jwk::parse(jws.own_key().unwrap()).unwrap();
        read(jws.verify(jwk.key()).unwrap()).unwrap()
    }

    #[test]
    fn a_proof_names_the_request_the_token_and_the_nonce() {
        let mut prover = Prover::new(DpopKey::generate().unwrap());
        let url = Url::parse("https://A.example:443/mcp?x=1").unwrap();
        let moment = Moment::fixed(7, 1);
        let plain = open(&prover.prove((&Method::POST, &url), None, &moment).unwrap());
        assert_eq!((plain.htm.as_str(), plain.htu.as_str()), ("POST", "https://a.example/mcp"));
        assert_eq!((plain.iat.seconds(), plain.ath, plain.nonce), (7, None, None));
        prover.nonce = Some("n".into());
        let token = Secret::from("Kz~8mXK1EalYznwH-LC-1fBAo.4Ljp~zsPE_NeO.gxU");
        let bound = prover.prove((&Method::GET, &url), Some(&token), &Moment::fixed(7, 2));
        let bound = open(&bound.unwrap());
        // The digest of the example token of RFC 9449.
        assert_eq!(bound.ath.as_deref(), Some("fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo"));
        assert_eq!(bound.nonce.as_deref(), Some("n"));
        assert_ne!(bound.jti, plain.jti);
    }

    #[test]
    fn a_stored_key_is_the_same_key() {
        let key = DpopKey::generate().unwrap();
        let again = DpopKey::load(key.stored().clone()).unwrap();
        assert_eq!(key.thumbprint(), again.thumbprint());
    }
}
