//! The cost of hostile schemas and values.

use serde_json::{Value, json};

use super::{compile, refusal};
use crate::{SchemaLimits, Validator, Violations};

fn exceeds(schema: &Value, value: &Value) -> Violations {
    let violations = compile(schema).check("value", value).unwrap_err();
    assert!(violations.exceeds_limits(), "{violations}");
    violations
}

/// Puts a value into itself, again and again.
fn nested(depth: usize, wrap: impl Fn(Value) -> Value) -> Value {
    (0..depth).fold(json!(true), |inner, _| wrap(inner))
}

// spec: SCH-14
#[test]
fn a_schema_that_nests_too_deeply_is_refused() {
    assert!(Validator::compile(&nested(64, |inner| json!({"items": inner}))).is_ok());
    let error = refusal(&nested(65, |inner| json!({"items": inner})));
    assert!(error.exceeds_limits());
    assert_eq!(error.pointer(), "/items".repeat(65));
    assert!(refusal(&nested(1_000, |inner| json!({"not": inner}))).exceeds_limits());
}

// spec: SCH-14
#[test]
fn a_constant_that_nests_too_deeply_is_refused() {
    let deep = nested(65, |inner| json!([inner]));
    assert!(refusal(&json!({"const": deep})).exceeds_limits());
    assert!(refusal(&json!({"enum": [deep]})).exceeds_limits());
}

// spec: SCH-14
#[test]
fn a_schema_with_too_many_parts_is_refused() {
    let schema = json!({"allOf": vec![true; 10_000]});
    let error = refusal(&schema);
    assert!(error.exceeds_limits());
    assert!(error.to_string().contains("more than 10000 parts"));
    let bounds = SchemaLimits { nodes: 10_001, ..SchemaLimits::default() };
    assert!(Validator::compile_with(&schema, bounds).is_ok());
}

// spec: SCH-14
#[test]
fn references_that_double_at_every_level_end() {
    let mut definitions = json!({"d0": {"type": "string"}});
    for level in 1..60 {
        let below = json!({"$ref": format!("#/$defs/d{}", level - 1)});
        definitions[format!("d{level}")] = json!({"allOf": [below, below]});
    }
    let schema = json!({"$ref": "#/$defs/d59", "$defs": definitions});
    let violations = exceeds(&schema, &json!("a"));
    assert!(violations.to_string().contains("takes more than 1000000 steps"));
}

// spec: SCH-14
#[test]
fn a_value_that_nests_too_deeply_is_not_checked_to_the_end() {
    let schema = json!({"additionalProperties": {"$ref": "#"}});
    let deep = nested(100, |inner| json!({"a": inner}));
    assert!(compile(&schema).check("value", &deep).is_ok());
    let violations = exceeds(&schema, &nested(1_000, |inner| json!({"a": inner})));
    assert!(violations.to_string().contains("send a flatter value"));
}

// spec: SCH-14
#[test]
fn comparing_items_that_nest_too_deeply_is_refused() {
    let deep = nested(1_000, |inner| json!([inner]));
    exceeds(&json!({"uniqueItems": true}), &json!([deep, deep]));
}

// spec: SCH-14
#[test]
fn a_dynamic_circle_ends() {
    let schema = json!({"$dynamicAnchor": "a", "allOf": [{"$dynamicRef": "#a"}]});
    exceeds(&schema, &json!(1));
}

// spec: SCH-14
#[test]
fn a_long_chain_of_references_costs_no_stack() {
    let mut definitions = json!({"d0": {"type": "string"}});
    for level in 1..9_000 {
        let below = format!("#/$defs/d{}", level - 1);
        definitions[format!("d{level}")] = json!({"$ref": below});
    }
    let validator = compile(&json!({"$ref": "#/$defs/d8999", "$defs": definitions}));
    assert!(validator.check("value", &json!("a")).is_ok());
    assert!(!validator.check("value", &json!(1)).unwrap_err().exceeds_limits());
}

// spec: SCH-14
#[test]
fn expensive_patterns_and_long_texts_use_up_the_steps() {
    let text = json!("a".repeat(100_000));
    assert!(compile(&json!({"pattern": "^[a-z]+$"})).check("value", &text).is_ok());
    exceeds(&json!({"pattern": "(a|b){400}c"}), &text);
    exceeds(&json!({"patternProperties": {"(a|b){400}c": true}}), &json!({"a".repeat(100_000): 1}));
    exceeds(&json!({"allOf": vec![json!({"minLength": 1}); 5_000]}), &text);
}

// spec: SCH-14
#[test]
fn patterns_that_are_too_large_together_are_refused() {
    let patterns: Value = (0..100).map(|n| (format!("(a?){{1{n}}}"), json!(true))).collect();
    assert!(Validator::compile(&json!({"patternProperties": patterns})).is_ok());
    let patterns: Value = (0..100).map(|n| (format!("(a?){{1000}}{n}"), json!(true))).collect();
    assert!(refusal(&json!({"patternProperties": patterns})).exceeds_limits());
}

// spec: SCH-14
#[test]
fn large_constants_use_up_the_steps() {
    let large: Value = vec![0; 100_000].into();
    let schema = json!({
        "allOf": vec![json!({"$ref": "#/$defs/large"}); 1_000],
        "$defs": {"large": {"const": large}},
    });
    exceeds(&schema, &large);
}

// spec: SCH-14
#[test]
fn identifiers_that_grow_with_every_level_are_refused() {
    let schema = nested(60, |inner| json!({"$id": format!("{}/", "a".repeat(40)), "items": inner}));
    let error = refusal(&schema);
    assert!(error.exceeds_limits());
    assert!(error.pointer().ends_with("/items/$id"));
}

// spec: SCH-14
#[test]
fn marks_of_large_objects_use_up_the_steps() {
    let members: Value = (0..10_000).map(|index| (index.to_string(), json!(0))).collect();
    let schema = json!({"allOf": vec![json!({"unevaluatedItems": true}); 2_000]});
    exceeds(&schema, &members);
}

// spec: SCH-14
#[test]
fn the_number_of_violations_is_bounded() {
    let violations =
        compile(&json!({"items": false})).check("value", &json!(vec![0; 100])).unwrap_err();
    assert_eq!(violations.iter().count(), 16);
    assert!(violations.is_truncated());
    assert!(violations.to_string().ends_with("\nand more"));
}

// spec: SCH-14
#[test]
fn alternatives_within_alternatives_are_reported_in_bounded_text() {
    let mut schema = json!({"required": ["a"]});
    for name in ["b", "c", "d", "e", "f", "g"] {
        let other = json!({"required": [name]});
        schema = json!({"anyOf": [schema.clone(), other.clone(), schema, other]});
    }
    let violations = compile(&schema).check("value", &json!({})).unwrap_err();
    assert!(violations.to_string().len() < 1_000, "{violations}");
}
