//! The claims of a JSON Web Token.

use std::fmt;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bowline_types::read::read;
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Kind, misread};

/// The claims that this crate reads. A claim that stands twice makes the token malformed.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct TokenClaims {
    /// Who issued the token.
    pub iss: Option<String>,
    /// The user, or the client itself.
    pub sub: Option<String>,
    /// The resources that the token is for.
    #[serde(default)]
    pub aud: Texts,
    /// When the token expires.
    pub exp: Option<NumericDate>,
    /// When the token begins to be valid.
    pub nbf: Option<NumericDate>,
    /// When the token was issued.
    pub iat: Option<NumericDate>,
    /// The id of the token.
    pub jti: Option<String>,
    /// The client that the token was issued to.
    pub client_id: Option<String>,
    /// The same, as some servers name it.
    pub azp: Option<String>,
    /// The scopes: one text with spaces.
    pub scope: Option<Texts>,
    /// The same, as some servers name it; a list or a text.
    pub scp: Option<Texts>,
    /// The key that the client must prove to have.
    pub cnf: Option<Confirmation>,
}

/// How a token is bound to a key of the client.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct Confirmation {
    /// The thumbprint of the key.
    pub jkt: Option<String>,
    /// The thumbprint of a TLS certificate.
    #[serde(rename = "x5t#S256")]
    pub certificate: Option<String>,
}

/// The claims of a proof that a client has a key (DPoP, RFC 9449).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ProofClaims {
    /// The id of the proof.
    pub jti: String,
    /// The method of the request.
    pub htm: String,
    /// The URL of the request, without query.
    pub htu: String,
    /// When the proof was made.
    pub iat: NumericDate,
    /// The digest of the access token of the request.
    pub ath: Option<String>,
    /// The nonce that the server named.
    pub nonce: Option<String>,
}

impl TokenClaims {
    /// Reads the payload of a token.
    ///
    /// # Errors
    ///
    /// If it is not an object, or a claim has the wrong type.
    pub fn parse(payload: &str) -> Result<Self, Error> {
        read(payload).map_err(|error| misread(Kind::Token, "the claims of the token", &error))
    }
}

/// One text, or a list of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts(pub Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct TextsVisitor;

        impl<'de> Visitor<'de> for TextsVisitor {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }

        deserializer.deserialize_any(TextsVisitor)
    }
}

/// A time as a number of seconds since 1970, perhaps with a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumericDate(pub SystemTime);

/// The last second of the year 9999. A later time is a mistake, or an attempt to overflow.
const LAST_SECOND: u64 = 253_402_300_799;

impl NumericDate {
    /// The number of whole seconds since 1970.
    pub fn seconds(self) -> u64 {
        self.0.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
    }
}

impl Serialize for NumericDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.seconds())
    }
}

impl<'de> Deserialize<'de> for NumericDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = f64::deserialize(deserializer)?;
        // The comparison is false for what is not a number.
        if !(0.0..=LAST_SECOND as f64).contains(&seconds) {
            return Err(D::Error::custom("a time must lie between 1970 and the year 9999"));
        }
        Ok(Self(UNIX_EPOCH + Duration::from_secs_f64(seconds)))
    }
}
