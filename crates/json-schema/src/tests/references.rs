//! References, identifiers and anchors.

use serde_json::json;

use super::{accepts, refusal};

// spec: SCH-8, SCH-13
#[test]
fn a_reference_out_of_the_document_is_refused_and_not_fetched() {
    let cases = [
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"$ref": "other.json#/a"}),
        json!({"$ref": "https://json-schema.org/draft/2020-12/schema"}),
        json!({"$dynamicRef": "https://example.com/schema.json#node"}),
        json!({"$id": "https://example.com/a", "$ref": "b"}),
    ];
    for schema in cases {
        let error = refusal(&schema);
        assert!(error.is_external_reference(), "{schema}");
        assert!(error.to_string().contains("nothing is fetched"), "{error}");
    }
}

// spec: SCH-13
#[test]
fn a_reference_that_leads_nowhere_is_refused() {
    for reference in ["#/$defs/a", "#a", "#/%zz", "#/items/0", "#/enum/00"] {
        let error = refusal(&json!({"$ref": reference, "enum": [true]}));
        assert_eq!(error.pointer(), "/$ref", "{reference}");
        assert!(!error.is_external_reference());
    }
}

#[test]
fn pointers_reach_legacy_definitions_and_escaped_names() {
    let schema = json!({
        "properties": {
            "a": {"$ref": "#/definitions/x"},
            "b": {"$ref": "#/$defs/with~1slash%25"},
            "c": {"$ref": "#/components/schemas/d"},
        },
        "definitions": {"x": {"type": "null"}},
        "$defs": {"with/slash%": {"type": "null"}},
        "components": {"schemas": {"d": {"properties": {"e": {"type": "null"}}}}},
    });
    assert!(accepts(&schema, &json!({"a": null, "b": null, "c": {"e": null}})));
    for name in ["a", "b"] {
        assert!(!accepts(&schema, &json!({name: 1})), "{name}");
    }
    assert!(!accepts(&schema, &json!({"c": {"e": 1}})));
}

#[test]
fn what_a_pointer_finds_must_be_a_schema() {
    let error = refusal(&json!({"$ref": "#/x/0", "x": ["text"]}));
    assert_eq!(error.pointer(), "/x/0");
}

#[test]
fn relative_identifiers_resolve_inside_the_document() {
    let schema = json!({
        "$id": "https://example.com/root/main.json",
        "properties": {"a": {"$ref": "parts/item.json#size"}},
        "$defs": {
            "item": {"$id": "parts/item.json", "$defs": {"size": {"$anchor": "size", "type": "integer"}}},
        },
    });
    assert!(accepts(&schema, &json!({"a": 1})));
    assert!(!accepts(&schema, &json!({"a": "1"})));
}

#[test]
fn identifiers_and_anchors_are_declared_once() {
    let error = refusal(&json!({"$defs": {"a": {"$id": "x"}, "b": {"$id": "x"}}}));
    assert_eq!(error.pointer(), "/$defs/b/$id");
    let error = refusal(&json!({"$defs": {"a": {"$anchor": "x"}, "b": {"$dynamicAnchor": "x"}}}));
    assert_eq!(error.pointer(), "/$defs/b/$dynamicAnchor");
}

#[test]
fn a_recursive_schema_follows_its_value() {
    let schema = json!({
        "properties": {"next": {"$ref": "#"}, "value": {"type": "integer"}},
        "additionalProperties": false,
    });
    assert!(accepts(&schema, &json!({"next": {"next": {"value": 1}}})));
    assert!(!accepts(&schema, &json!({"next": {"next": {"values": 1}}})));
}

#[test]
fn a_dynamic_reference_is_extended_from_outside() {
    let schema = json!({
        "$id": "https://example.com/strict",
        "$dynamicAnchor": "node",
        "$ref": "tree",
        "unevaluatedProperties": false,
        "$defs": {
            "tree": {
                "$id": "tree",
                "$dynamicAnchor": "node",
                "properties": {"children": {"items": {"$dynamicRef": "#node"}}},
            },
        },
    });
    assert!(accepts(&schema, &json!({"children": [{"children": []}]})));
    assert!(!accepts(&schema, &json!({"children": [{"child": []}]})));
}

// spec: SCH-14
#[test]
fn a_circle_of_references_is_refused() {
    let cases = [
        json!({"$ref": "#"}),
        json!({"anyOf": [{"type": "null"}, {"$ref": "#"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}}),
        json!({"dependentSchemas": {"a": {"not": {"$ref": "#"}}}}),
        json!({"if": true, "then": {"$ref": "#"}}),
    ];
    for schema in cases {
        let error = refusal(&schema);
        assert!(error.to_string().contains("without end"), "{schema}: {error}");
    }
}
