//! Recognises simple schemas: types, properties, items and limits of numbers.
//!
//! Most schemas that are derived from Rust types are simple. One look at such a schema shows that it is valid, and
//! whether it asserts more than the Rust type that it was derived from; so it is compiled only when
//! a value has to be checked. This module gives a result only where
//! it is certain. For any other schema it gives `None`, and the schema is compiled at once. Tests
//! compare it with the compiler.

use serde_json::{Map, Value};

use crate::compile::has_range_of_format;
use crate::dialect::Dialect;
use crate::node::Types;

/// The most levels, subschemas and names of a simple schema: far fewer than a schema may have.
const DEPTH: usize = 8;
const NODES: usize = 256;
const NAMES: usize = 32;

/// Whether a simple schema asserts something beyond types. `None` if it is not simple.
pub(crate) fn asserts_beyond_types(schema: &Value) -> Option<bool> {
    let members = schema.as_object()?;
    if members.get("$schema").is_some_and(|dialect| *dialect != Dialect::V2020_12.uri()) {
        return None;
    }
    look(members, DEPTH, &mut NODES.clone())
}

/// Whether a schema and its subschemas assert something beyond types; `None` if one is not simple.
/// Each arm must be certain that the compiler would accept the keyword; what it does not list is
/// not simple.
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

/// Whether the value is a short list of names without duplicates.
fn is_names(value: &Value) -> bool {
    let Some(names) = value.as_array() else { return false };
    let is_new = |(at, name): (usize, &Value)| {
        name.is_string() && !names.iter().take(at).any(|other| other == name)
    };
    names.len() <= NAMES && names.iter().enumerate().all(is_new)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use proptest::prelude::*;
    use proptest::test_runner::{Config, RngSeed, TestRunner};
    use serde_json::json;

    use super::*;
    use crate::SchemaLimits;
    use crate::compile;

    #[test]
    fn what_tools_usually_take_is_simple() {
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

    /// Every place that a bound can have, each with the bound there and nowhere else.
    #[test]
    fn a_bound_is_seen_wherever_it_stands() {
        let (bound, free) = (json!({"minimum": 1}), json!({"type": "integer"}));
        let implied = json!({"format": "uint8", "minimum": 0, "maximum": 255});
        let chosen = |is_here: bool| if is_here { &bound } else { &free };
        let mut schemas = vec![
            json!({"items": bound}),
            json!({"items": {"items": bound}}),
            json!({"items": {"properties": {"a": bound, "b": free}}}),
            json!({"properties": {"a": {"items": bound}, "b": implied}}),
            // The other keywords of the same schema assert nothing by themselves.
            json!({"items": bound, "properties": {"a": free}, "type": "array"}),
            json!({"items": bound, "properties": {}}),
            json!({"items": bound, "format": "uint8", "minimum": 0}),
            json!({"properties": {"a": bound}, "items": free}),
            json!({"properties": {"a": bound}, "format": "uint8", "minimum": 0}),
            json!({"minimum": 1, "properties": {"a": free}, "items": free}),
        ];
        schemas.extend((0..3).map(|place| {
            json!({"properties": {
                "a": chosen(place == 0), "b": chosen(place == 1), "c": chosen(place == 2),
            }})
        }));
        for schema in schemas {
            assert_eq!(asserts_beyond_types(&schema), Some(true), "{schema}");
            let compiled = compile::compile(&schema, SchemaLimits::default()).unwrap();
            assert!(compiled.asserts_beyond_types, "{schema}");
        }
        let everywhere = json!({"items": implied, "properties": {"a": implied, "b": free}});
        assert_eq!(asserts_beyond_types(&everywhere), Some(false));
    }

    /// A simple schema, in which a few keywords may have any value.
    fn schema() -> impl Strategy<Value = Value> {
        let leaf = keywords(proptest::collection::vec(plain(), 0..3));
        leaf.prop_recursive(3, 16, 3, |inner| {
            let named = proptest::sample::subsequence(vec!["a", "b", "c"], 0..4);
            let properties = (named, proptest::collection::vec(inner.clone(), 3))
                .prop_map(|(names, schemas)| names.into_iter().zip(schemas).collect::<Value>());
            let keyword = prop_oneof![
                4 => plain(),
                2 => properties.prop_map(|properties| ("properties", properties)),
                1 => inner.prop_map(|items| ("items", items)),
            ];
            keywords(proptest::collection::vec(keyword, 1..4))
        })
    }

    /// A keyword without subschemas, nearly always with a value that is allowed.
    fn plain() -> impl Strategy<Value = (&'static str, Value)> {
        let fitting = |keyword: &'static str, values: Vec<Value>| {
            proptest::sample::select(values).prop_map(move |value| (keyword, value))
        };
        let ranges = vec![json!({"format": "uint8", "minimum": 0, "maximum": 255})];
        prop_oneof![
            12 => fitting("type", vec![json!("integer"), json!("object"), json!(["string", "null"])]),
            8 => fitting("title", vec![json!("A title")]),
            8 => fitting("required", vec![json!([]), json!(["a", "b"])]),
            6 => fitting("range", ranges),
            4 => fitting("format", vec![json!("uint8"), json!("uint"), json!("double")]),
            8 => fitting("minimum", vec![json!(0), json!(-1.5)]),
            6 => fitting("maximum", vec![json!(255)]),
            2 => fitting("deprecated", vec![json!(true)]),
            4 => anything(),
        ]
    }

    /// A keyword with a value that is not allowed, or one that no simple schema has.
    fn anything() -> impl Strategy<Value = (&'static str, Value)> {
        let keyword = proptest::sample::select(vec![
            "type",
            "format",
            "minimum",
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
        let value = proptest::sample::select(vec![
            json!("int"),
            json!(["a", "a"]),
            json!(["a", "b"]),
            json!(7),
            json!(null),
            json!({}),
            json!({"minimum": "1"}),
            json!(Dialect::V2020_12.uri()),
        ]);
        (keyword, value)
    }

    /// A schema of these keywords, the last of each name; `range` is replaced by its members.
    fn keywords(
        entries: impl Strategy<Value = Vec<(&'static str, Value)>>,
    ) -> impl Strategy<Value = Value> {
        entries.prop_map(|entries| {
            let mut schema = Map::new();
            for (keyword, value) in entries {
                match value {
                    Value::Object(members) if keyword == "range" => schema.extend(members),
                    value => drop(schema.insert(keyword.to_owned(), value)),
                }
            }
            schema.into()
        })
    }

    /// Every schema that is recognised as simple compiles, and asserts what was reported.
    #[test]
    fn both_looks_agree() {
        const CASES: u32 = 1024;
        let config = Config {
            cases: CASES,
            rng_seed: RngSeed::Fixed(202_012),
            failure_persistence: None,
            ..Config::default()
        };
        let (asserting, silent) = (Cell::new(0), Cell::new(0));
        let verdict = TestRunner::new(config).run(&schema(), |schema| {
            let Some(asserts) = asserts_beyond_types(&schema) else { return Ok(()) };
            let compiled = compile::compile(&schema, SchemaLimits::default());
            prop_assert_eq!(compiled.map(|it| it.asserts_beyond_types), Ok(asserts));
            let count = if asserts { &asserting } else { &silent };
            count.set(count.get() + 1);
            Ok(())
        });
        verdict.unwrap();
        let (asserting, silent) = (asserting.get(), silent.get());
        let other = CASES - asserting - silent;
        let fewest = asserting.min(silent).min(other);
        assert!(fewest >= CASES / 8, "{asserting} with bounds, {silent} without, {other} other");
    }
}
