//! JSON that is carried, not read: kept as text until somebody wants it as a type.
//!
//! Schemas, structured results and `_meta` values belong to programs on either side of us. Keeping
//! their exact text preserves order, number spelling and unknown keywords, and costs one copy.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::read::{Misread, read_owned};

/// Any JSON value, as its text.
#[derive(Clone)]
pub struct Json(Text);

#[derive(Clone)]
enum Text {
    /// Read or written by `serde_json`.
    Raw(Box<RawValue>),
    /// Checked by somebody else.
    Checked(Box<str>),
}

impl Json {
    /// Writes a value as JSON.
    ///
    /// # Errors
    ///
    /// If the value cannot be JSON, for example a map whose keys are not strings.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self::raw)
    }

    /// Takes JSON text, after checking that it is one value.
    ///
    /// # Errors
    ///
    /// If the text is not JSON.
    pub fn from_text(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Self::raw)
    }

    /// Takes text that is known to be one JSON value, without blanks around it: it is not checked
    /// again. If it is something else, writing it fails.
    pub fn from_checked(text: impl Into<Box<str>>) -> Self {
        Self(Text::Checked(text.into()))
    }

    fn raw(raw: Box<RawValue>) -> Self {
        Self(Text::Raw(raw))
    }

    /// Reads it as a type, which takes whole numbers however they are spelled.
    ///
    /// # Errors
    ///
    /// If it does not have the shape of the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Misread> {
        read_owned(self.as_str())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Raw(raw) => raw.get(),
            Text::Checked(text) => text,
        }
    }

    /// The text, taken out.
    pub fn into_text(self) -> String {
        match self.0 {
            Text::Raw(raw) => Box::<str>::from(raw).into(),
            Text::Checked(text) => text.into(),
        }
    }

    /// Whether it is a JSON object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// The empty object.
    pub fn empty_object() -> Self {
        Self::from_text("{}").unwrap_or_default()
    }
}

impl Default for Json {
    /// `null`.
    fn default() -> Self {
        Self::raw(RawValue::NULL.to_owned())
    }
}

impl PartialEq for Json {
    /// Compares the text: `1` and `1.0` differ.
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Json {}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Text::Raw(raw) => raw.serialize(serializer),
            Text::Checked(text) => {
                let raw: &RawValue = serde_json::from_str(text).map_err(S::Error::custom)?;
                raw.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::raw)
    }
}

/// Declares a newtype of [`Json`] that is known to be an object.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Serialize)]
        #[serde(transparent)]
        pub struct $name(Json);

        impl $name {
            /// Takes JSON that is an object.
            ///
            /// # Errors
            ///
            /// Gives the JSON back if it is not an object.
            pub fn new(json: Json) -> Result<Self, Json> {
                if json.is_object() { Ok(Self(json)) } else { Err(json) }
            }

            /// The JSON.
            pub fn as_json(&self) -> &Json {
                &self.0
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }

            /// Reads it as a type.
            ///
            /// # Errors
            ///
            /// If it does not have the shape of the type.
            pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Misread> {
                self.0.parse()
            }
        }

        impl Default for $name {
            /// `{}`.
            fn default() -> Self {
                Self(Json::empty_object())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let json = Json::deserialize(deserializer)?;
                Self::new(json).map_err(|json| {
                    let shown: String = json.as_str().chars().take(40).collect();
                    D::Error::custom(format_args!("expected an object, found `{shown}`"))
                })
            }
        }
    };
}

object! {
    /// A JSON object whose members are not our business: settings, arguments, metadata.
    Object
}

object! {
    /// A JSON Schema, kept word for word: keywords that we do not know are passed on (TOOL-18).
    Schema
}

/// Declares an enum of wire words that keeps words it does not know.
macro_rules! open_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A word that this library does not know.
            Other(String),
        }

        impl $name {
            /// The word on the wire.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)*
                    _ => Self::Other(word),
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer).map(Self::from)
            }
        }
    };
}
pub(crate) use open_enum;

/// Bytes written as base64 text (standard alphabet, padded).
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Base64(String);

impl Base64 {
    /// Encodes bytes.
    pub fn encode(bytes: &[u8]) -> Self {
        use base64::Engine as _;
        Self(base64::engine::general_purpose::STANDARD.encode(bytes))
    }

    /// Decodes to bytes. What a peer sent is checked here, not when it is read.
    ///
    /// # Errors
    ///
    /// If the text is not base64.
    pub fn decode(&self) -> Result<Vec<u8>, NotBase64> {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD
            .decode(&self.0)
            .map_err(|error| NotBase64(error.to_string()))
    }

    /// The base64 text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Base64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base64({} characters)", self.0.len())
    }
}

/// Text that is not base64.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotBase64(String);

impl fmt::Display for NotBase64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not base64: {}", self.0)
    }
}

impl std::error::Error for NotBase64 {}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: TOOL-18
    #[test]
    fn a_schema_is_kept_word_for_word() {
        let text = r#"{"type":"object","x-unknown":{"b":1,"a":1.0},"$anchor":"here"}"#;
        let schema: Schema = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&schema).unwrap(), text);
    }

    #[test]
    fn text_that_was_checked_elsewhere_is_written_as_it_stands() {
        let json = Json::from_checked(r#"{"b":1.0, "a":[]}"#);
        assert_eq!(serde_json::to_string(&json).unwrap(), r#"{"b":1.0, "a":[]}"#);
        assert_eq!(json, Json::from_text(json.as_str()).unwrap());
        assert!(serde_json::to_string(&Json::from_checked("{")).is_err());
    }

    // spec: TOOL-14
    #[test]
    fn a_schema_is_never_null() {
        let error = serde_json::from_str::<Schema>("null").unwrap_err().to_string();
        assert!(error.contains("expected an object, found `null`"), "{error}");
    }

    // spec: CONT-4, RSRC-25
    #[test]
    fn base64_is_decoded_to_the_bytes_it_came_from() {
        let bytes = [0, 255, 16, 32];
        assert_eq!(Base64::encode(&bytes).decode().unwrap(), bytes);
        assert!(Base64("%%".to_owned()).decode().is_err());
    }
}
