//! Public keys as JSON, and sets of them.

use std::fmt;

use bowline_types::json::RawJson;
use bowline_types::read::read;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::jws::Algorithm;
use super::{from_base64, sha256, to_base64};
use crate::error::{Error, Kind, misread};

/// The most keys of a set.
pub const MOST_KEYS: usize = 100;
/// The most bytes of one key as JSON.
pub const MOST_KEY: usize = 16 * 1024;
/// The sizes of an RSA modulus in bits. Smaller ones are weak, larger ones slow.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=8192;
/// The most bytes of an RSA exponent.
const MOST_EXPONENT: usize = 4;

/// A public key.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(Material);

#[derive(Clone, PartialEq, Eq)]
enum Material {
    /// Modulus and exponent, without leading zeros.
    Rsa {
        n: Vec<u8>,
        e: Vec<u8>,
    },
    /// A point, uncompressed: `4`, x, y.
    P256([u8; 65]),
    Ed25519([u8; 32]),
}

impl PublicKey {
    /// An RSA key of modulus and exponent.
    ///
    /// # Errors
    ///
    /// If it is too small or too large.
    pub(crate) fn rsa(n: &[u8], e: &[u8]) -> Result<Self, Error> {
        let without_zeros =
            |bytes: &[u8]| bytes.iter().copied().skip_while(|byte| *byte == 0).collect();
        let (n, e): (Vec<u8>, Vec<u8>) = (without_zeros(n), without_zeros(e));
        let unused = n.first().map_or(0, |byte| byte.leading_zeros() as usize);
        let bits = n.len() * 8 - unused;
        if !RSA_BITS.contains(&bits) || e.is_empty() || e.len() > MOST_EXPONENT {
            let text = format!("an RSA key of {bits} bits is not accepted");
            return Err(Error::new(Kind::Key, text));
        }
        Ok(Self(Material::Rsa { n, e }))
    }

    /// A point on P-256 as ring writes it: `4`, x, y.
    pub(crate) fn p256(point: &[u8]) -> Result<Self, Error> {
        let point = point.try_into().map_err(|_| malformed("a point on P-256"))?;
        Ok(Self(Material::P256(point)))
    }

    pub(crate) fn ed25519(bytes: &[u8]) -> Result<Self, Error> {
        let bytes = bytes.try_into().map_err(|_| malformed("an Ed25519 key"))?;
        Ok(Self(Material::Ed25519(bytes)))
    }

    /// Whether the key is of the kind that an algorithm needs.
    pub fn fits(&self, algorithm: Algorithm) -> bool {
        match self.0 {
            Material::Rsa { .. } => matches!(algorithm, Algorithm::Rs256 | Algorithm::Ps256),
            Material::P256(_) => algorithm == Algorithm::Es256,
            Material::Ed25519(_) => algorithm == Algorithm::EdDsa,
        }
    }

    /// Whether a signature is right.
    pub(crate) fn verify(&self, algorithm: Algorithm, message: &[u8], signature: &[u8]) -> bool {
        let result =
            match (&self.0, algorithm) {
                (Material::Rsa { n, e }, Algorithm::Rs256) => RsaPublicKeyComponents { n, e }
                    .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature),
                (Material::Rsa { n, e }, Algorithm::Ps256) => RsaPublicKeyComponents { n, e }
                    .verify(&RSA_PSS_2048_8192_SHA256, message, signature),
                (Material::P256(point), Algorithm::Es256) => {
                    UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                        .verify(message, signature)
                }
                (Material::Ed25519(key), Algorithm::EdDsa) => {
                    UnparsedPublicKey::new(&ED25519, key).verify(message, signature)
                }
                _ => return false,
            };
        result.is_ok()
    }

    /// The required members of the key as JSON, sorted by name and without spaces: what RFC 7638
    /// digests. It is a complete public key.
    pub fn to_json(&self) -> String {
        /// The members in the order of their names.
        #[derive(Default, Serialize)]
        struct Required<'a> {
            #[serde(skip_serializing_if = "Option::is_none")]
            crv: Option<&'a str>,
            #[serde(skip_serializing_if = "Option::is_none")]
            e: Option<String>,
            kty: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            n: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            x: Option<String>,
            #[serde(skip_serializing_if = "Option::is_none")]
            y: Option<String>,
        }
        let text = |bytes: &[u8]| Some(to_base64(bytes));
        let required = match &self.0 {
            Material::Rsa { n, e } => {
                Required { kty: "RSA", n: text(n), e: text(e), ..Required::default() }
            }
            Material::P256(point) => {
                let (x, y) = point[1..].split_at(32);
                let (x, y) = (text(x), text(y));
                Required { kty: "EC", crv: Some("P-256"), x, y, ..Required::default() }
            }
            Material::Ed25519(key) => {
                Required { kty: "OKP", crv: Some("Ed25519"), x: text(key), ..Required::default() }
            }
        };
        serde_json::to_string(&required).expect("texts can be written as JSON")
    }

    /// The thumbprint of RFC 7638: SHA-256, in base64url.
    pub fn thumbprint(&self) -> String {
        to_base64(&sha256(self.to_json().as_bytes()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.thumbprint())
    }
}

/// A public key that may verify signatures, with the restrictions that its owner wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jwk {
    key: PublicKey,
    id: Option<String>,
    algorithm: Option<Algorithm>,
}

/// The members of a key that are read.
#[derive(Deserialize)]
struct Members {
    kty: String,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
    kid: Option<String>,
    alg: Option<String>,
    r#use: Option<String>,
    key_ops: Option<Vec<String>>,
    /// The members of private and of symmetric keys.
    d: Option<IgnoredAny>,
    k: Option<IgnoredAny>,
}

impl Jwk {
    /// Reads a key.
    ///
    /// # Errors
    ///
    /// If it is malformed, private, symmetric, of an unknown kind, too weak, or not for verifying
    /// signatures.
    pub fn parse(json: &RawJson) -> Result<Self, Error> {
        if json.as_str().len() > MOST_KEY {
            return Err(Error::too_large("a key", MOST_KEY, "bytes"));
        }
        let members: Members =
            read(json.as_str()).map_err(|error| misread(Kind::Key, "a key", &error))?;
        if members.d.is_some() || members.k.is_some() {
            return Err(Error::new(Kind::Key, "a private or symmetric key is not accepted"));
        }
        let is_for_signatures = members.r#use.as_deref().is_none_or(|word| word == "sig");
        let verifies = |words: &Vec<String>| words.iter().any(|word| word == "verify");
        if !is_for_signatures || !members.key_ops.as_ref().is_none_or(verifies) {
            return Err(Error::new(Kind::Key, "the key is not for verifying signatures"));
        }
        let key = material(&members)?;
        let algorithm = members.alg.as_deref().map(|name| {
            let known = Algorithm::from_name(name).filter(|algorithm| key.fits(*algorithm));
            known.ok_or_else(|| Error::new(Kind::Key, "the key is for another algorithm"))
        });
        Ok(Self { algorithm: algorithm.transpose()?, key, id: members.kid })
    }

    /// The key itself.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// The id that tokens name it by.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Whether the key is for this algorithm, by its kind and by its own `alg`.
    pub fn fits(&self, algorithm: Algorithm) -> bool {
        self.key.fits(algorithm) && self.algorithm.is_none_or(|own| own == algorithm)
    }
}

fn material(members: &Members) -> Result<PublicKey, Error> {
    let bytes = |value: &Option<String>| {
        value.as_deref().and_then(from_base64).ok_or_else(|| malformed("a key"))
    };
    match (members.kty.as_str(), members.crv.as_deref()) {
        ("RSA", _) => PublicKey::rsa(&bytes(&members.n)?, &bytes(&members.e)?),
        ("EC", Some("P-256")) => {
            let [x, y] = [bytes(&members.x)?, bytes(&members.y)?];
            // Otherwise a point could be cut in two ways. The length of both together is checked below.
            if x.len() != 32 {
                return Err(malformed("a point on P-256"));
            }
            PublicKey::p256(&[&[4], x.as_slice(), y.as_slice()].concat())
        }
        ("OKP", Some("Ed25519")) => PublicKey::ed25519(&bytes(&members.x)?),
        _ => Err(Error::new(Kind::Key, "a key of this kind is not accepted")),
    }
}

fn malformed(what: &str) -> Error {
    Error::new(Kind::Key, format!("{what} is malformed"))
}

/// The keys of an authorization server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JwkSet(Vec<Jwk>);

/// The most keys that are tried for one token: keys may share an id, and a token may name none.
const MOST_TRIED: usize = 4;

impl JwkSet {
    /// Reads a set. Keys that cannot be used, such as those for encryption, are left out.
    ///
    /// # Errors
    ///
    /// If it is malformed or has too many keys.
    pub fn parse(text: &str) -> Result<Self, Error> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<RawJson>,
        }

        let set: Set = read(text).map_err(|error| misread(Kind::Key, "a key set", &error))?;
        if set.keys.len() > MOST_KEYS {
            return Err(Error::too_large("a key set", MOST_KEYS, "keys"));
        }
        Ok(Self(set.keys.iter().filter_map(|key| Jwk::parse(key).ok()).collect()))
    }

    /// The keys that may have signed a token, by its algorithm and by the id that it names.
    pub fn candidates(&self, id: Option<&str>, algorithm: Algorithm) -> impl Iterator<Item = &Jwk> {
        let has_id = move |key: &&Jwk| id.is_none_or(|id| key.id() == Some(id));
        self.0.iter().filter(has_id).filter(move |key| key.fits(algorithm)).take(MOST_TRIED)
    }

    /// Whether a key has this id.
    pub fn has(&self, id: &str) -> bool {
        self.0.iter().any(|key| key.id() == Some(id))
    }

    /// The number of keys that can be used.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no key can be used.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Jwk> for JwkSet {
    fn from_iter<I: IntoIterator<Item = Jwk>>(keys: I) -> Self {
        Self(keys.into_iter().take(MOST_KEYS).collect())
    }
}
