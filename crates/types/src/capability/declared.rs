//! Reads a declaration however it is spelled: `{…}`, `true`, `false` or `null`.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use crate::json::{Json, Object};
use crate::member::any_members;

/// An object as a type, `true` as its default, `false` and `null` as missing.
pub(crate) fn declared<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    declaration(&Json::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// What a member declares, if it declares anything.
///
/// # Errors
///
/// If it is no declaration at all, or one that the type cannot hold.
pub(crate) fn declaration<T: DeserializeOwned + Default>(json: &Json) -> Result<Option<T>, String> {
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

/// A flag: `true` or any object means yes.
pub(crate) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    declared::<D, Object>(deserializer).map(|object| object.is_some())
}

/// A map of declarations, without those that declare nothing.
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

/// The entries of `required` whose names are not `there`.
pub(crate) fn lacking<T: Clone>(
    there: &BTreeMap<String, T>,
    required: &BTreeMap<String, T>,
) -> BTreeMap<String, T> {
    let mut lacking = required.clone();
    lacking.retain(|name, _| !there.contains_key(name));
    lacking
}
