//! Values that one side chooses and the other repeats: request ids, progress tokens, cursors.
//!
//! Ids are compared by value and repeated by their exact text. A request with `"id": 1.0` is
//! answered with `"id":1.0`, and `7` is not `"7"`.

use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The largest integer that every JSON implementation reads exactly.
const EXACT: i64 = 1 << 53;

/// The id of a request: an integer or a string, never `null`, never a fraction.
///
/// ```
/// use bowline_types::id::RequestId;
///
/// let id = RequestId::from_json("1.0")?;
/// assert_eq!(id.as_integer(), Some(1));
/// assert_eq!(id.to_json(), "1.0");
/// assert_ne!(id, RequestId::from("1"));
/// # Ok::<(), bowline_types::id::InvalidId>(())
/// ```
#[derive(Clone)]
pub struct RequestId(Repr);

/// The usual forms take no more memory than their value; the odd ones also keep their text, since a
/// response repeats the id as it came (RPC-6).
#[derive(Clone)]
enum Repr {
    Integer(i64),
    /// The value, and its text if that is not how `i64` prints: `1.0` or `1e3`.
    OddInteger(i64, Box<str>),
    Text(Box<str>),
    /// The value, and its text if that has escapes which this library does not write.
    OddText(Box<str>, Box<str>),
}

impl RequestId {
    /// Reads an id from its JSON text.
    ///
    /// # Errors
    ///
    /// If the text is neither a string nor an integer of at most 2⁵³. The error shows the text.
    pub fn from_json(text: &str) -> Result<Self, InvalidId> {
        match text.as_bytes().first() {
            Some(b'"') => Self::from_json_string(text),
            Some(b'-' | b'0'..=b'9') => Self::from_json_number(text),
            _ => Err(InvalidId(text.to_owned())),
        }
    }

    /// The value, if it is an integer.
    pub fn as_integer(&self) -> Option<i64> {
        match &self.0 {
            Repr::Integer(value) | Repr::OddInteger(value, _) => Some(*value),
            Repr::Text(_) | Repr::OddText(..) => None,
        }
    }

    /// The value, if it is a string.
    pub fn as_text(&self) -> Option<&str> {
        match &self.0 {
            Repr::Integer(_) | Repr::OddInteger(..) => None,
            Repr::Text(value) | Repr::OddText(value, _) => Some(value),
        }
    }

    /// The JSON text: as the peer wrote it, or as this library writes it.
    pub fn to_json(&self) -> Cow<'_, str> {
        match &self.0 {
            Repr::Integer(value) => Cow::Owned(value.to_string()),
            Repr::OddInteger(_, text) | Repr::OddText(_, text) => Cow::Borrowed(text),
            Repr::Text(value) => Cow::Owned(quote(value)),
        }
    }

    /// Passes the JSON text to a function, without allocating for plain integers.
    pub fn with_json<R>(&self, act: impl FnOnce(&str) -> R) -> R {
        match &self.0 {
            Repr::Integer(value) => act(itoa::Buffer::new().format(*value)),
            _ => act(&self.to_json()),
        }
    }

    fn from_json_string(text: &str) -> Result<Self, InvalidId> {
        let value: Box<str> = serde_json::from_str(text).map_err(|_| InvalidId(text.to_owned()))?;
        let plain = quote(&value) == text;
        Ok(Self(if plain { Repr::Text(value) } else { Repr::OddText(value, text.into()) }))
    }

    /// `-0` is odd: it equals 0, and must be repeated as `-0`.
    fn from_json_number(text: &str) -> Result<Self, InvalidId> {
        if let Ok(value) = text.parse::<i64>() {
            let plain = text != "-0";
            return Ok(Self(if plain {
                Repr::Integer(value)
            } else {
                Repr::OddInteger(value, text.into())
            }));
        }
        let value: f64 = serde_json::from_str(text).map_err(|_| InvalidId(text.to_owned()))?;
        if value.fract() != 0.0 || value.abs() > EXACT as f64 {
            return Err(InvalidId(text.to_owned()));
        }
        Ok(Self(Repr::OddInteger(value as i64, text.into())))
    }
}

/// A string as JSON text.
fn quote(value: &str) -> String {
    // Writing a string into memory cannot fail.
    serde_json::to_string(value).unwrap_or_default()
}

impl From<i64> for RequestId {
    fn from(value: i64) -> Self {
        Self(Repr::Integer(value))
    }
}

impl From<&str> for RequestId {
    fn from(value: &str) -> Self {
        Self(Repr::Text(value.into()))
    }
}

impl From<String> for RequestId {
    fn from(value: String) -> Self {
        Self(Repr::Text(value.into()))
    }
}

impl PartialEq for RequestId {
    fn eq(&self, other: &Self) -> bool {
        self.as_integer() == other.as_integer() && self.as_text() == other.as_text()
    }
}

impl Eq for RequestId {}

impl Hash for RequestId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_integer().hash(state);
        self.as_text().hash(state);
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As JSON, so that `7` and `"7"` differ in a log line.
        f.write_str(&self.to_json())
    }
}

impl Serialize for RequestId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Repr::Integer(value) => serializer.serialize_i64(*value),
            Repr::Text(value) => serializer.serialize_str(value),
            Repr::OddInteger(_, text) | Repr::OddText(_, text) => {
                let raw = RawValue::from_string(text.to_string());
                raw.map_err(serde::ser::Error::custom)?.serialize(serializer)
            }
        }
    }
}

impl<'de> Deserialize<'de> for RequestId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::from_json(raw.get()).map_err(D::Error::custom)
    }
}

/// The error for JSON that is not a valid id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidId(String);

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: String = self.0.chars().take(40).collect();
        write!(f, "an id is a string or an integer up to 2^53, not `{shown}`")
    }
}

impl std::error::Error for InvalidId {}

/// The token by which a request receives progress notifications: an integer or a string that the
/// sender of the request chooses. Unique among the sender's open requests (PROG-2).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProgressToken(pub RequestId);

impl fmt::Display for ProgressToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// A position in a list. Only the server that made it knows its meaning. An empty cursor is valid.
/// Clients must not look into it (PAGE-6).
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Cursor(String);

impl Cursor {
    /// Wraps the text of a cursor.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text as the server sent it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // spec: RPC-2, RPC-3
    #[test]
    fn an_id_is_a_string_or_an_integer() {
        for good in ["0", "-1", "9007199254740992", "\"\"", "\"a\"", "1.0", "1e0", "-0", "1E2"] {
            assert!(RequestId::from_json(good).is_ok(), "{good}");
        }
        for bad in ["null", "true", "1.5", "1e300", "[1]", "{}", "", "-", "\"", "9.1e15"] {
            assert!(RequestId::from_json(bad).is_err(), "{bad}");
        }
    }

    // spec: RPC-6
    #[test]
    fn an_id_is_repeated_by_its_exact_text() {
        for text in ["1", "1.0", "1e0", "-0", "\"1\"", "\"\\u0061\"", "\"\\/\"", "\"é\""] {
            let id = RequestId::from_json(text).unwrap();
            assert_eq!(id.to_json(), text);
            assert_eq!(serde_json::to_string(&id).unwrap(), text);
        }
    }

    #[test]
    fn ids_are_compared_by_value_and_type() {
        let id = |text| RequestId::from_json(text).unwrap();
        assert_eq!(id("1"), id("1.0"));
        assert_eq!(id("\"a\""), id("\"\\u0061\""));
        assert_ne!(id("1"), id("\"1\""));
    }

    // spec: PROG-1
    #[test]
    fn a_progress_token_is_a_string_or_an_integer() {
        assert!(serde_json::from_str::<ProgressToken>("7").is_ok());
        assert!(serde_json::from_str::<ProgressToken>("\"a\"").is_ok());
        assert!(serde_json::from_str::<ProgressToken>("1.5").is_err());
        assert!(serde_json::from_str::<ProgressToken>("null").is_err());
    }
}
