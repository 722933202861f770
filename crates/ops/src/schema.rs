//! The parameters of a tool, as far as the command line needs them.
//!
//! A schema may say much more. What is not understood here counts as any type, and the server
//! checks it. `fields`: all that a user reads about a schema.

pub mod fields;

use std::fmt;

use bowline_types::json::{RawJson, Schema};
use bowline_types::tool::ToolDefinition;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// How many references and alternatives are followed.
const DEEPEST: usize = 8;

/// The parameters of a tool.
#[derive(Debug, Default)]
pub struct ToolParameters {
    /// Those that the schema names.
    pub all: Vec<Parameter>,
    /// Whether the tool takes others too.
    pub is_open: bool,
}

/// One parameter.
#[derive(Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// The types that it may have.
    pub types: Types,
    /// Whether a call must have it.
    pub is_required: bool,
    /// The types of the elements, if it is an array.
    pub items: Types,
    /// The values that it may have, if the schema lists them.
    pub values: Option<Vec<RawJson>>,
    /// The same of the elements.
    pub item_values: Option<Vec<RawJson>>,
}

/// The types that a value may have; any if empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Types(pub Vec<JsonType>);

/// A type of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonType {
    /// `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// Any number.
    Number,
    /// A list.
    Array,
    /// Members with names.
    Object,
    /// Text.
    String,
}

impl Parameter {
    /// Whether it is an array and nothing that a plain word could be.
    pub fn is_array(&self) -> bool {
        let mut types = self.types.0.iter();
        self.types.0.contains(&JsonType::Array)
            && types.all(|it| matches!(it, JsonType::Array | JsonType::Null))
    }
}

impl ToolParameters {
    /// Reads the parameters of a tool.
    pub fn of(schema: &Schema) -> Self {
        let Ok(root) = schema.parse::<Node>() else { return Self::default() };
        let required = root.required.clone().unwrap_or_default();
        let parameter = |(name, json): &(String, RawJson)| {
            let node: Node = json.parse().unwrap_or_default();
            let items: Option<Node> = node.items.as_ref().and_then(|items| items.parse().ok());
            Parameter {
                name: name.clone(),
                types: types(&node, schema, DEEPEST),
                is_required: required.contains(name),
                values: fields::values(&node, schema, DEEPEST),
                items: items.as_ref().map(|it| types(it, schema, DEEPEST)).unwrap_or_default(),
                item_values: items.and_then(|it| fields::values(&it, schema, DEEPEST)),
            }
        };
        let all = root.properties.as_ref().map(|it| it.0.iter().map(parameter).collect());
        let is_closed = root.additional_properties.is_some_and(|it| it.as_str() == "false");
        Self { all: all.unwrap_or_default(), is_open: !is_closed }
    }

    /// The parameters of a tool whose schema is not known: any.
    pub fn any() -> Self {
        Self { all: Vec::new(), is_open: true }
    }

    /// The parameter with this name.
    pub fn named(&self, name: &str) -> Option<&Parameter> {
        self.all.iter().find(|parameter| parameter.name == name)
    }
}

/// The name of a tool with its parameters, as in `add(a: integer, b?: integer)`.
pub fn signature(tool: &ToolDefinition) -> String {
    let parameters = ToolParameters::of(&tool.input_schema);
    let shown = parameters.all.iter().map(|parameter| {
        let mark = if parameter.is_required { "" } else { "?" };
        format!("{}{mark}: {}", parameter.name, parameter.types)
    });
    format!("{}({})", tool.name, shown.collect::<Vec<_>>().join(", "))
}

impl fmt::Display for Types {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return f.write_str("any");
        }
        let names: Vec<&str> = self.0.iter().map(|it| it.name()).collect();
        f.write_str(&names.join(" | "))
    }
}

impl JsonType {
    const ALL: [Self; 7] = [
        Self::Null,
        Self::Boolean,
        Self::Integer,
        Self::Number,
        Self::Array,
        Self::Object,
        Self::String,
    ];

    /// The word for it in a schema.
    pub fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Array => "array",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    /// The type of a value.
    fn of(json: &RawJson) -> Self {
        match json.as_str().trim_start().bytes().next() {
            Some(b'n') => Self::Null,
            Some(b't' | b'f') => Self::Boolean,
            Some(b'[') => Self::Array,
            Some(b'{') => Self::Object,
            Some(b'"') => Self::String,
            _ => Self::Number,
        }
    }
}

/// The keywords of a schema that are read here.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Node {
    r#type: Option<RawJson>,
    properties: Option<JsonMembers>,
    required: Option<Vec<String>>,
    additional_properties: Option<RawJson>,
    items: Option<RawJson>,
    title: Option<String>,
    description: Option<String>,
    default: Option<RawJson>,
    format: Option<String>,
    pattern: Option<String>,
    minimum: Option<RawJson>,
    maximum: Option<RawJson>,
    exclusive_minimum: Option<RawJson>,
    exclusive_maximum: Option<RawJson>,
    min_length: Option<RawJson>,
    max_length: Option<RawJson>,
    min_items: Option<RawJson>,
    max_items: Option<RawJson>,
    r#enum: Option<Vec<RawJson>>,
    r#const: Option<RawJson>,
    any_of: Option<Vec<RawJson>>,
    one_of: Option<Vec<RawJson>>,
    #[serde(rename = "$ref")]
    reference: Option<String>,
    #[serde(rename = "$defs")]
    defs: Option<JsonMembers>,
    definitions: Option<JsonMembers>,
}

/// The types that a schema allows.
fn types(node: &Node, root: &Schema, depth: usize) -> Types {
    let mut found = Vec::new();
    if let Some(named) = &node.r#type {
        let names = named.parse::<Vec<String>>().or_else(|_| named.parse().map(|name| vec![name]));
        let names = names.unwrap_or_default();
        found.extend(JsonType::ALL.into_iter().filter(|it| names.iter().any(|n| n == it.name())));
        return Types(found);
    }
    let values = node.r#enum.iter().flatten().chain(&node.r#const);
    found.extend(values.map(JsonType::of));
    for schema in alternatives(node, root).filter(|_| depth > 0) {
        let of_one = types(&schema, root, depth - 1);
        if of_one.0.is_empty() {
            return Types::default();
        }
        found.extend(of_one.0);
    }
    Types(JsonType::ALL.into_iter().filter(|it| found.contains(it)).collect())
}

/// The schemas of which a value must fit one: alternatives, or what a reference leads to.
fn alternatives(node: &Node, root: &Schema) -> impl Iterator<Item = Node> {
    let listed = node.any_of.iter().chain(&node.one_of).flatten().cloned();
    let referred = node.reference.as_deref().and_then(|reference| lookup(reference, root));
    listed.chain(referred).map(|json| json.parse().unwrap_or_default())
}

/// Follows `#/$defs/NAME` and `#/definitions/NAME`.
fn lookup(reference: &str, root: &Schema) -> Option<RawJson> {
    let root: Node = root.parse().ok()?;
    let (place, name) = reference.strip_prefix("#/")?.split_once('/')?;
    let members = match place {
        "$defs" => root.defs,
        "definitions" => root.definitions,
        _ => None,
    };
    members?.0.into_iter().find(|(there, _)| there == name).map(|(_, json)| json)
}

/// The members of an object, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JsonMembers(pub Vec<(String, RawJson)>);

impl JsonMembers {
    /// Replaces the member of this name in its place, or adds one at the end.
    pub fn set(&mut self, name: &str, value: RawJson) {
        match self.0.iter_mut().find(|(there, _)| there == name) {
            Some((_, place)) => *place = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }
}

impl Serialize for JsonMembers {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, value)| (name, value)))
    }
}

impl<'de> Deserialize<'de> for JsonMembers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = JsonMembers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonMembers, A::Error> {
                let mut members = JsonMembers::default();
                while let Some((name, value)) = map.next_entry::<String, RawJson>()? {
                    members.set(&name, value);
                }
                Ok(members)
            }

            fn visit_bool<E>(self, _: bool) -> Result<JsonMembers, E> {
                Ok(JsonMembers::default())
            }
        }

        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(properties: &str) -> String {
        let text = format!(
            r##"{{"type":"object","properties":{properties},"required":["a"],
                "$defs":{{"Size":{{"enum":["small","large"]}}}}}}"##
        );
        let schema = Schema::new(RawJson::from_text(text).unwrap()).unwrap();
        signature(&ToolDefinition::new("t", schema))
    }

    #[test]
    fn a_signature_names_parameters_in_order_with_their_types() {
        assert_eq!(
            shown(r#"{"b":{"type":"integer"},"a":{"type":"string"}}"#),
            "t(b?: integer, a: string)"
        );
        assert_eq!(shown(r##"{"a":{"$ref":"#/$defs/Size"}}"##), "t(a: string)");
        let union = r##"{"a":{"anyOf":[{"$ref":"#/$defs/Size"},{"type":"null"}]}}"##;
        assert_eq!(shown(union), "t(a: null | string)");
        assert_eq!(
            shown(r#"{"a":{"type":["number","null"]},"c":{},"d":true}"#),
            "t(a: null | number, c?: any, d?: any)"
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let text =
            r##"{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"$ref":"#/$defs/A"}}}"##;
        let schema = Schema::new(RawJson::from_text(text).unwrap()).unwrap();
        assert_eq!(ToolParameters::of(&schema).all[0].types, Types::default());
    }
}
