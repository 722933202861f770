//! Schemas of the usual kind: types, properties, items and limits of numbers.
//!
//! Most tools have no others, so that what can be wrong with a schema, and whether it says more than
//! the Rust type that it was derived from, is seen in one look; compiling it can wait until there is
//! a value to check. Like the scanner of messages, this only ever accepts: where it is not certain it
//! gives `None`, and the schema is compiled at once. Both are held together by tests.

use serde_json::{Map, Value};

use super::compile::has_range_of_format;
use super::dialect::Dialect;
use super::node::Types;

/// Levels, subschemas and names of a usual schema: far fewer than a schema may have.
const DEPTH: usize = 8;
const NODES: usize = 256;
const NAMES: usize = 32;

/// Whether a usual schema asserts something beyond types.
pub(super) fn asserts_beyond_types(schema: &Value) -> Option<bool> {
    let members = schema.as_object()?;
    if members.get("$schema").is_some_and(|dialect| *dialect != Dialect::V2020_12.uri()) {
        return None;
    }
    look(members, DEPTH, &mut NODES.clone())
}

fn look(members: &Map<String, Value>, depth: usize, room: &mut usize) -> Option<bool> {
    *room = room.checked_sub(1)?;
    let within = depth.checked_sub(1)?;
    let mut asserts = false;
    for (keyword, value) in members {
        match keyword.as_str() {
            "$schema" if depth == DEPTH => {}
            "title" | "description" | "$comment" | "format" if value.is_string() => {}
            "default" => {}
            "deprecated" | "readOnly" | "writeOnly" if value.is_boolean() => {}
            "type" if is_type(value) => {}
            "required" if is_names(value) => {}
            "items" => asserts |= look(value.as_object()?, within, room)?,
            "properties" => {
                for schema in value.as_object()?.values() {
                    asserts |= look(schema.as_object()?, within, room)?;
                }
            }
            "minimum" | "maximum" if value.is_number() => asserts |= !has_range_of_format(members),
            _ => return None,
        }
    }
    Some(asserts)
}

fn is_type(value: &Value) -> bool {
    let is_one = |name: &Value| name.as_str().and_then(Types::named).is_some();
    match value {
        Value::Array(types) => !types.is_empty() && is_names(value) && types.iter().all(is_one),
        _ => is_one(value),
    }
}

/// Whether it is a short list of names, each of which stands there once.
fn is_names(value: &Value) -> bool {
    let Some(names) = value.as_array() else { return false };
    let is_new = |(at, name): (usize, &Value)| {
        name.is_string() && !names.iter().take(at).any(|other| other == name)
    };
    names.len() <= NAMES && names.iter().enumerate().all(is_new)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::super::{Bounds, compile};
    use super::*;

    #[test]
    fn what_tools_usually_take_is_usual() {
        let limits = json!({"type": "number", "format": "double", "minimum": 0.0, "maximum": 3600});
        let byte = json!({"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255});
        let object = |property: &Value| {
            json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "title": "Arguments",
                "type": "object",
                "properties": {"it": property, "list": {"type": "array", "items": property}},
                "required": ["it"],
            })
        };
        assert_eq!(asserts_beyond_types(&object(&limits)), Some(true));
        assert_eq!(asserts_beyond_types(&object(&byte)), Some(false));
        assert_eq!(asserts_beyond_types(&json!({"type": ["string", "null"]})), Some(false));
    }

    #[test]
    fn what_is_not_certain_is_compiled() {
        let deep = |depth| (0..depth).fold(json!({}), |inner, _| json!({"items": inner}));
        assert_eq!(asserts_beyond_types(&deep(7)), Some(false));
        let names: Vec<_> = (0..40).map(|number| number.to_string()).collect();
        for schema in [
            json!(true),
            json!({"type": "int"}),
            json!({"type": []}),
            json!({"type": ["string", "string"]}),
            json!({"required": ["a", "a"]}),
            json!({"required": names}),
            json!({"minimum": "1"}),
            json!({"title": 1}),
            json!({"items": true}),
            json!({"properties": {"a": {"$schema": Dialect::V2020_12.uri()}}}),
            json!({"$schema": Dialect::Draft07.uri()}),
            json!({"enum": ["a"]}),
            json!({"$ref": "#"}),
            deep(8),
        ] {
            assert_eq!(asserts_beyond_types(&schema), None, "{schema}");
        }
    }

    /// Something that is a schema, or nearly one.
    fn schema() -> impl Strategy<Value = Value> {
        let word = prop_oneof![
            Just(json!("string")),
            Just(json!("integer")),
            Just(json!("uint8")),
            Just(json!(["string", "null"])),
            Just(json!(["a", "b"])),
            Just(json!(["a", "a"])),
            Just(json!(0)),
            Just(json!(255)),
            Just(json!(-1.5)),
            Just(json!(true)),
            Just(json!(null)),
            Just(json!(Dialect::V2020_12.uri())),
        ];
        let keyword = proptest::sample::select(vec![
            "type",
            "format",
            "minimum",
            "maximum",
            "required",
            "title",
            "default",
            "deprecated",
            "items",
            "properties",
            "$schema",
            "enum",
            "$id",
            "pattern",
            "maxLength",
        ]);
        word.prop_recursive(4, 24, 4, move |inner| {
            proptest::collection::hash_map(keyword.clone(), inner, 0..5)
                .prop_map(|members| json!(members))
        })
    }

    proptest! {
        /// Whatever is taken for usual compiles, and asserts what it was taken to assert.
        #[test]
        fn both_looks_agree(schema in schema()) {
            if let Some(asserts) = asserts_beyond_types(&schema) {
                let compiled = compile::compile(&schema, Bounds::default());
                prop_assert_eq!(compiled.map(|it| it.asserts_beyond_types), Ok(asserts));
            }
        }
    }
}
