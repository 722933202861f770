//! Writes schemas in an order that people and models read well, and always the same.

use bowline_types::json::{RawJson, Schema};
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value};

/// Writes a schema; the properties of its root in the order in which they were declared, as far
/// as that is known.
pub(super) fn schema(schema: &Value, declared: &[String]) -> Schema {
    let json =
        RawJson::from_value(&Ordered { value: schema, part: SchemaPart::Schema { declared } });
    // A `Value` can always be written, and a schema that is no object allows everything.
    json.ok().and_then(|json| Schema::new(json).ok()).unwrap_or_default()
}

/// The order of keywords; all others follow by name.
const KEYWORDS: [&str; 12] = [
    "type",
    "title",
    "description",
    "const",
    "enum",
    "default",
    "format",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "prefixItems",
];

/// A part of a schema, to be written in order.
struct Ordered<'a> {
    value: &'a Value,
    part: SchemaPart<'a>,
}

/// What a part of a schema is, as far as its members are put in an order by it.
#[derive(Clone, Copy)]
enum SchemaPart<'a> {
    /// A schema, or a list of schemas.
    Schema { declared: &'a [String] },
    /// Schemas by names that belong to the author.
    Properties { declared: &'a [String], required: Option<&'a Value> },
    /// Data of the author.
    Data,
}

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value {
            Value::Object(members) => self.members(members, serializer),
            Value::Array(items) => {
                let part = self.part;
                serializer.collect_seq(items.iter().map(|value| Ordered { value, part }))
            }
            scalar => scalar.serialize(serializer),
        }
    }
}

impl Ordered<'_> {
    /// Sorted by rank, so that the same program always writes the same schema.
    fn members<S: Serializer>(
        &self,
        members: &Map<String, Value>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let mut names: Vec<&String> = members.keys().collect();
        names.sort_unstable_by_key(|name| (self.rank(name), *name));
        let mut map = serializer.serialize_map(Some(names.len()))?;
        for name in names {
            let Some(value) = members.get(name) else { continue };
            map.serialize_entry(name, &Ordered { value, part: self.inside(name, members) })?;
        }
        map.end()
    }

    /// Where a member stands among its siblings; equals are sorted by name.
    fn rank(&self, name: &str) -> usize {
        let position = match self.part {
            SchemaPart::Schema { .. } => KEYWORDS.iter().position(|keyword| *keyword == name),
            SchemaPart::Properties { declared: [], required } => {
                let required = required.and_then(Value::as_array);
                required.and_then(|names| names.iter().position(|required| required == name))
            }
            SchemaPart::Properties { declared, .. } => {
                declared.iter().position(|other| other == name)
            }
            SchemaPart::Data => None,
        };
        position.unwrap_or(usize::MAX)
    }

    /// What a member is.
    fn inside<'a>(&'a self, name: &str, siblings: &'a Map<String, Value>) -> SchemaPart<'a> {
        match self.part {
            SchemaPart::Schema { declared } => match name {
                "properties" => {
                    SchemaPart::Properties { declared, required: siblings.get("required") }
                }
                "patternProperties" | "$defs" | "dependentSchemas" => {
                    SchemaPart::Properties { declared: &[], required: None }
                }
                "default" | "const" | "enum" | "examples" => SchemaPart::Data,
                _ => SchemaPart::Schema { declared: &[] },
            },
            SchemaPart::Properties { .. } => SchemaPart::Schema { declared: &[] },
            SchemaPart::Data => SchemaPart::Data,
        }
    }
}
