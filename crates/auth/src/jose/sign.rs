//! Private keys, and the tokens that they sign.

use std::fmt;

use bowline_types::json::RawJson;
use ring::rand::SystemRandom;
use ring::rsa::PublicKeyComponents;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256,
    RSA_PSS_SHA256, RsaEncoding, RsaKeyPair,
};
use rustls_pki_types::pem::PemObject as _;
use rustls_pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use serde::Serialize;

use super::jwk::PublicKey;
use super::jws::Algorithm;
use super::to_base64;
use crate::error::{Error, Kind};
use crate::secret::Secret;

/// The most bytes of a private key, in PEM or not.
pub const MOST_PRIVATE_KEY: usize = 64 * 1024;

/// A private key and the algorithm that it signs with.
pub struct SigningKey {
    pair: Pair,
    public: PublicKey,
    algorithm: Algorithm,
    id: Option<String>,
}

enum Pair {
    Rsa(Box<RsaKeyPair>, &'static dyn RsaEncoding),
    P256(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
}

/// Whether the header of a token brings the public key along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmbeddedKey {
    /// The verifier knows the key, by its id if it has one.
    Absent,
    /// The header holds the key, as a proof of possession needs it.
    Present,
}

impl SigningKey {
    /// Reads a private key in PEM: PKCS#8, or for RSA also PKCS#1.
    ///
    /// ```no_run
    /// use bowline_auth::jose::jws::Algorithm::Es256;
    /// use bowline_auth::jose::sign::SigningKey;
    ///
    /// let pem = std::fs::read_to_string("key.pem")?;
    /// let key = SigningKey::pem(&pem, Es256)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// If it is not such a key, or the algorithm needs a key of another kind.
    pub fn pem(pem: &str, algorithm: Algorithm) -> Result<Self, Error> {
        if pem.len() > MOST_PRIVATE_KEY {
            return Err(Error::too_large("a private key", MOST_PRIVATE_KEY, "bytes"));
        }
        let key = PrivateKeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| Error::new(Kind::Key, "there is no private key in PEM"))?;
        match (key, algorithm) {
            (PrivateKeyDer::Pkcs8(key), _) => Self::pkcs8(&key, algorithm),
            (PrivateKeyDer::Pkcs1(key), Algorithm::Rs256 | Algorithm::Ps256) => {
                Self::rsa(RsaKeyPair::from_der(key.secret_pkcs1_der()), algorithm)
            }
            _ => {
                let text =
                    "the private key is not in PKCS#8; `openssl pkcs8 -topk8 -nocrypt` converts it";
                Err(Error::new(Kind::Key, text))
            }
        }
    }

    /// Reads a private key in PKCS#8, as bytes.
    ///
    /// # Errors
    ///
    /// If it is not such a key, or the algorithm needs a key of another kind.
    pub fn der(bytes: &Secret<Vec<u8>>, algorithm: Algorithm) -> Result<Self, Error> {
        if bytes.expose().len() > MOST_PRIVATE_KEY {
            return Err(Error::too_large("a private key", MOST_PRIVATE_KEY, "bytes"));
        }
        Self::pkcs8(&PrivatePkcs8KeyDer::from(bytes.expose().as_slice()), algorithm)
    }

    /// Draws a new key for ES256 from the randomness of the system, and gives it as PKCS#8 too, to be
    /// stored.
    ///
    /// # Errors
    ///
    /// If the system gives no randomness.
    pub fn generate() -> Result<(Self, Secret<Vec<u8>>), Error> {
        let document =
            EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
                .map_err(|_| Error::new(Kind::Key, "the system gives no randomness for a key"))?;
        let bytes = Secret::new(document.as_ref().to_vec());
        Ok((Self::der(&bytes, Algorithm::Es256)?, bytes))
    }

    fn pkcs8(key: &PrivatePkcs8KeyDer<'_>, algorithm: Algorithm) -> Result<Self, Error> {
        let bytes = key.secret_pkcs8_der();
        match algorithm {
            Algorithm::Rs256 | Algorithm::Ps256 => {
                Self::rsa(RsaKeyPair::from_pkcs8(bytes), algorithm)
            }
            Algorithm::Es256 => {
                let alg = &ECDSA_P256_SHA256_FIXED_SIGNING;
                let pair = EcdsaKeyPair::from_pkcs8(alg, bytes, &SystemRandom::new());
                let pair = pair.map_err(|error| unfit(algorithm, error))?;
                let public = PublicKey::p256(pair.public_key().as_ref())?;
                Ok(Self { pair: Pair::P256(pair), public, algorithm, id: None })
            }
            Algorithm::EdDsa => {
                // OpenSSL writes the private half alone, so there is nothing to check it against.
                let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(bytes);
                let pair = pair.map_err(|error| unfit(algorithm, error))?;
                let public = PublicKey::ed25519(pair.public_key().as_ref())?;
                Ok(Self { pair: Pair::Ed25519(pair), public, algorithm, id: None })
            }
        }
    }

    fn rsa(
        pair: Result<RsaKeyPair, ring::error::KeyRejected>,
        algorithm: Algorithm,
    ) -> Result<Self, Error> {
        let pair = pair.map_err(|error| unfit(algorithm, error))?;
        let PublicKeyComponents { n, e } = PublicKeyComponents::<Vec<u8>>::from(pair.public());
        let public = PublicKey::rsa(&n, &e)?;
        let encoding: &'static dyn RsaEncoding = match algorithm {
            Algorithm::Ps256 => &RSA_PSS_SHA256,
            _ => &RSA_PKCS1_SHA256,
        };
        Ok(Self { pair: Pair::Rsa(Box::new(pair), encoding), public, algorithm, id: None })
    }

    /// Sets the id that tokens name the key by.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// The algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The public key.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs claims as a token of a type, such as `JWT` or `dpop+jwt`.
    ///
    /// # Errors
    ///
    /// If the claims cannot be written as JSON, or the system gives no randomness.
    pub fn sign<T: Serialize>(
        &self,
        media_type: &str,
        embedded: EmbeddedKey,
        claims: &T,
    ) -> Result<Secret<String>, Error> {
        #[derive(Serialize)]
        struct Header<'a> {
            alg: &'a str,
            typ: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            kid: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            jwk: Option<RawJson>,
        }

        let jwk = match embedded {
            EmbeddedKey::Present => Some(RawJson::from_checked(self.public.to_json())),
            EmbeddedKey::Absent => None,
        };
        let kid = self.id.as_deref().filter(|_| jwk.is_none());
        let header = Header { alg: self.algorithm.name(), typ: media_type, kid, jwk };
        let json = |value: Result<Vec<u8>, serde_json::Error>| {
            let bad = |error| Error::new(Kind::Token, "the claims are not JSON").with_source(error);
            value.map(|bytes| to_base64(&bytes)).map_err(bad)
        };
        let header = json(serde_json::to_vec(&header))?;
        let mut token = format!("{header}.{}", json(serde_json::to_vec(claims))?);
        let signature = self.sign_bytes(token.as_bytes())?;
        token.push('.');
        token.push_str(&to_base64(&signature));
        Ok(Secret::new(token))
    }

    fn sign_bytes(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        let random = SystemRandom::new();
        let failed =
            |_| Error::new(Kind::Key, "the key cannot sign: the system gives no randomness");
        match &self.pair {
            Pair::Rsa(pair, encoding) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(*encoding, &random, message, &mut signature).map_err(failed)?;
                Ok(signature)
            }
            Pair::P256(pair) => {
                let signature = pair.sign(&random, message).map_err(failed)?;
                Ok(signature.as_ref().to_vec())
            }
            Pair::Ed25519(pair) => Ok(pair.sign(message).as_ref().to_vec()),
        }
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({}, {})", self.algorithm.name(), self.public.thumbprint())
    }
}

/// The key does not fit the algorithm, or is malformed; ring says which, and quotes nothing.
fn unfit(algorithm: Algorithm, error: ring::error::KeyRejected) -> Error {
    let name = algorithm.name();
    Error::new(Kind::Key, format!("the private key cannot sign with {name}: {error}"))
}
