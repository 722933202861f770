//! JSON that this library passes on: kept as text until a caller reads it into a type.
//!
//! Schemas, structured results and `_meta` values are defined by the programs on both sides.
//! Keeping their exact text preserves the order of members, the spelling of numbers and unknown
//! keywords, and costs one copy.

use std::fmt;

use serde::de::{DeserializeOwned, Error as _};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use crate::read::{ReadError, read_owned};
use crate::text::excerpt;

/// Any JSON value, kept as its text.
///
/// ```
/// use bowline_types::RawJson;
///
/// let json = RawJson::from_text(r#"{"price":1.50}"#).unwrap();
/// assert_eq!(json.as_str(), r#"{"price":1.50}"#);
/// assert!(json.is_object() && json.parse::<Vec<u8>>().is_err());
/// ```
///
/// Not to be confused with the server's `Json<T>`, which turns a Rust value into a tool result.
#[derive(Clone)]
pub struct RawJson(Text);

#[derive(Clone)]
enum Text {
    /// Checked by `serde_json`.
    Raw(Box<RawValue>),
    /// Checked by the caller.
    Checked(Box<str>),
}

impl RawJson {
    /// Serializes a value.
    ///
    /// # Errors
    ///
    /// If the value cannot be written as JSON, for example a map whose keys are not strings.
    pub fn from_value<T: Serialize + ?Sized>(value: &T) -> Result<Self, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(Self::raw)
    }

    /// Checks that a text is one JSON value, and keeps it.
    ///
    /// # Errors
    ///
    /// If the text is not JSON.
    pub fn from_text(text: impl Into<String>) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text.into()).map(Self::raw)
    }

    /// Keeps a text that the caller knows to be one JSON value without whitespace around it. The
    /// text is not checked again. If it is not JSON, serializing it fails later.
    pub fn from_checked(text: impl Into<Box<str>>) -> Self {
        Self(Text::Checked(text.into()))
    }

    fn raw(raw: Box<RawValue>) -> Self {
        Self(Text::Raw(raw))
    }

    /// Reads the value into a type. Integers may be spelled `1.0` or `1e3`.
    ///
    /// # Errors
    ///
    /// If the value does not have the shape of the type.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
        read_owned(self.as_str())
    }

    /// The JSON text.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Raw(raw) => raw.get(),
            Text::Checked(text) => text,
        }
    }

    /// The JSON text, without a copy.
    pub fn into_text(self) -> String {
        match self.0 {
            Text::Raw(raw) => Box::<str>::from(raw).into(),
            Text::Checked(text) => text.into(),
        }
    }

    /// Whether the value is an object.
    pub fn is_object(&self) -> bool {
        self.as_str().starts_with('{')
    }

    /// The empty object.
    pub fn empty_object() -> Self {
        Self::from_text("{}").unwrap_or_default()
    }
}

impl Default for RawJson {
    /// `null`.
    fn default() -> Self {
        Self::raw(RawValue::NULL.to_owned())
    }
}

impl PartialEq for RawJson {
    /// Compares the text: `1` and `1.0` differ.
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RawJson {}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for RawJson {
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

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::raw)
    }
}

/// Declares a newtype of [`RawJson`] that is always an object.
macro_rules! object {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, Serialize)]
        #[serde(transparent)]
        pub struct $name(RawJson);

        impl $name {
            /// Wraps JSON that is an object.
            ///
            /// # Errors
            ///
            /// Returns the JSON if it is not an object.
            pub fn new(json: RawJson) -> Result<Self, RawJson> {
                if json.is_object() { Ok(Self(json)) } else { Err(json) }
            }

            /// The object as JSON.
            pub fn as_json(&self) -> &RawJson {
                &self.0
            }

            /// The JSON text.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }

            /// Reads the object into a type.
            ///
            /// # Errors
            ///
            /// If the object does not have the shape of the type.
            pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ReadError> {
                self.0.parse()
            }
        }

        impl Default for $name {
            /// `{}`.
            fn default() -> Self {
                Self(RawJson::empty_object())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let json = RawJson::deserialize(deserializer)?;
                Self::new(json).map_err(|json| {
                    let shown: String = json.as_str().chars().take(40).collect();
                    D::Error::custom(format_args!("expected an object, found `{shown}`"))
                })
            }
        }
    };
}

object! {
    /// A JSON object whose members this library does not read: settings, arguments, metadata.
    Object
}

impl Object {
    /// A value as an object. A value without anything in it, such as `()`, is the empty object.
    ///
    /// ```
    /// use bowline_types::json::Object;
    ///
    /// assert_eq!(Object::of(&()).unwrap(), Object::default());
    /// assert_eq!(Object::of(&[1]).unwrap_err(), "are no JSON object, but `[1]`");
    /// ```
    ///
    /// # Errors
    ///
    /// Says why it cannot be one, as the end of a sentence about settings or params.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Self, String> {
        let json = RawJson::from_value(value)
            .map_err(|error| format!("cannot be written as JSON: {error}"))?;
        match json.as_str() {
            "null" => Ok(Self::default()),
            _ => Self::new(json)
                .map_err(|json| format!("are no JSON object, but `{}`", excerpt(json.as_str()))),
        }
    }
}

object! {
    /// A JSON Schema, kept as its exact text. Unknown keywords are passed on (TOOL-18).
    Schema
}

/// Declares an enum of strings on the wire. Unknown strings are kept in `Other`.
macro_rules! open_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
            /// A value that this library does not know.
            Other(String),
        }

        impl $name {
            /// The string on the wire.
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

/// Bytes as base64 text (standard alphabet, padded).
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Base64(String);

impl Base64 {
    /// Encodes bytes.
    pub fn encode(bytes: &[u8]) -> Self {
        use base64::Engine as _;
        Self(base64::engine::general_purpose::STANDARD.encode(bytes))
    }

    /// Decodes the bytes. Text that a peer sent is checked here, not while the message is read.
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

/// The error for text that is not base64.
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
    use crate::round_trip::round_trip;

    // spec: TOOL-18
    #[test]
    fn a_schema_is_kept_word_for_word() {
        let text = r#"{"type":"object","x-unknown":{"b":1,"a":1.0},"$anchor":"here"}"#;
        round_trip::<Schema>(text);
    }

    #[test]
    fn text_that_was_checked_elsewhere_is_written_as_it_stands() {
        let json = RawJson::from_checked(r#"{"b":1.0, "a":[]}"#);
        assert_eq!(serde_json::to_string(&json).unwrap(), r#"{"b":1.0, "a":[]}"#);
        assert_eq!(json, RawJson::from_text(json.as_str()).unwrap());
        assert!(serde_json::to_string(&RawJson::from_checked("{")).is_err());
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
