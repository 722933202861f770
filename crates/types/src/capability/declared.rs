//! Reads capabilities that are written as `{…}`, `true`, `false` or `null`.
//!
//! The specification allows only objects. Peers write the others too, and their meaning is clear.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use crate::json::{Object, RawJson};
use crate::member::any_members;

/// Reads an object as the type, `true` as its default, and `false` and `null` as absent.
pub(crate) fn declared<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    declaration(&RawJson::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// The capability that a JSON value declares, if any.
///
/// # Errors
///
/// If the value is neither an object nor `true`, `false` or `null`, or the object does not fit the
/// type.
pub(crate) fn declaration<T: DeserializeOwned + Default>(
    json: &RawJson,
) -> Result<Option<T>, String> {
    match json.as_str() {
        "true" => Ok(Some(T::default())),
        "false" | "null" => Ok(None),
        _ if json.is_object() => json.parse().map(Some).map_err(|error| error.to_string()),
        text => {
            let shown: String = text.chars().take(40).collect();
            Err(format!("a capability is an object, not `{shown}`"))
        }
    }
}

/// Reads a flag: `true` and any object mean yes.
pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    declared::<D, Object>(deserializer).map(|object| object.is_some())
}

/// Reads a map of capabilities, without those that are `false` or `null`.
pub(crate) fn declared_map<'de, D, T>(deserializer: D) -> Result<BTreeMap<String, T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let mut declared = BTreeMap::new();
    for (name, json) in any_members(deserializer)? {
        let invalid = |error| D::Error::custom(format_args!("`{name}`: {error}"));
        if let Some(value) = declaration(&json).map_err(invalid)? {
            declared.insert(name, value);
        }
    }
    Ok(declared)
}

/// The entries of `required` whose names are missing in `there`.
pub(crate) fn lacking<T: Clone>(
    there: &BTreeMap<String, T>,
    required: &BTreeMap<String, T>,
) -> BTreeMap<String, T> {
    let mut lacking = required.clone();
    lacking.retain(|name, _| !there.contains_key(name));
    lacking
}
