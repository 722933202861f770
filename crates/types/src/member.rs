//! Serde functions for members that derived code cannot read or write, and for tagged unions.
//!
//! Peers write `null` for an absent member and `3.0` for 3; both are accepted. A union is read in
//! two steps, first its tag and then the type that the tag names, so that an error names the type
//! and what it lacks.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer, Serializer};

use crate::json::RawJson;

/// Reads `null` as the default. With `#[serde(default)]` an absent member is the default too.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Reads an object with members of any kind; `null` is an empty one. Never inlined, because many
/// types need it and its code is long.
#[inline(never)]
pub(crate) fn any_members<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, RawJson>, D::Error> {
    or_default(deserializer)
}

/// Reads a member whose `null` is a value, not an absence. Structured content may be `null`, which
/// differs from none.
pub(crate) fn even_null<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<RawJson>, D::Error> {
    RawJson::deserialize(deserializer).map(Some)
}

/// Reads a count: any JSON number without sign and fraction. `null` means absent.
pub(crate) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Option::<WholeNumber>::deserialize(deserializer)
        .map(|count| count.map(|WholeNumber(number)| number))
}

/// Writes a whole number as `1`, not as `1.0`.
pub(crate) fn number<S: Serializer>(number: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    if number.fract() == 0.0 && number.abs() <= EXACT {
        serializer.serialize_i64(*number as i64)
    } else {
        serializer.serialize_f64(*number)
    }
}

/// Writes an optional number like [`number`].
pub(crate) fn optional_number<S: Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => number(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// Beyond 2^53 a float does not stand for exactly one integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A JSON number without sign and fraction: `3`, `3.0` or `3e2`. JSON has one kind of number, and
/// some languages write `3.0` for every 3.
struct WholeNumber(u64);

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct WholeNumberVisitor;

        impl Visitor<'_> for WholeNumberVisitor {
            type Value = WholeNumber;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number that is not negative")
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<WholeNumber, E> {
                Ok(WholeNumber(number))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<WholeNumber, E> {
                if number.fract() == 0.0 && (0.0..=EXACT).contains(&number) {
                    Ok(WholeNumber(number as u64))
                } else {
                    Err(E::invalid_value(serde::de::Unexpected::Float(number), &self))
                }
            }
        }

        deserializer.deserialize_u64(WholeNumberVisitor)
    }
}

/// Reads the `type` that names the variant of a union. `what` is the name of the union in errors.
/// serde's own tagged unions would buffer the whole value, and their errors do not say which
/// variant was meant.
pub(crate) fn tag<E: Error>(json: &RawJson, what: &str) -> Result<String, E> {
    #[derive(Deserialize)]
    struct Tagged {
        r#type: String,
    }

    if !json.is_object() {
        let shown: String = json.as_str().chars().take(40).collect();
        return Err(E::custom(format_args!("{what}: expected an object, found `{shown}`")));
    }
    match json.parse::<Tagged>() {
        Ok(tagged) => Ok(tagged.r#type),
        Err(error) => Err(E::custom(format_args!("{what}: {error}"))),
    }
}

/// Reads the variant of a union that its tag names.
pub(crate) fn variant<T, E>(json: &RawJson, what: &str, tag: &str) -> Result<T, E>
where
    T: DeserializeOwned,
    E: Error,
{
    json.parse().map_err(|error| E::custom(format_args!("{what} of type `{tag}`: {error}")))
}

/// Declares the type of a member with a constant value, such as `type` in a variant of a union.
macro_rules! constant {
    ($name:ident = $word:literal) => {
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        struct $name;

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str($word)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                match <String as serde::Deserialize>::deserialize(deserializer)?.as_str() {
                    $word => Ok(Self),
                    other => Err(serde::de::Error::unknown_variant(other, &[$word])),
                }
            }
        }
    };
}
pub(crate) use constant;

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Sample {
        #[serde(default, deserialize_with = "or_default")]
        list: Vec<u8>,
        #[serde(default, deserialize_with = "even_null")]
        any: Option<RawJson>,
        #[serde(default, deserialize_with = "count")]
        size: Option<u64>,
    }

    fn sample(text: &str) -> Result<Sample, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn null_is_absent_except_where_it_is_a_value() {
        let null = sample(r#"{"list":null,"any":null,"size":null}"#).unwrap();
        assert_eq!(null, Sample { list: vec![], any: Some(RawJson::default()), size: None });
        assert_eq!(sample("{}").unwrap(), Sample { list: vec![], any: None, size: None });
    }

    #[test]
    fn a_count_is_any_spelling_of_a_whole_number() {
        for (text, number) in [("3", 3), ("3.0", 3), ("3e2", 300), ("0", 0)] {
            let read = sample(&format!(r#"{{"size":{text}}}"#)).unwrap();
            assert_eq!(read.size, Some(number), "{text}");
        }
        for bad in ["-1", "1.5", "\"3\"", "true", "1e300"] {
            assert!(sample(&format!(r#"{{"size":{bad}}}"#)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_tag_that_cannot_be_read_is_explained() {
        let error = |text: &str| {
            let json = RawJson::from_text(text).unwrap();
            tag::<serde_json::Error>(&json, "content block").unwrap_err().to_string()
        };
        assert_eq!(error("[1]"), "content block: expected an object, found `[1]`");
        assert_eq!(error("{}"), "content block: `type`: missing");
    }
}
