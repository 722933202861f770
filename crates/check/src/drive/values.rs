//! Arguments that fit the schema of a tool.
//!
//! Candidates are made from the keywords that are simple to follow, and the first that the schema
//! accepts is taken. A tool whose schema accepts none of them is not called.

use std::iter::successors;

use bowline_json_schema::Validator;
use serde_json::{Map, Value, json};

/// How deep schemas are followed.
const DEPTH: usize = 8;
/// The most branches of a choice that are tried.
const BRANCHES: usize = 4;
/// The most items that a list is made of, and the most characters of a text.
const LONGEST: u64 = 1000;

/// Texts for patterns and formats. The host does not exist.
const TEXTS: &[&str] = &[
    "a",
    "A",
    "1",
    "aa-1",
    "2026-01-01",
    "2026-01-01T00:00:00Z",
    "00:00:00Z",
    "https://bowline.invalid/",
    "a@bowline.invalid",
    "00000000-0000-4000-8000-000000000000",
    "/",
    "0000000000000000000000000000000000000000",
];

/// An object that the schema accepts, as small as possible; `None` if none is found.
pub(super) fn fitting(schema: &Value) -> Option<Value> {
    let validator = Validator::compile(schema).ok()?;
    let styles = [false, true].into_iter();
    let mut styles = styles.flat_map(|is_full| (0..BRANCHES).map(move |branch| (is_full, branch)));
    styles.find_map(|(is_full, branch)| {
        let value = Maker { root: schema, is_full, branch }.value(schema, DEPTH)?;
        (value.is_object() && validator.check("arguments", &value).is_ok()).then_some(value)
    })
}

/// One way to make a value.
struct Maker<'a> {
    root: &'a Value,
    /// Whether objects get the members that are optional, too.
    is_full: bool,
    /// Which branch of each choice is taken.
    branch: usize,
}

impl Maker<'_> {
    fn value(&self, schema: &Value, depth: usize) -> Option<Value> {
        let depth = depth.checked_sub(1)?;
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            return self.value(self.root.pointer(target.strip_prefix('#')?)?, depth);
        }
        let named = ["const", "default"].iter().find_map(|name| schema.get(name));
        let first = ["enum", "examples"].iter().find_map(|name| schema.get(name)?.get(0));
        if let Some(value) = named.or(first) {
            return Some(value.clone());
        }
        let choice = ["anyOf", "oneOf"].iter().find_map(|name| schema.get(name)?.as_array());
        if let Some(branches) = choice.filter(|_| schema.get("properties").is_none()) {
            let last = branches.len().checked_sub(1)?;
            return self.value(&branches[self.branch.min(last)], depth);
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(schema, depth),
            "string" => text(schema),
            "integer" | "number" => number(schema),
            "boolean" => Some(json!(false)),
            _ => Some(Value::Null),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Option<Value> {
        let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
        let required: Vec<&str> = required.filter_map(Value::as_str).collect();
        let none = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let mut members = Map::new();
        for name in &required {
            let property = properties.get(*name).unwrap_or(&Value::Null);
            members.insert((*name).to_owned(), self.value(property, depth)?);
        }
        let optional = properties
            .iter()
            .filter(|(name, _)| self.is_full && !required.contains(&name.as_str()));
        for (name, property) in optional {
            members.extend(self.value(property, depth).map(|value| (name.clone(), value)));
        }
        Some(Value::Object(members))
    }

    fn array(&self, schema: &Value, depth: usize) -> Option<Value> {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0).min(LONGEST);
        let item = schema.get("items").unwrap_or(&Value::Null);
        let items = (0..least).map(|_| self.value(item, depth));
        Some(Value::Array(items.collect::<Option<_>>()?))
    }
}

fn kind(schema: &Value) -> &str {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str).unwrap_or_default(),
        Some(kind) => kind.as_str().unwrap_or_default(),
        None if schema.get("properties").is_some() => "object",
        None => "string",
    }
}

/// The first of the candidates that the schema accepts.
fn accepted(schema: &Value, mut candidates: impl Iterator<Item = Value>) -> Option<Value> {
    match Validator::compile(schema) {
        Ok(validator) => candidates.find(|value| validator.check("value", value).is_ok()),
        // A part may not be a schema of its own; the whole is judged at the end.
        Err(_) => candidates.next(),
    }
}

fn text(schema: &Value) -> Option<Value> {
    let of_format = match schema.get("format").and_then(Value::as_str) {
        Some("date") => Some("2026-01-01"),
        Some("date-time") => Some("2026-01-01T00:00:00Z"),
        Some("time") => Some("00:00:00Z"),
        Some("uri" | "url") => Some("https://bowline.invalid/"),
        Some("email") => Some("a@bowline.invalid"),
        Some("uuid") => Some("00000000-0000-4000-8000-000000000000"),
        _ => None,
    };
    let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(1).min(LONGEST);
    let long = "a".repeat(usize::try_from(least).unwrap_or(1));
    let texts = of_format.into_iter().chain(TEXTS.iter().copied()).map(str::to_owned);
    accepted(schema, texts.chain([long, String::new()]).map(Value::String))
}

fn number(schema: &Value) -> Option<Value> {
    let bounds = ["minimum", "maximum", "multipleOf", "exclusiveMinimum", "exclusiveMaximum"];
    let bounds = bounds.iter().filter_map(|name| schema.get(name)?.as_i64());
    let near = bounds.flat_map(|bound| {
        successors(Some(bound.saturating_sub(1)), move |it| {
            (*it <= bound).then(|| it.saturating_add(1))
        })
    });
    accepted(schema, [1, 0].into_iter().chain(near).map(|it| json!(it)).chain([json!(0.5)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_fit_the_keywords_that_servers_use() {
        let property =
            json!({"oneOf": [{"type": "integer", "minimum": 7, "maximum": 7.5}, {"type": "null"}]});
        let schema = json!({
            "type": "object",
            "required": ["list", "name", "when", "choice", "far", "inner"],
            "additionalProperties": false,
            "properties": {
                "list": {"type": "array", "minItems": 2, "items": {"$ref": "#/$defs/word"}},
                "name": {"type": "string", "pattern": "^[a-z]+-[0-9]$"},
                "when": {"type": "string", "format": "date", "minLength": 10},
                "choice": property,
                "far": {"type": "number", "exclusiveMinimum": 40},
                "inner": {"type": "object", "required": ["x"], "properties": {"x": {"enum": ["only"]}}},
                "unused": {"type": "string"},
            },
            "$defs": {"word": {"type": "string", "minLength": 3}},
        });
        let value = fitting(&schema).unwrap();
        let expected = json!({
            "list": ["aa-1", "aa-1"], "name": "aa-1", "when": "2026-01-01", "choice": 7, "far": 41,
            "inner": {"x": "only"},
        });
        assert_eq!(value, expected);
    }

    #[test]
    fn a_member_that_only_the_optional_ones_satisfy_is_made_of_them() {
        let schema =
            json!({"type": "object", "minProperties": 1, "properties": {"a": {"type": "boolean"}}});
        assert_eq!(fitting(&schema).unwrap(), json!({"a": false}));
    }

    #[test]
    fn a_schema_that_no_candidate_fits_gives_none() {
        for schema in [
            json!({"type": "object", "required": ["a"], "properties": {"a": {"pattern": "^never this$"}}}),
            json!({"type": "object", "required": ["a"], "properties": {"a": false}}),
            json!({"type": "string"}),
            json!({"type": "object", "$ref": "https://bowline.invalid/schema"}),
            Value::Null,
        ] {
            assert_eq!(fitting(&schema), None, "{schema}");
        }
    }
}
