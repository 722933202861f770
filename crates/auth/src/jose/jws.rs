//! A signed text in compact form: `header.payload.signature`, each in base64url.

use bowline_types::json::RawJson;
use bowline_types::read::read;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::from_base64;
use super::jwk::PublicKey;
use crate::error::{Error, Kind, misread};

/// The most bytes of a token.
pub const MOST_TOKEN: usize = 16 * 1024;

/// A signature algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// RSA, PKCS#1 v1.5, SHA-256.
    Rs256,
    /// RSA, PSS, SHA-256.
    Ps256,
    /// ECDSA on P-256, SHA-256.
    Es256,
    /// Ed25519.
    EdDsa,
}

impl Algorithm {
    /// All of them, the preferred first.
    pub const ALL: [Self; 4] = [Self::Es256, Self::EdDsa, Self::Ps256, Self::Rs256];

    /// The name in `alg`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rs256 => "RS256",
            Self::Ps256 => "PS256",
            Self::Es256 => "ES256",
            Self::EdDsa => "EdDSA",
        }
    }

    /// The algorithm of a name in `alg`. Ed25519 has a newer name of its own (RFC 9864).
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "RS256" => Some(Self::Rs256),
            "PS256" => Some(Self::Ps256),
            "ES256" => Some(Self::Es256),
            "EdDSA" | "Ed25519" => Some(Self::EdDsa),
            _ => None,
        }
    }
}

/// A signed text that has the right form. Its payload can be read only through
/// [`verify`](Self::verify).
pub struct Jws<'a> {
    header: Header,
    algorithm: Algorithm,
    /// Header and payload as they were signed.
    signed: &'a str,
    payload: Vec<u8>,
    signature: Vec<u8>,
}

/// The members of the header that are read.
#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    typ: Option<String>,
    jwk: Option<RawJson>,
    /// Presence alone counts, even with `null`.
    #[serde(default, deserialize_with = "present")]
    crit: bool,
}

impl<'a> Jws<'a> {
    /// Takes a text apart. `algorithms` are those that the configuration accepts.
    ///
    /// # Errors
    ///
    /// If it is too long or malformed, its algorithm is not acceptable, or its header has `crit`:
    /// this crate knows no extension that a token may demand.
    pub fn parse(text: &'a str, algorithms: &[Algorithm]) -> Result<Self, Error> {
        if text.len() > MOST_TOKEN {
            return Err(Error::too_large("the token", MOST_TOKEN, "bytes"));
        }
        let (signed, signature) = text.rsplit_once('.').ok_or_else(malformed)?;
        let (header, payload) = signed.split_once('.').ok_or_else(malformed)?;
        let [header, payload, signature] =
            [header, payload, signature].map(|part| from_base64(part).ok_or_else(malformed));
        let header = String::from_utf8(header?).map_err(|_| malformed())?;
        let header: Header = read(&header)
            .map_err(|error| misread(Kind::Token, "the header of the token", &error))?;
        if header.crit {
            return Err(Error::new(Kind::Token, "the token demands an extension (`crit`)"));
        }
        let algorithm = Algorithm::from_name(&header.alg).filter(|it| algorithms.contains(it));
        let unacceptable = || Error::new(Kind::Token, "the algorithm of the token is not accepted");
        let algorithm = algorithm.ok_or_else(unacceptable)?;
        Ok(Self { header, algorithm, signed, payload: payload?, signature: signature? })
    }

    /// Checks the signature, and gives the payload as text.
    ///
    /// # Errors
    ///
    /// If the key is of another kind, the signature is wrong, or the payload is not UTF-8.
    pub fn verify(&self, key: &PublicKey) -> Result<&str, Error> {
        if !key.verify(self.algorithm, self.signed.as_bytes(), &self.signature) {
            return Err(Error::new(Kind::Token, "the signature of the token is wrong"));
        }
        std::str::from_utf8(&self.payload).map_err(|_| malformed())
    }

    /// The algorithm: one of those that the configuration accepts.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// The id of the key. Untrusted: it only selects among trusted keys.
    pub fn key_id(&self) -> Option<&str> {
        self.header.kid.as_deref()
    }

    /// The type, as it was written.
    pub fn media_type(&self) -> Option<&str> {
        self.header.typ.as_deref()
    }

    /// The key that the header brings. Only a proof of possession may be verified with it.
    pub fn own_key(&self) -> Option<&RawJson> {
        self.header.jwk.as_ref()
    }
}

impl std::fmt::Debug for Jws<'_> {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Jws({}, {:?})", self.algorithm.name(), self.header.kid)
    }
}

fn malformed() -> Error {
    Error::new(Kind::Token, "the token is not three parts in base64url")
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}
