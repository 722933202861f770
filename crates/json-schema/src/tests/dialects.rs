//! Which dialects are understood, and where draft-07 differs from 2020-12.

use serde_json::{Value, json};

use super::{accepts, compile, refusal};
use crate::{SchemaLimits, Validator};

const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";

/// The same schema, in draft-07.
fn draft_07(mut schema: Value) -> Value {
    schema["$schema"] = DRAFT_07.into();
    schema
}

// spec: SCH-1
#[test]
fn a_schema_without_dialect_is_2020_12() {
    let schema = json!({"prefixItems": [{"type": "string"}]});
    assert!(accepts(&schema, &json!(["a"])));
    assert!(!accepts(&schema, &json!([1])));
}

// spec: SCH-2, SCH-3
#[test]
fn a_dialect_is_known_by_every_spelling_of_its_uri() {
    let by_position = json!([{"type": "string"}]);
    for scheme in ["http", "https"] {
        for suffix in ["", "#"] {
            let newer = format!("{scheme}://json-schema.org/draft/2020-12/schema{suffix}");
            assert!(!accepts(&json!({"$schema": newer, "prefixItems": by_position}), &json!([1])));
            let older = format!("{scheme}://json-schema.org/draft-07/schema{suffix}");
            assert!(!accepts(&json!({"$schema": older, "items": by_position}), &json!([1])));
        }
    }
}

// spec: SCH-2, SCH-4
#[test]
fn another_dialect_is_refused_with_the_supported_ones() {
    for dialect in [
        "http://json-schema.org/draft-04/schema#",
        "http://json-schema.org/draft-06/schema#",
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/schema#",
        "json-schema.org/draft-07/schema",
        "https://example.com/my-dialect",
    ] {
        let error = refusal(&json!({"$schema": dialect, "type": "object"}));
        assert!(error.is_unsupported_dialect());
        assert_eq!(
            error.to_string(),
            format!(
                "schema at `#/$schema`: the dialect `{dialect}` is not supported: rewrite the \
                 schema for `https://json-schema.org/draft/2020-12/schema` or `{DRAFT_07}`, or \
                 remove `$schema` if it is written for the former already"
            )
        );
    }
}

// spec: SCH-4
#[test]
fn another_dialect_deep_inside_is_refused_too() {
    let inner = json!({"$id": "inner", "$schema": "https://json-schema.org/draft/2019-09/schema"});
    let error = refusal(&json!({"$defs": {"inner": inner}}));
    assert!(error.is_unsupported_dialect());
    assert_eq!(error.pointer(), "/$defs/inner/$schema");
}

// spec: SCH-4
#[test]
fn a_document_is_in_one_dialect_throughout() {
    let inner = json!({"$schema": DRAFT_07, "items": [{"type": "string"}]});
    let error = refusal(&json!({"properties": {"a": inner}}));
    assert!(error.is_unsupported_dialect());
    assert_eq!(error.pointer(), "/properties/a/$schema");
    assert!(error.to_string().contains("write all of it in one dialect"), "{error}");
    assert!(!accepts(&draft_07(json!({"properties": {"a": inner}})), &json!({"a": [1]})));
}

// spec: SCH-3
#[test]
fn what_a_generator_for_typescript_writes_is_checked() {
    let schema = json!({
        "$schema": DRAFT_07,
        "$ref": "#/definitions/Forecast",
        "definitions": {
            "Forecast": {
                "type": "object",
                "properties": {
                    "range": {
                        "type": "array",
                        "minItems": 2,
                        "maxItems": 2,
                        "items": [{"type": "integer", "exclusiveMinimum": 0}, {"type": "string"}],
                    },
                    "next": {"$ref": "#/definitions/Forecast"},
                },
                "required": ["range"],
                "additionalProperties": false,
            },
        },
    });
    let validator = compile(&schema);
    let right = json!({"range": [1, "day"], "next": {"range": [2, "days"]}});
    assert!(validator.check("value", &right).is_ok());
    let violations = validator
        .check("value", &json!({"range": [0, "day"], "next": {"range": [2, 3]}}))
        .unwrap_err();
    assert_eq!(
        violations.to_string(),
        "`value.next.range[1]`: expected a string, found the number 3\n\
         `value.range[0]`: expected more than 0, found 0",
    );
}

// spec: SCH-3
#[test]
fn in_draft_07_items_may_be_schemas_by_position() {
    let schema = draft_07(json!({"items": [true, true], "additionalItems": {"type": "null"}}));
    assert!(accepts(&schema, &json!([1, 2, null])));
    assert!(!accepts(&schema, &json!([1, 2, 3])));
    let schema = draft_07(json!({"items": {"type": "integer"}, "additionalItems": false}));
    assert!(accepts(&schema, &json!([1, 2])), "one schema leaves nothing to be additional");
    assert!(accepts(&draft_07(json!({"additionalItems": false})), &json!([1])));
    assert_eq!(refusal(&draft_07(json!({"items": []}))).pointer(), "/items");
    assert_eq!(refusal(&draft_07(json!({"items": [1]}))).pointer(), "/items/0");
}

// spec: SCH-3
#[test]
fn in_draft_07_dependencies_are_names_or_schemas() {
    let schema = draft_07(json!({
        "dependencies": {"a": ["b"], "c": {"maxProperties": 1}, "d": false},
    }));
    assert!(accepts(&schema, &json!({"a": 1, "b": 1})));
    for value in [json!({"a": 1}), json!({"c": 1, "b": 1}), json!({"d": 1})] {
        assert!(!accepts(&schema, &value), "{value}");
    }
    for (dependencies, pointer) in [
        (json!([]), "/dependencies"),
        (json!({"a": ["b", "b"]}), "/dependencies"),
        (json!({"a": 1}), "/dependencies/a"),
    ] {
        let error = refusal(&draft_07(json!({"dependencies": dependencies})));
        assert_eq!(error.pointer(), pointer);
    }
}

// spec: SCH-3
#[test]
fn in_draft_07_nothing_counts_beside_a_reference_but_definitions() {
    let schema = draft_07(json!({
        "definitions": {
            "a": {
                "$ref": "#b",
                "$id": "https://example.com/elsewhere",
                "type": "null",
                "maximum": "of the wrong kind",
                "properties": 3,
                "definitions": {"b": {"$id": "#b", "type": "integer"}},
            },
        },
        "properties": {"a": {"$ref": "#/definitions/a"}},
    }));
    assert!(accepts(&schema, &json!({"a": 1})));
    assert!(!accepts(&schema, &json!({"a": null})));
}

// spec: SCH-3
#[test]
fn in_draft_07_the_fragment_of_an_identifier_is_an_anchor() {
    let schema = draft_07(json!({
        "$id": "https://example.com/root",
        "items": [{"$ref": "#plain"}, {"$ref": "other#named:it"}, {"$ref": "other"}],
        "definitions": {
            "plain": {"$id": "#plain", "type": "integer"},
            "named": {"$id": "other#named:it", "type": "string"},
        },
    }));
    assert!(accepts(&schema, &json!([1, "a", "b"])));
    for value in [json!(["a"]), json!([1, 2]), json!([1, "a", 2])] {
        assert!(!accepts(&schema, &value), "{value}");
    }
    let twice = json!({"a": {"$id": "#x"}, "b": {"$id": "#x"}});
    assert_eq!(refusal(&draft_07(json!({"definitions": twice}))).pointer(), "/definitions/b/$id");
    assert_eq!(refusal(&draft_07(json!({"$id": 1}))).pointer(), "/$id");
}

#[test]
fn in_draft_07_an_identifier_that_is_a_pointer_names_nothing() {
    let named = json!({"$id": "#/properties/a", "type": "integer"});
    let schema = draft_07(json!({"properties": {"a": named, "b": named, "c": {"$id": "#"}}}));
    assert!(!accepts(&schema, &json!({"a": "1"})));
}

// spec: SCH-3
#[test]
fn draft_07_has_none_of_the_later_keywords() {
    for (keyword, content) in [
        ("$anchor", json!("1")),
        ("$dynamicAnchor", json!(1)),
        ("$dynamicRef", json!("#nowhere")),
        ("dependentRequired", json!({"a": ["b"]})),
        ("dependentSchemas", json!({"a": false})),
        ("prefixItems", json!([false])),
        ("unevaluatedItems", json!(false)),
        ("unevaluatedProperties", json!(false)),
        ("deprecated", json!("since yesterday")),
        ("contentSchema", json!(1)),
    ] {
        let validator = compile(&draft_07(json!({keyword: content})));
        for value in [json!({"a": 1}), json!([1])] {
            assert!(validator.check("value", &value).is_ok(), "{keyword}");
        }
    }
    let schema = draft_07(json!({"contains": {"const": 1}, "minContains": 0, "maxContains": 1}));
    assert!(accepts(&schema, &json!([1, 1])));
    assert!(!accepts(&schema, &json!([2])));
}

// spec: SCH-3
#[test]
fn in_2020_12_the_earlier_keywords_say_nothing() {
    for schema in [json!({"additionalItems": false}), json!({"dependencies": {"a": ["b"]}})] {
        assert!(accepts(&schema, &json!([1])));
        assert!(accepts(&schema, &json!({"a": 1})));
    }
}

// spec: SCH-3
#[test]
fn in_draft_07_formats_and_contents_are_annotations() {
    let schema = draft_07(json!({"format": "email", "contentEncoding": "base64"}));
    assert!(accepts(&schema, &json!("{")));
}

// spec: SCH-8, SCH-13
#[test]
fn in_draft_07_a_reference_out_of_the_document_is_not_fetched() {
    for reference in ["https://example.com/a.json", DRAFT_07] {
        let error = refusal(&draft_07(json!({"items": {"$ref": reference}})));
        assert!(error.is_external_reference());
        assert_eq!(error.pointer(), "/items/$ref");
        assert!(error.to_string().contains("`#/definitions/<name>`"), "{error}");
    }
}

// spec: SCH-14
#[test]
fn in_draft_07_schemas_are_held_to_the_same_bounds() {
    let deep = (0..65).fold(json!(true), |inner, _| json!({"items": [inner]}));
    assert!(refusal(&draft_07(json!({"items": [deep]}))).exceeds_limits());
    let deep = (0..65).fold(json!(true), |inner, _| json!({"dependencies": {"a": inner}}));
    assert!(refusal(&draft_07(json!({"not": deep}))).exceeds_limits());
    let wide = draft_07(json!({"items": vec![true; 10_000]}));
    assert!(refusal(&wide).exceeds_limits());
    let bounds = SchemaLimits { nodes: 10_001, ..SchemaLimits::default() };
    assert!(Validator::compile_with(&wide, bounds).is_ok());
    let long = json!({"$id": format!("{}#name", "a".repeat(3_000))});
    assert!(refusal(&draft_07(json!({"definitions": {"a": long}}))).exceeds_limits());
}

// spec: SCH-14
#[test]
fn in_draft_07_checks_are_held_to_the_same_bounds() {
    let mut definitions = json!({"d0": {"type": "string"}});
    for level in 1..60 {
        let below = json!({"$ref": format!("#/definitions/d{}", level - 1)});
        definitions[format!("d{level}")] = json!({"allOf": [below, below]});
    }
    let doubling = json!({"$ref": "#/definitions/d59", "definitions": definitions});
    let deep = (0..1_000).fold(json!(true), |inner, _| json!([inner]));
    let flat: Value = json!({"items": [{"$ref": "#"}]});
    for (schema, value) in [(doubling, json!("a")), (flat, deep)] {
        let violations = compile(&draft_07(schema)).check("value", &value).unwrap_err();
        assert!(violations.exceeds_limits(), "{violations}");
    }
}

// spec: SCH-14
#[test]
fn in_draft_07_a_circle_of_references_is_refused() {
    for schema in [
        json!({"$ref": "#", "type": "null"}),
        json!({"dependencies": {"a": {"$ref": "#"}}}),
        json!({"definitions": {"a": {"$id": "#a", "not": {"$ref": "#a"}}}}),
    ] {
        let error = refusal(&draft_07(schema));
        assert!(error.to_string().contains("without end"), "{error}");
    }
}
