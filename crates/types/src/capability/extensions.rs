//! The `extensions` member of capabilities: identifiers with their settings.
//!
//! An extension is used only if both sides declare it. Identifiers are `_meta` keys with a prefix.
//! [`DeclaredExtensions::insert`] enforces this for our own declarations. Invalid identifiers of a
//! peer are kept, and match nothing.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::declared;
use crate::invalid::invalid_value;
use crate::json::Object;
use crate::meta;

/// The extensions that one side declares, by identifier.
///
/// ```
/// use bowline_types::Object;
/// use bowline_types::capability::DeclaredExtensions;
/// use serde_json::json;
///
/// let mut declared = DeclaredExtensions::new();
/// let settings = Object::of(&json!({ "languages": ["en"] })).unwrap();
/// declared.insert("com.example/search", settings)?;
/// assert!(declared.contains("com.example/search"));
/// assert!(declared.insert("search", Object::default()).is_err());
/// # Ok::<(), bowline_types::capability::InvalidExtension>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DeclaredExtensions(
    #[serde(deserialize_with = "declared::declared_map")] BTreeMap<String, Object>,
);

impl DeclaredExtensions {
    /// No extensions.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares an extension with its settings. Without settings, pass `{}`.
    ///
    /// # Errors
    ///
    /// If the identifier is not of the form `prefix/name`, such as `com.example/search`.
    pub fn insert(&mut self, identifier: &str, settings: Object) -> Result<(), InvalidExtension> {
        let invalid = |reason: String| Err(InvalidExtension::new(identifier, reason));
        if let Err(error) = meta::check_key(identifier) {
            return invalid(error.to_string());
        }
        match identifier.rsplit_once('/') {
            Some((_, name)) if !name.is_empty() => {
                self.0.insert(identifier.to_owned(), settings);
                Ok(())
            }
            Some(_) => invalid("it has no name after its prefix".to_owned()),
            None => invalid(format!("it has no prefix; write `com.example/{identifier}`")),
        }
    }

    /// Removes an extension.
    pub fn remove(&mut self, identifier: &str) -> Option<Object> {
        self.0.remove(identifier)
    }

    /// Whether an extension is declared.
    pub fn contains(&self, identifier: &str) -> bool {
        self.0.contains_key(identifier)
    }

    /// The settings of an extension.
    pub fn settings(&self, identifier: &str) -> Option<&Object> {
        self.0.get(identifier)
    }

    /// The settings of an extension, read into a type. `None` if it is not declared or its settings
    /// have another shape.
    pub fn parse<T: DeserializeOwned>(&self, identifier: &str) -> Option<T> {
        self.0.get(identifier)?.parse().ok()
    }

    /// Whether no extension is declared. The member is then left out of messages.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All identifiers with their settings, sorted.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Object)> {
        self.0.iter().map(|(identifier, settings)| (identifier.as_str(), settings))
    }

    pub(super) fn lacking(&self, required: &Self) -> Self {
        Self(declared::lacking(&self.0, &required.0))
    }
}

invalid_value! {
    /// The error for an identifier that is not of the form `prefix/name`.
    InvalidExtension, "extension"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::round_trip::round_trip;

    // spec: XN-1, EXT-1
    #[test]
    fn an_identifier_has_a_prefix_and_a_name() {
        let mut extensions = DeclaredExtensions::new();
        for good in ["io.modelcontextprotocol/tasks", "com.example/search-v2"] {
            assert_eq!(extensions.insert(good, Object::default()), Ok(()), "{good}");
        }
        for bad in ["tasks", "com.example/", "/tasks", "com_example/x", "com.example/-x", ""] {
            assert!(extensions.insert(bad, Object::default()).is_err(), "{bad}");
        }
        let error = extensions.insert("tasks", Object::default()).unwrap_err().to_string();
        assert!(error.contains("write `com.example/tasks`"), "{error}");
    }

    // spec: XN-1
    #[test]
    fn settings_are_objects_kept_word_for_word() {
        let text = r#"{"com.example/a":{},"com.example/b":{"z":1.0,"a":null}}"#;
        let extensions = round_trip::<DeclaredExtensions>(text);
        assert!(extensions.contains("com.example/a"));
        assert!(serde_json::from_str::<DeclaredExtensions>(r#"{"com.example/a":1}"#).is_err());
    }

    #[test]
    fn an_extension_that_is_false_is_off() {
        let text = r#"{"com.example/a":false,"com.example/b":null,"com.example/c":true}"#;
        let extensions: DeclaredExtensions = serde_json::from_str(text).unwrap();
        assert_eq!(extensions.iter().count(), 1);
        assert_eq!(extensions.settings("com.example/c"), Some(&Object::default()));
    }
}
