//! Random schemas and values, judged by our validator and by the `jsonschema` crate.
//!
//! The official suite tests what its authors thought of; this tests the combinations that nobody
//! thought of. Names, values and limits come from a small stock, so that they meet.

use bowline_proto::schema::{Bounds, Validator};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, RngSeed};
use serde_json::{Map, Value, json};

proptest! {
    #![proptest_config(Config {
        cases: 512,
        rng_seed: RngSeed::Fixed(202_012),
        failure_persistence: None,
        ..Config::default()
    })]

    // spec: SCH-1, SCH-3
    #[test]
    fn both_validators_give_the_same_verdict(schema in document(), values in vec(value(), 8)) {
        let ours = match Validator::compile(&schema) {
            Ok(ours) => ours,
            // The other validator does not look for circles, so it has no opinion.
            Err(error) => {
                prop_assert!(error.to_string().contains("without end"), "{error}: {schema}");
                return Ok(());
            }
        };
        let theirs = jsonschema::draft202012::new(&schema).unwrap();
        for value in values {
            let verdict = ours.check("value", &value);
            prop_assert_eq!(verdict.is_ok(), theirs.is_valid(&value), "{} {} {:?}", schema, value, verdict);
            if let Err(violations) = verdict {
                prop_assert!(!violations.exceeds_bounds());
                prop_assert!(violations.iter().next().is_some(), "{schema} {value}");
            }
        }
    }

    // spec: SCH-6
    #[test]
    fn what_the_meta_schema_refuses_is_refused(schema in anything_as_schema()) {
        let is_valid = jsonschema::draft202012::meta::is_valid(&schema);
        prop_assert_eq!(Validator::compile(&schema).is_ok(), is_valid, "{} {:?}", schema, Validator::compile(&schema));
    }

    // spec: SCH-14
    #[test]
    fn tight_bounds_stop_a_check_but_never_turn_its_verdict(
        schema in document(),
        value in value(),
        nesting in 1..12_usize,
        steps in 1..200_usize,
    ) {
        let mut bounds = Bounds::default();
        (bounds.nesting, bounds.steps) = (nesting, steps);
        let (Ok(free), Ok(bounded)) = (Validator::compile(&schema), Validator::compile_with(&schema, bounds)) else {
            return Ok(());
        };
        match bounded.check("value", &value) {
            Ok(()) => prop_assert!(free.check("value", &value).is_ok()),
            Err(violations) if violations.exceeds_bounds() => {}
            Err(_) => prop_assert!(free.check("value", &value).is_err()),
        }
    }
}

/// Keywords with values that may or may not be of the right kind.
fn anything_as_schema() -> impl Strategy<Value = Value> {
    let keyword = select(vec![
        "type",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "minItems",
        "maxItems",
        "uniqueItems",
        "minContains",
        "maxContains",
        "required",
        "dependentRequired",
        "minProperties",
        "maxProperties",
        "items",
        "prefixItems",
        "contains",
        "properties",
        "patternProperties",
        "additionalProperties",
        "propertyNames",
        "dependentSchemas",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "unevaluatedItems",
        "unevaluatedProperties",
        "$defs",
        "definitions",
        "$anchor",
        "$comment",
        "title",
        "description",
        "format",
        "deprecated",
        "readOnly",
        "writeOnly",
        "examples",
        "default",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "unknown",
    ]);
    let content = prop_oneof![
        4 => value(),
        2 => select(vec![json!("string"), json!(["string", "null"]), json!(["a", "a"]), json!([]), json!(-0.0)]),
        1 => select(vec![json!({}), json!([{}]), json!({"a": {}}), json!({"a": ["b"]}), json!({"a": ["b", "b"]})]),
    ];
    vec((keyword, content), 1..3).prop_map(|entries| {
        entries.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)).collect()
    })
}

/// A schema with two definitions that every part of it may refer to.
fn document() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema()).prop_map(|(root, left, right)| {
        let mut root = match root {
            Value::Object(keywords) => keywords,
            boolean => Map::from_iter([("not".to_owned(), json!({"not": boolean}))]),
        };
        root.insert("$defs".to_owned(), json!({"left": left, "right": right}));
        root.into()
    })
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::Bool),
        8 => keywords(vec(assertion(), 1..3)),
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        let applied = prop_oneof![assertion(), applicator(inner)];
        keywords(vec(applied, 1..4))
    })
}

fn keywords(
    entries: impl Strategy<Value = Vec<(&'static str, Value)>>,
) -> impl Strategy<Value = Value> {
    entries.prop_map(|entries| {
        entries.into_iter().map(|(keyword, value)| (keyword.to_owned(), value)).collect()
    })
}

/// A keyword without subschemas.
fn assertion() -> BoxedStrategy<(&'static str, Value)> {
    let types =
        || select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    let named = |keywords: &[&'static str]| select(keywords.to_vec());
    let reference = select(vec!["#", "#/$defs/left", "#/$defs/right"]);
    prop_oneof![
        3 => types().prop_map(|name| ("type", json!(name))),
        1 => names().prop_filter_map("a list of types is not empty", |names| {
            let types: Vec<_> = names.iter().map(|name| type_for(name)).collect();
            (!types.is_empty()).then(|| ("type", json!(types)))
        }),
        1 => vec(value(), 0..3).prop_map(|values| ("enum", json!(values))),
        1 => value().prop_map(|value| ("const", value)),
        2 => (named(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"]), number()),
        1 => select(vec![json!(2), json!(0.5), json!(0.1), json!(1e-3)]).prop_map(|by| ("multipleOf", by)),
        3 => (
            named(&[
                "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties",
                "minContains", "maxContains",
            ]),
            (0..3).prop_map(|count| json!(count)),
        ),
        1 => select(vec!["^a", "b$", "^.{2}$", "[^a]", r"^\w+$", r"^\S*$"])
            .prop_map(|pattern| ("pattern", json!(pattern))),
        1 => Just(("uniqueItems", json!(true))),
        2 => names().prop_map(|names| ("required", json!(names))),
        1 => (name(), names()).prop_map(|(name, names)| ("dependentRequired", json!({name: names}))),
        2 => reference.prop_map(|reference| ("$ref", json!(reference))),
    ]
    .boxed()
}

/// A keyword with subschemas.
fn applicator(
    schema: impl Strategy<Value = Value> + Clone + 'static,
) -> BoxedStrategy<(&'static str, Value)> {
    let one = vec![
        "not",
        "if",
        "then",
        "else",
        "items",
        "contains",
        "propertyNames",
        "additionalProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
        "unevaluatedItems",
        "unevaluatedProperties",
    ];
    let several = vec!["allOf", "anyOf", "oneOf", "prefixItems"];
    let by_name = vec!["properties", "dependentSchemas"];
    let patterns = select(vec!["a", "^b$", "[^c]"]).prop_map(str::to_owned);
    prop_oneof![
        4 => (select(one), schema.clone()),
        3 => (select(several), vec(schema.clone(), 1..3).prop_map(Value::from)),
        2 => (select(by_name), btree_map(name(), schema.clone(), 1..3).prop_map(object)),
        1 => (Just("patternProperties"), btree_map(patterns, schema, 1..2).prop_map(object)),
    ]
    .boxed()
}

fn value() -> impl Strategy<Value = Value> + Clone {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        number(),
        select(vec!["", "a", "ab", "é", "b\n"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            btree_map(name(), inner, 0..4).prop_map(object),
        ]
    })
}

fn number() -> impl Strategy<Value = Value> + Clone {
    select(vec![
        json!(0),
        json!(1),
        json!(1.0),
        json!(-1),
        json!(2),
        json!(0.5),
        json!(0.1),
        json!(1e20),
    ])
}

fn name() -> impl Strategy<Value = String> + Clone {
    select(vec!["a", "b", "c", "ab"]).prop_map(str::to_owned)
}

fn names() -> impl Strategy<Value = Vec<&'static str>> + Clone {
    subsequence(vec!["a", "b", "c", "ab"], 0..3)
}

fn type_for(name: &str) -> &'static str {
    match name {
        "a" => "integer",
        "b" => "string",
        "c" => "array",
        _ => "object",
    }
}

fn object(members: std::collections::BTreeMap<String, Value>) -> Value {
    members.into_iter().collect()
}
