//! Reads a declaration however it is spelled: `{…}`, `true`, `false` or `null`.

use std::collections::BTreeMap;

use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};

use crate::json::{Json, Object};

/// An object as a type, `true` as its default, `false` and `null` as missing.
pub(crate) fn declared<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    let json = Json::deserialize(deserializer)?;
    match json.as_str() {
        "true" => Ok(Some(T::default())),
        "false" | "null" => Ok(None),
        _ if json.is_object() => json.parse().map(Some).map_err(D::Error::custom),
        text => {
            let shown: String = text.chars().take(40).collect();
            Err(D::Error::custom(format_args!("a capability is an object, not `{shown}`")))
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
    #[derive(Deserialize)]
    #[serde(transparent, bound = "T: DeserializeOwned + Default")]
    struct Entry<T>(#[serde(deserialize_with = "declared")] Option<T>);

    let entries = Option::<BTreeMap<String, Entry<T>>>::deserialize(deserializer)?;
    let entries = entries.into_iter().flatten();
    Ok(entries.filter_map(|(name, entry)| entry.0.map(|value| (name, value))).collect())
}

/// The entries of `required` whose names are not `there`.
pub(crate) fn lacking<T: Clone>(
    there: &BTreeMap<String, T>,
    required: &BTreeMap<String, T>,
) -> BTreeMap<String, T> {
    let missing = required.iter().filter(|(name, _)| !there.contains_key(*name));
    missing.map(|(name, value)| (name.clone(), value.clone())).collect()
}
