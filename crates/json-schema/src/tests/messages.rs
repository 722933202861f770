//! Messages about values, word for word, because a model acts on them.

use serde_json::{Value, json};

use super::compile;

/// What is wrong with the arguments, or nothing.
fn told(schema: &Value, arguments: &Value) -> String {
    compile(schema)
        .check("arguments", arguments)
        .err()
        .map_or_else(String::new, |violations| violations.to_string())
}

#[track_caller]
fn assert_told(schema: &Value, arguments: &Value, expected: &str) {
    assert_eq!(told(schema, arguments), expected);
}

#[test]
fn a_path_leads_to_the_value() {
    let schema =
        json!({"properties": {"items": {"items": {"properties": {"price": {"type": "number"}}}}}});
    assert_told(
        &schema,
        &json!({"items": [{}, {"price": 1}, {"price": "abc"}]}),
        r#"`arguments.items[2].price`: expected a number, found the string "abc""#,
    );
}

#[test]
fn violations_come_in_reading_order() {
    let schema = json!({
        "allOf": [{"properties": {"b": {"type": "null"}}}, {"properties": {"a": {"type": "null"}}}],
        "required": ["c"],
    });
    assert_told(
        &schema,
        &json!({"a": true, "b": [1]}),
        "`arguments.c`: missing, but required\n\
         `arguments.a`: expected null, found true\n\
         `arguments.b`: expected null, found an array of 1 item",
    );
}

#[test]
fn scalars_say_what_was_expected_and_what_was_found() {
    let cases = [
        (
            json!({"type": ["string", "integer", "null"]}),
            json!(1.5),
            "expected a string, an integer or null, found the number 1.5",
        ),
        (
            json!({"const": {"a": 1}}),
            json!({}),
            "expected an object of 1 property, found an object of 0 properties",
        ),
        (
            json!({"enum": ["a", 2, null]}),
            json!("b"),
            r#"expected one of "a", 2, null, found the string "b""#,
        ),
        (json!({"minimum": 0}), json!(-1), "expected at least 0, found -1"),
        (json!({"exclusiveMinimum": 0}), json!(0), "expected more than 0, found 0"),
        (json!({"maximum": 1.5}), json!(2), "expected at most 1.5, found 2"),
        (json!({"exclusiveMaximum": 1}), json!(1), "expected less than 1, found 1"),
        (json!({"multipleOf": 0.01}), json!(0.005), "expected a multiple of 0.01, found 0.005"),
        (json!({"minLength": 1}), json!(""), "expected at least 1 character, found 0"),
        (json!({"maxLength": 2}), json!("abc"), "expected at most 2 characters, found 3"),
        (
            json!({"pattern": "^a$"}),
            json!("b"),
            r#"expected text that matches `^a$`, found the string "b""#,
        ),
        (json!(false), json!(1), "no value is allowed here"),
        (json!({"not": {"type": "integer"}}), json!(1), r#"must not match {"type":"integer"}"#),
    ];
    for (schema, value, expected) in cases {
        assert_told(&schema, &value, &format!("`arguments`: {expected}"));
    }
}

#[test]
fn arrays_say_what_is_too_much_or_too_little() {
    let cases = [
        (json!({"minItems": 1}), json!([]), "`arguments`: expected at least 1 item, found 0"),
        (json!({"maxItems": 1}), json!([1, 2]), "`arguments`: expected at most 1 item, found 2"),
        (
            json!({"uniqueItems": true}),
            json!([1, 2, 1.0]),
            "`arguments`: items 0 and 2 are equal, but each value may occur only once",
        ),
        (
            json!({"prefixItems": [true], "items": false}),
            json!([1, 2]),
            "`arguments[1]`: unexpected item: at most 1 is allowed",
        ),
        (json!({"unevaluatedItems": false}), json!([1]), "`arguments[0]`: unexpected item"),
        (
            json!({"contains": {"const": 1}, "minContains": 2}),
            json!([1, 2]),
            r#"`arguments`: expected at least 2 items matching {"const":1}, found 1"#,
        ),
        (
            json!({"contains": {"const": 1}, "maxContains": 1}),
            json!([1, 1]),
            r#"`arguments`: expected at most 1 item matching {"const":1}, found 2"#,
        ),
    ];
    for (schema, value, expected) in cases {
        assert_told(&schema, &value, expected);
    }
}

#[test]
fn objects_say_which_properties_are_missing_or_unknown() {
    let closed = json!({"properties": {"b": true, "a": true}, "additionalProperties": false});
    let cases = [
        (closed, json!({"c": 1}), "`arguments.c`: unknown property: allowed are `a`, `b`"),
        (
            json!({"patternProperties": {"^x-": true}, "additionalProperties": false}),
            json!({"c": 1}),
            "`arguments.c`: unknown property: only `/^x-/` is allowed here",
        ),
        (
            json!({"additionalProperties": false}),
            json!({"c": 1}),
            "`arguments.c`: unknown property: no property is allowed here",
        ),
        (
            json!({"unevaluatedProperties": false}),
            json!({"c": 1}),
            "`arguments.c`: unexpected property: remove it",
        ),
        (
            json!({"dependentRequired": {"a": ["unit price"]}}),
            json!({"a": 1}),
            r#"`arguments["unit price"]`: missing, but required because `a` is present"#,
        ),
        (
            json!({"propertyNames": {"maxLength": 2}}),
            json!({"abc": 1}),
            "`arguments.abc`: wrong name: expected at most 2 characters, found 3",
        ),
        (
            json!({"minProperties": 1}),
            json!({}),
            "`arguments`: expected at least 1 property, found 0",
        ),
        (
            json!({"maxProperties": 0}),
            json!({"a": 1}),
            "`arguments`: expected at most 0 properties, found 1",
        ),
    ];
    for (schema, value, expected) in cases {
        assert_told(&schema, &value, expected);
    }
}

#[test]
fn alternatives_of_types_are_one_expectation() {
    let schema =
        json!({"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 3}, {"type": "null"}]});
    let expected = "`arguments`: expected a string, an integer or null, found true";
    assert_told(&schema, &json!(true), expected);
    // The alternative of the right type decides which violation is reported.
    assert_told(&schema, &json!(1), "`arguments`: expected at least 3, found 1");
}

#[test]
fn the_alternative_with_the_right_tag_is_the_one_meant() {
    let schema = json!({"oneOf": [
        {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
        {"properties": {"kind": {"const": "square"}, "side": {"type": "number"}}, "required": ["kind", "side"]},
    ]});
    assert_told(&schema, &json!({"kind": "square"}), "`arguments.side`: missing, but required");
    assert_told(
        &schema,
        &json!({"kind": "line"}),
        r#"`arguments.kind`: expected one of "circle", "square", found the string "line""#,
    );
}

#[test]
fn alternatives_that_differ_otherwise_are_summed_up() {
    let schema = json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert_told(
        &schema,
        &json!({}),
        "`arguments`: fits none of 2 alternatives: `arguments.a`: missing, but required; \
         or `arguments.b`: missing, but required",
    );
}

#[test]
fn alternatives_that_both_fit_are_named() {
    let schema = json!({"oneOf": [{"type": "integer"}, {"type": "string"}, {"minimum": 2}]});
    assert_told(
        &schema,
        &json!(3),
        "`arguments`: fits the alternatives 1 and 3, but exactly one may fit",
    );
}

#[test]
fn what_follows_from_a_violation_is_not_repeated() {
    let schema = json!({
        "allOf": [{"properties": {"a": {"type": "string"}}}],
        "unevaluatedProperties": false,
    });
    let expected = "`arguments.a`: expected a string, found the number 1";
    assert_told(&schema, &json!({"a": 1, "b": 2}), expected);
}

#[test]
fn a_long_enumeration_is_cut() {
    let values: Vec<_> = (0..30).collect();
    let text = told(&json!({"enum": values}), &json!(30));
    assert!(text.starts_with("`arguments`: expected one of 0, 1, "), "{text}");
    assert!(text.ends_with("22, 23 or others, found the number 30"), "{text}");
}
