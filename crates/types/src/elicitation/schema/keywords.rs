//! One JSON Schema object, with the keywords that forms use.
//!
//! Nested schemas stay text until the reader descends into them. The reader descends a fixed number
//! of levels, so deep nesting by a peer cannot make it recurse without limit.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Number;

use crate::json::RawJson;
use crate::member::{any_members, count, or_default};
use crate::ordered::Ordered;

/// The most references and wrappers that are followed. Also ends circles.
const HOPS: usize = 16;

/// A schema object. Everything that a form can have, and what leads to it: references, wrappers and
/// alternatives. Other keywords are not read.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct FormKeywords {
    #[serde(rename = "$ref")]
    reference: Option<String>,
    #[serde(rename = "type")]
    pub(super) types: FormTypes,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    pub(super) default: Option<RawJson>,
    pub(super) format: Option<String>,
    #[serde(deserialize_with = "count")]
    pub(super) min_length: Option<u64>,
    #[serde(deserialize_with = "count")]
    pub(super) max_length: Option<u64>,
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
    #[serde(deserialize_with = "count")]
    pub(super) min_items: Option<u64>,
    #[serde(deserialize_with = "count")]
    pub(super) max_items: Option<u64>,
    #[serde(rename = "enum")]
    pub(super) values: Option<Vec<RawJson>>,
    pub(super) enum_names: Option<Vec<String>>,
    #[serde(rename = "const")]
    pub(super) constant: Option<RawJson>,
    pub(super) one_of: Option<Vec<RawJson>>,
    pub(super) any_of: Option<Vec<RawJson>>,
    pub(super) all_of: Option<Vec<RawJson>>,
    pub(super) items: Option<RawJson>,
    pub(super) properties: Option<Ordered<RawJson>>,
    #[serde(deserialize_with = "or_default")]
    pub(super) required: Vec<String>,
}

impl FormKeywords {
    /// Reads a schema, and follows schemas that only wrap another one: references, `allOf` with one
    /// member, and a choice between one schema and `null`. The outermost title, description and
    /// default win.
    pub(super) fn resolve(schema: &RawJson, definitions: &Definitions) -> Result<Self, String> {
        let mut schema = schema.clone();
        let mut outer = Self::default();
        for _ in 0..HOPS {
            let mut keywords = Self::read(&schema)?;
            keywords.title = outer.title.or(keywords.title);
            keywords.description = outer.description.or(keywords.description);
            keywords.default = outer.default.or(keywords.default);
            match keywords.wrapped(definitions)? {
                Some(inner) => (schema, outer) = (inner, keywords),
                None => return Ok(keywords),
            }
        }
        Err("its references lead in a circle".to_owned())
    }

    fn read(schema: &RawJson) -> Result<Self, String> {
        match schema.as_str() {
            "true" | "{}" => Err("it may be anything".to_owned()),
            "false" => Err("it may be nothing".to_owned()),
            _ => schema.parse().map_err(|error| format!("its schema cannot be read: {error}")),
        }
    }

    /// The schema that this one only wraps.
    fn wrapped(&self, definitions: &Definitions) -> Result<Option<RawJson>, String> {
        if let Some(reference) = &self.reference {
            return definitions.find(reference).map(Some);
        }
        if let Some([only]) = self.all_of.as_deref() {
            return Ok(Some(only.clone()));
        }
        let alternatives = self.any_of.as_deref().or(self.one_of.as_deref()).unwrap_or_default();
        let mut others = alternatives.iter().filter(|schema| !is_null(schema));
        match (others.next(), others.next()) {
            (Some(only), None) if alternatives.len() > 1 => Ok(Some(only.clone())),
            _ => Ok(None),
        }
    }
}

/// Whether a schema allows only `null`.
fn is_null(schema: &RawJson) -> bool {
    schema.parse::<FormKeywords>().is_ok_and(|keywords| keywords.types.0 == ["null"])
}

/// The `type` of a schema, without `null`: a field that may be `null` is an optional field. One
/// name or an array of names in JSON.
#[derive(Debug, Default, PartialEq)]
pub(super) struct FormTypes(Vec<String>);

impl FormTypes {
    /// The type, if there is exactly one.
    pub(super) fn single(&self) -> Option<&str> {
        let mut types = self.0.iter().map(String::as_str).filter(|it| *it != "null");
        let first = types.next();
        if types.next().is_none() { first } else { None }
    }

    /// Whether there is no type.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The types for an error message.
    pub(super) fn display(&self) -> String {
        self.0.join(" or ")
    }
}

impl<'de> Deserialize<'de> for FormTypes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = RawJson::deserialize(deserializer)?;
        let types = if json.as_str().starts_with('[') {
            json.parse()
        } else {
            json.parse().map(|only| vec![only])
        };
        types.map(Self).map_err(serde::de::Error::custom)
    }
}

/// The schemas that references can name. Read from the root of the schema once, and handed down.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Definitions {
    #[serde(rename = "$defs", deserialize_with = "any_members")]
    current: BTreeMap<String, RawJson>,
    #[serde(rename = "definitions", deserialize_with = "any_members")]
    former: BTreeMap<String, RawJson>,
}

impl Definitions {
    /// Only references into the definitions are followed; nothing is fetched.
    fn find(&self, reference: &str) -> Result<RawJson, String> {
        if reference == "#" {
            return Err("it holds the whole form again, and forms are flat".to_owned());
        }
        let current = reference.strip_prefix("#/$defs/").map(|name| (&self.current, name));
        let former = || reference.strip_prefix("#/definitions/").map(|name| (&self.former, name));
        let found = current.or_else(former).and_then(|(definitions, name)| {
            definitions.get(&name.replace("~1", "/").replace("~0", "~"))
        });
        found.cloned().ok_or_else(|| format!("it refers to `{reference}`, which is not known"))
    }
}
