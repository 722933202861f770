//! Arguments that are strings: those of prompts, and the values of a template's variables in a URI.
//!
//! Handlers take typed parameters, so each string is read as the type of its parameter: `42` as a
//! number, `true` as a flag, an empty string as `None` of an `Option`.

use std::sync::Arc;

use bowline_types::template::{TemplateValue, Variables};
use serde::de::{DeserializeOwned, Error as _};
use serde_json::{Map, Value as Json};

mod error;
mod read;
mod validator;

use error::TextError;
pub(crate) use validator::TextValidator;

/// Arguments that are strings, by name.
#[derive(Debug)]
pub(crate) struct TextArguments {
    values: Variables,
    /// The names in their order, given or not.
    names: Arc<[String]>,
    /// The name of the whole in error messages.
    root: &'static str,
    /// All of it as a JSON object.
    json: Vec<u8>,
}

impl TextArguments {
    /// The arguments of a prompt.
    pub(crate) fn of_prompt(values: Variables, names: Arc<[String]>) -> Self {
        Self::new(values, names, "arguments")
    }

    /// The values of a template's variables in a URI.
    pub(crate) fn of_uri(values: Variables, names: Arc<[String]>) -> Self {
        Self::new(values, names, "variables")
    }

    fn new(values: Variables, names: Arc<[String]>, root: &'static str) -> Self {
        let members: Map<_, _> =
            values.iter().map(|(name, value)| (name.to_owned(), json(value))).collect();
        // Texts by name can always be written.
        let json = serde_json::to_vec(&members).unwrap_or_default();
        Self { values, names, root, json }
    }

    /// All of it as a JSON object.
    pub(crate) fn json(&self) -> &[u8] {
        &self.json
    }

    /// All of it as a struct or a map.
    ///
    /// # Errors
    ///
    /// Names the text that does not fit, and says what would.
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Result<T, String> {
        T::deserialize(read::All(&self.values)).map_err(|error| error.describe(self.root))
    }

    /// One of them, by its place in their order.
    ///
    /// # Errors
    ///
    /// Names the text that does not fit, and says what would.
    pub(crate) fn decode_at<T: DeserializeOwned>(&self, place: usize) -> Result<T, String> {
        let name = self.names.get(place).map_or("", String::as_str);
        let decoded = match self.values.value(name) {
            Some(value) => T::deserialize(read::One::from(value)),
            // An `Option` is read as `None`; other types fail.
            None => T::deserialize(read::Absent).map_err(|_| TextError::custom("missing")),
        };
        decoded.map_err(|error| error.at(name).describe(self.root))
    }
}

fn json(value: &TemplateValue) -> Json {
    match value {
        TemplateValue::Text(text) => Json::from(text.as_str()),
        TemplateValue::List(items) => Json::from(items.clone()),
        TemplateValue::Pairs(pairs) => {
            let member = |(name, value): &(String, String)| (name.clone(), value.clone().into());
            Json::Object(pairs.iter().map(member).collect())
        }
    }
}

#[cfg(test)]
mod tests;
