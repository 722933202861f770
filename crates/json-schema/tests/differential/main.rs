//! Random schemas and values, checked by our validator and by the `jsonschema` crate.
//!
//! The official suite tests the cases that its authors chose; this tests random combinations.
//! Names, values and limits come from a small set, so that they often meet.

mod fitting;

use std::cell::Cell;

use bowline_json_schema::{SchemaLimits, Validator};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use proptest::test_runner::{Config, RngSeed, TestRunner};
use serde_json::{Map, Value, json};

use fitting::fitting;

/// Schemas that are drawn for each test, and values for each schema.
const CASES: u32 = 512;
const VALUES: usize = 8;

type Other = fn(&Value) -> Result<jsonschema::Validator, jsonschema::ValidationError<'static>>;

const DRAFT_07: &str = "http://json-schema.org/draft-07/schema#";

/// The dialect of random schemas.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Dialect {
    Draft07,
    V2020_12,
}

impl Dialect {
    fn definitions(self) -> &'static str {
        match self {
            Self::Draft07 => "definitions",
            Self::V2020_12 => "$defs",
        }
    }
}

// spec: SCH-1, SCH-3
#[test]
fn both_validators_give_the_same_verdict() {
    judge(Dialect::V2020_12, jsonschema::draft202012::new);
}

// spec: SCH-3
#[test]
fn both_validators_give_the_same_verdict_in_draft_07() {
    judge(Dialect::Draft07, jsonschema::draft7::new);
}

// spec: SCH-6
#[test]
fn what_the_meta_schema_refuses_is_refused() {
    judge_schemas(Dialect::V2020_12, jsonschema::draft202012::meta::is_valid);
}

// spec: SCH-6
#[test]
fn what_the_meta_schema_of_draft_07_refuses_is_refused() {
    judge_schemas(Dialect::Draft07, jsonschema::draft7::meta::is_valid);
}

proptest! {
    #![proptest_config(config())]

    // spec: SCH-14
    #[test]
    fn tight_bounds_stop_a_check_but_never_turn_its_verdict(
        schema in prop_oneof![document(Dialect::V2020_12), document(Dialect::Draft07)],
        value in value(),
        nesting in 1..12_usize,
        steps in 1..200_usize,
    ) {
        let mut bounds = SchemaLimits::default();
        (bounds.nesting, bounds.steps) = (nesting, steps);
        let (Ok(free), Ok(bounded)) = (Validator::compile(&schema), Validator::compile_with(&schema, bounds)) else {
            return Ok(());
        };
        match bounded.check("value", &value) {
            Ok(()) => prop_assert!(free.check("value", &value).is_ok()),
            Err(violations) if violations.exceeds_limits() => {}
            Err(_) => prop_assert!(free.check("value", &value).is_err()),
        }
    }
}

fn config() -> Config {
    Config {
        cases: CASES,
        rng_seed: RngSeed::Fixed(202_012),
        failure_persistence: None,
        ..Config::default()
    }
}

/// Compares both validators on random schemas, and checks that both verdicts are frequent.
fn judge(dialect: Dialect, other: Other) {
    let shares = Shares::default();
    let cases = document(dialect).prop_flat_map(|schema| {
        let values = vec(prop_oneof![fitting(&schema), value().boxed()], VALUES);
        (Just(schema), values)
    });
    let verdict = TestRunner::new(config())
        .run(&cases, |(schema, values)| compare(&schema, &values, other, &shares));
    verdict.unwrap();
    let (valid, invalid, both) = (shares.valid.get(), shares.invalid.get(), shares.both.get());
    let values = CASES * VALUES as u32;
    assert!(
        valid >= values / 6 && invalid >= values / 6 && both >= CASES / 3,
        "{valid} valid and {invalid} invalid values; {both} of {CASES} schemas had both",
    );
}

/// Compares what we compile with what the meta-schema allows, and checks that both are frequent.
fn judge_schemas(dialect: Dialect, is_valid: fn(&Value) -> bool) {
    let valid = Cell::new(0);
    let verdict = TestRunner::new(config()).run(&anything_as_schema(dialect), |mut schema| {
        if dialect == Dialect::Draft07 {
            schema["$schema"] = DRAFT_07.into();
        }
        let (expected, compiled) = (is_valid(&schema), Validator::compile(&schema));
        prop_assert_eq!(compiled.is_ok(), expected, "{} {:?}", schema, compiled);
        valid.set(valid.get() + u32::from(expected));
        Ok(())
    });
    verdict.unwrap();
    let valid = valid.get();
    assert!((CASES / 4..=CASES * 3 / 4).contains(&valid), "{valid} of {CASES} schemas were valid");
}

/// How often each verdict was given, and how many schemas saw both.
#[derive(Default)]
struct Shares {
    valid: Cell<u32>,
    invalid: Cell<u32>,
    both: Cell<u32>,
}

/// Checks values with our validator and with the other.
fn compare(
    schema: &Value,
    values: &[Value],
    other: Other,
    shares: &Shares,
) -> Result<(), TestCaseError> {
    let ours = match Validator::compile(schema) {
        Ok(ours) => ours,
        // The other validator does not look for circles, so it cannot be compared.
        Err(error) => {
            prop_assert!(error.to_string().contains("without end"), "{error}: {schema}");
            return Ok(());
        }
    };
    let theirs = other(schema).unwrap();
    let mut valid = 0;
    for value in values {
        let verdict = ours.check("value", value);
        let expected = theirs.is_valid(value);
        prop_assert_eq!(verdict.is_ok(), expected, "{} {} {:?}", schema, value, verdict);
        valid += u32::from(expected);
        if let Err(violations) = verdict {
            prop_assert!(!violations.exceeds_limits());
            prop_assert!(violations.iter().next().is_some(), "{schema} {value}");
        }
    }
    let invalid = values.len() as u32 - valid;
    shares.valid.set(shares.valid.get() + valid);
    shares.invalid.set(shares.invalid.get() + invalid);
    shares.both.set(shares.both.get() + u32::from(valid > 0 && invalid > 0));
    Ok(())
}

/// What a schema may say, whatever the dialect makes of it.
const KEYWORDS: &[&str] = &[
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
    "additionalItems",
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
];

/// Keywords with values that are mostly of the right kind.
fn anything_as_schema(dialect: Dialect) -> impl Strategy<Value = Value> {
    let mut keywords = KEYWORDS.to_vec();
    if dialect == Dialect::Draft07 {
        keywords.push("dependencies");
    }
    let content = prop_oneof![
        4 => value(),
        2 => select(vec![json!("string"), json!(["string", "null"]), json!(["a", "a"]), json!([]), json!(-0.0)]),
        1 => select(vec![json!({}), json!([{}]), json!({"a": {}}), json!({"a": ["b"]}), json!({"a": ["b", "b"]})]),
    ];
    // Without references, which may lead nowhere: the meta-schema does not follow them.
    let right = || {
        let assertion = assertion(dialect);
        assertion.prop_filter("a reference", |(keyword, _)| *keyword != "$ref")
    };
    let inner = self::keywords(vec(right(), 0..2));
    let entry = prop_oneof![
        3 => right(),
        2 => applicator(inner.boxed()),
        2 => (select(keywords), content),
    ];
    self::keywords(vec(entry, 1..4))
}

/// A schema with two definitions that every part of it may refer to.
fn document(dialect: Dialect) -> impl Strategy<Value = Value> {
    let schema = || schema(dialect);
    (schema(), schema(), schema()).prop_map(move |(root, left, right)| {
        let mut root = match root {
            Value::Object(keywords) => keywords,
            boolean => Map::from_iter([("not".to_owned(), json!({"not": boolean}))]),
        };
        if dialect == Dialect::Draft07 {
            root.insert("$schema".to_owned(), DRAFT_07.into());
        }
        root.insert(dialect.definitions().to_owned(), json!({"left": left, "right": right}));
        root.into()
    })
}

fn schema(dialect: Dialect) -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        1 => any::<bool>().prop_map(Value::Bool),
        8 => keywords(vec(assertion(dialect), 1..3)),
    ];
    leaf.prop_recursive(3, 24, 3, move |inner| {
        // Draft-07 has to ignore the newer keywords.
        let newer = prop_oneof![assertion(dialect), applicator(inner.clone())];
        let applied = match dialect {
            Dialect::Draft07 => prop_oneof![4 => newer, 1 => older(inner)].boxed(),
            Dialect::V2020_12 => newer.boxed(),
        };
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
fn assertion(dialect: Dialect) -> BoxedStrategy<(&'static str, Value)> {
    let types =
        || select(vec!["null", "boolean", "integer", "number", "string", "array", "object"]);
    let named = |keywords: &[&'static str]| select(keywords.to_vec());
    let definitions = dialect.definitions();
    let reference = select(vec!["#", "#/{}/left", "#/{}/right"])
        .prop_map(move |pointer| pointer.replace("{}", definitions));
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

/// A keyword with subschemas that 2020-12 does not have, or not like this.
fn older(
    schema: impl Strategy<Value = Value> + Clone + 'static,
) -> BoxedStrategy<(&'static str, Value)> {
    let dependency = prop_oneof![schema.clone(), names().prop_map(|names| json!(names))];
    prop_oneof![
        2 => (Just("items"), vec(schema.clone(), 1..3).prop_map(Value::from)),
        1 => (Just("additionalItems"), schema),
        1 => (Just("dependencies"), btree_map(name(), dependency, 1..3).prop_map(object)),
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
