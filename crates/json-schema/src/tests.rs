//! Tests of the validator as its users see it; the official suite is in `tests/official_suite`.

use serde_json::{Value, json};

use crate::{SchemaError, Validator};

mod bounds;
mod dialects;
mod messages;
mod references;

fn compile(schema: &Value) -> Validator {
    Validator::compile(schema).unwrap()
}

fn refusal(schema: &Value) -> SchemaError {
    Validator::compile(schema).unwrap_err()
}

fn accepts(schema: &Value, value: &Value) -> bool {
    compile(schema).check("value", value).is_ok()
}

// spec: SCH-6
#[test]
fn keywords_of_the_wrong_kind_are_refused_where_they_are() {
    let cases = [
        (json!({"type": "strin"}), "/type"),
        (json!({"type": []}), "/type"),
        (json!({"minimum": "1"}), "/minimum"),
        (json!({"multipleOf": 0}), "/multipleOf"),
        (json!({"minLength": -1}), "/minLength"),
        (json!({"minItems": 1.5}), "/minItems"),
        (json!({"required": [1]}), "/required"),
        (json!({"required": ["a", "a"]}), "/required"),
        (json!({"properties": []}), "/properties"),
        (json!({"properties": {"a/b": {"items": 3}}}), "/properties/a~1b/items"),
        (json!({"items": [{}]}), "/items"),
        (json!({"allOf": []}), "/allOf"),
        (json!({"anyOf": [true, 7]}), "/anyOf/1"),
        (json!({"uniqueItems": 1}), "/uniqueItems"),
        (json!({"title": 1}), "/title"),
        (json!({"$id": "a#b"}), "/$id"),
        (json!({"$anchor": "1a"}), "/$anchor"),
        (json!({"$ref": 1}), "/$ref"),
        (json!(null), ""),
    ];
    for (schema, pointer) in cases {
        assert_eq!(refusal(&schema).pointer(), pointer, "{schema}");
    }
}

// spec: SCH-6
#[test]
fn a_refusal_says_what_would_be_right() {
    let error = refusal(&json!({"properties": {"age": {"type": "int"}}}));
    assert_eq!(
        error.to_string(),
        "schema at `#/properties/age/type`: expected one of the types string, number, integer, \
         boolean, object, array, null, or an array of them"
    );
}

// spec: SCH-6
#[test]
fn a_pattern_that_cannot_run_is_refused_where_it_is() {
    let error = refusal(&json!({"properties": {"a": {"pattern": "^(?!x)"}}}));
    assert_eq!(error.pointer(), "/properties/a/pattern");
    assert!(error.to_string().contains("lookaround"));
    let error = refusal(&json!({"patternProperties": {"(": true}}));
    assert_eq!(error.pointer(), "/patternProperties");
}

// spec: SCH-3
#[test]
fn formats_and_contents_are_annotations() {
    let schema = json!({"format": "email", "contentMediaType": "application/json"});
    assert!(accepts(&schema, &json!("{")));
}

// spec: SCH-3
#[test]
fn unknown_keywords_are_ignored() {
    assert!(accepts(&json!({"x-order": ["a"], "discriminator": 3}), &json!({})));
}

#[test]
fn lengths_count_characters_not_bytes() {
    let schema = json!({"minLength": 2, "maxLength": 2});
    assert!(accepts(&schema, &json!("é🐲")));
    assert!(!accepts(&schema, &json!("🐲")));
}

#[test]
fn numbers_are_compared_exactly() {
    let schema = json!({"maximum": 9_007_199_254_740_992_u64});
    assert!(accepts(&schema, &json!(9_007_199_254_740_992_u64)));
    assert!(!accepts(&schema, &json!(9_007_199_254_740_993_u64)));
    assert!(accepts(&json!({"type": "integer"}), &json!(3.0)));
}

#[test]
fn a_validator_may_be_shared_between_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&compile(&json!(true)));
}

#[test]
fn a_schema_of_shapes_only_asserts_nothing_beyond_types() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "format": "uri", "description": "where"},
            "count": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255},
            "tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}},
            "more": {"type": "object", "additionalProperties": {"type": "number"}},
            "maybe": {"anyOf": [{"$ref": "#/$defs/tag"}, {"type": "null"}]},
        },
        "required": ["name"],
        "$defs": {"tag": {"type": ["string", "null"]}},
    });
    assert!(!compile(&schema).asserts_beyond_types());
}

#[test]
fn everything_else_asserts_something_beyond_types() {
    let cases = [
        json!({"minimum": 0}),
        json!({"type": "integer", "format": "uint8", "minimum": 1}),
        json!({"type": "integer", "format": "uint32", "minimum": 0, "maximum": 9}),
        json!({"type": "integer", "format": "uint32", "minimum": 0, "multipleOf": 2}),
        json!({"properties": {"a": {"items": {"maxLength": 3}}}}),
        json!({"enum": ["a"]}),
        json!({"additionalProperties": false}),
        json!({"oneOf": [true]}),
        json!({"uniqueItems": true}),
        json!({"unevaluatedProperties": false}),
        json!({"patternProperties": {"a": true}}),
    ];
    for schema in cases {
        assert!(compile(&schema).asserts_beyond_types(), "{schema}");
    }
}
