//! Forms from the schemas of peers and of Rust structs.

use super::*;

fn form(text: &str) -> FormSchema {
    serde_json::from_str(text).unwrap()
}

fn field(text: &str) -> FormField {
    serde_json::from_str(text).unwrap()
}

fn from_schema(text: &str) -> Result<FormSchema, NotAForm> {
    FormSchema::from_schema(&serde_json::from_str(text).unwrap())
}

// spec: ELIC-18, ELIC-19, ELIC-20, ELIC-21
#[test]
fn every_kind_of_field_is_written_as_it_was_read() {
    for text in [
        r#"{"type":"string"}"#,
        concat!(
            r#"{"type":"string","title":"T","description":"D","minLength":3,"maxLength":50,"#,
            r#""format":"email","default":"a@b.c"}"#
        ),
        r#"{"type":"number","title":"T","minimum":0,"maximum":1.5,"default":0.5}"#,
        r#"{"type":"integer","description":"D","minimum":-1,"default":3}"#,
        r#"{"type":"boolean","title":"T","default":false}"#,
        r#"{"type":"string","title":"T","enum":["r","g"],"default":"r"}"#,
        r#"{"type":"string","enum":["r","g"],"enumNames":["Red","Green"]}"#,
        r##"{"type":"string","oneOf":[{"const":"#f00","title":"Red"}],"default":"#f00"}"##,
        concat!(
            r#"{"type":"array","title":"T","minItems":1,"maxItems":2,"#,
            r#""items":{"type":"string","enum":["r","g"]},"default":["r"]}"#
        ),
        r##"{"type":"array","items":{"anyOf":[{"const":"#f00","title":"Red"}]}}"##,
        r#"{"type":"object","properties":{"nested":{"type":"string"}}}"#,
    ] {
        assert_eq!(serde_json::to_string(&field(text)).unwrap(), text);
    }
}

#[test]
fn each_kind_of_field_is_recognised() {
    let kind = |text| field(text).kind;
    assert!(matches!(kind(r#"{"type":"string"}"#), FieldKind::String(_)));
    assert!(matches!(kind(r#"{"type":"string","enum":["a"]}"#), FieldKind::Select(_)));
    assert!(matches!(kind(r#"{"enum":["a"]}"#), FieldKind::Select(_)));
    assert!(matches!(kind(r#"{"type":"integer"}"#), FieldKind::Integer(_)));
    assert!(matches!(
        kind(r#"{"type":"array","items":{"enum":["a"]}}"#),
        FieldKind::MultiSelect(_)
    ));
    for other in [r#"{"type":"object"}"#, r#"{"$ref":"elsewhere"}"#, r#"{"type":7}"#, "{}"] {
        assert!(matches!(kind(other), FieldKind::Other(_)), "{other}");
    }
}

// spec: ELIC-18
#[test]
fn fields_keep_their_order() {
    let text = concat!(
        r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"boolean"}},"#,
        r#""required":["a"]}"#
    );
    let form = form(text);
    assert_eq!(form.fields().map(|(name, _)| name).collect::<Vec<_>>(), ["z", "a"]);
    assert_eq!(form.required().collect::<Vec<_>>(), ["a"]);
    assert_eq!(serde_json::to_string(&form).unwrap(), text);
}

// spec: ELIC-18
#[test]
fn unknown_keywords_of_a_form_are_ignored() {
    let text = concat!(
        r#"{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","x":1,"#,
        r#""properties":{"a":{"type":"string","pattern":"^a$"}}}"#
    );
    assert_eq!(form(text), FormSchema::new().with_optional("a", StringSchema::new()));
    let error = serde_json::from_str::<FormSchema>(r#"{"type":"array"}"#).unwrap_err().to_string();
    assert!(error.contains("a form has the type `object`, not `array`"), "{error}");
}

#[test]
fn a_field_that_may_be_null_is_read_as_one_that_may_be_left_out() {
    assert_eq!(field(r#"{"type":["string","null"]}"#), StringSchema::new().into());
    let text = r#"{"anyOf":[{"type":"integer"},{"type":"null"}],"title":"Age","default":null}"#;
    assert_eq!(field(text), FormField::integer(NumberSchema::new()).with_title("Age"));
}

#[test]
fn a_hand_built_form_says_what_is_required() {
    let form = FormSchema::new()
        .with_required("a", StringSchema::new())
        .with_optional("b", FormField::integer(NumberSchema::new().with_minimum(1)))
        .with_required("c", SelectSchema::new([SelectOption::titled("x", "The X")]))
        .with_optional("a", BooleanSchema::new());
    let expected = concat!(
        r#"{"type":"object","properties":{"a":{"type":"boolean"},"#,
        r#""b":{"type":"integer","minimum":1},"#,
        r#""c":{"type":"string","oneOf":[{"const":"x","title":"The X"}]}},"required":["c"]}"#
    );
    assert_eq!(serde_json::to_string(&form).unwrap(), expected);
}

/// What schemars 1.2 generates for a struct of plain fields, optional ones, numbers of several
/// widths, enums with and without documentation, lists and sets of enums, and newtypes.
const TRIP: &str = r##"{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "Trip",
  "type": "object",
  "properties": {
    "city": { "description": "Where to", "type": "string" },
    "nights": { "type": "integer", "format": "uint32", "minimum": 0 },
    "row": { "type": "integer", "format": "uint8", "maximum": 255, "minimum": 0, "default": 5 },
    "price": { "type": ["number", "null"], "format": "double" },
    "class": { "$ref": "#/$defs/Class", "default": "Economy" },
    "meal": { "description": "Meal wanted", "$ref": "#/$defs/Meal" },
    "seat": { "anyOf": [{ "$ref": "#/$defs/Class" }, { "type": "null" }] },
    "window": { "type": ["string", "null"], "enum": ["X", "Y", null] },
    "extras": { "type": ["array", "null"], "items": { "$ref": "#/$defs/Class" } },
    "set": { "type": "array", "items": { "$ref": "#/$defs/Titled" }, "uniqueItems": true },
    "refundable": { "type": ["boolean", "null"], "default": null },
    "mail": { "type": "string", "format": "email" },
    "code": { "type": "string", "format": "uuid", "maxLength": 5, "minLength": 1, "pattern": "a" },
    "name": { "$ref": "#/$defs/Deep" }
  },
  "required": ["city", "nights", "class", "meal", "set", "mail", "code", "name"],
  "$defs": {
    "Class": { "type": "string", "enum": ["Economy", "Business"] },
    "Meal": { "oneOf": [
      { "type": "string", "enum": ["plain"] },
      { "description": "No meat", "type": "string", "const": "veggie" }
    ] },
    "Titled": { "oneOf": [{ "title": "The A", "type": "string", "const": "A" }] },
    "Wrap": { "type": "string" },
    "Deep": { "$ref": "#/$defs/Wrap" }
  }
}"##;

// spec: ELIC-18, ELIC-19, ELIC-21
#[test]
fn a_form_is_made_from_the_schema_of_a_plain_struct() {
    let class = || SelectSchema::new(["Economy", "Business"]);
    let code = StringSchema::new().with_min_length(1).with_max_length(5);
    let row = NumberSchema::new().with_minimum(0).with_maximum(255).with_default(5);
    let meal = [SelectOption::from("plain"), SelectOption::titled("veggie", "No meat")];
    let expected = FormSchema::new()
        .with_required("city", FormField::from(StringSchema::new()).with_description("Where to"))
        .with_required("nights", FormField::integer(NumberSchema::new().with_minimum(0)))
        .with_optional("row", FormField::integer(row))
        .with_optional("price", FormField::number(NumberSchema::new()))
        .with_required("class", class().with_default("Economy"))
        .with_required(
            "meal",
            FormField::from(SelectSchema::new(meal)).with_description("Meal wanted"),
        )
        .with_optional("seat", class())
        .with_optional("window", SelectSchema::new(["X", "Y"]))
        .with_optional("extras", MultiSelectSchema::new(["Economy", "Business"]))
        .with_required("set", MultiSelectSchema::new([SelectOption::titled("A", "The A")]))
        .with_optional("refundable", BooleanSchema::new())
        .with_required("mail", StringSchema::new().with_format(StringFormat::Email))
        .with_required("code", code)
        .with_required("name", StringSchema::new());
    assert_eq!(from_schema(TRIP).unwrap(), expected);
}

// spec: ELIC-19
#[test]
fn a_field_that_cannot_be_asked_is_named() {
    let definitions = r##""$defs":{
        "Nested":{"type":"object","properties":{"a":{"type":"string"}}},
        "Data":{"oneOf":[{"type":"object","properties":{}},{"type":"object"}]},
        "Loop":{"$ref":"#/$defs/Loop"}}"##;
    for (schema, reason) in [
        (r##"{"$ref":"#/$defs/Nested"}"##, "it is an object, and forms are flat"),
        (r##"{"anyOf":[{"$ref":"#/$defs/Nested"},{"type":"null"}]}"##, "it is an object"),
        (r#"{"type":"object","additionalProperties":true}"#, "it is an object"),
        (r##"{"$ref":"#/$defs/Data"}"##, "its alternatives are not all text"),
        (r#"{"type":"array","items":{"type":"string"}}"#, "only lists of fixed choices"),
        (r#"{"type":"array","items":{"type":"integer"}}"#, "only lists of fixed choices"),
        (r#"{"type":"array","prefixItems":[{"type":"string"}]}"#, "only lists of fixed choices"),
        ("true", "it may be anything"),
        ("{}", "it may be anything"),
        (r#"{"type":"null"}"#, "it has the type null"),
        (r#"{"type":["string","integer"]}"#, "it has the type string or integer"),
        (r#"{"description":"x"}"#, "it has no type"),
        (r#"{"enum":["a",1]}"#, "`1` is among its choices and is not text"),
        (r##"{"$ref":"#/$defs/Missing"}"##, "it refers to `#/$defs/Missing`, which is not known"),
        (r##"{"$ref":"#"}"##, "it holds the whole form again"),
        (r##"{"$ref":"#/$defs/Loop"}"##, "its references lead in a circle"),
    ] {
        let text = format!(
            r#"{{"type":"object","properties":{{"a":{{"type":"string"}},"b":{schema}}},{definitions}}}"#
        );
        let error = from_schema(&text).unwrap_err();
        assert_eq!(error.field(), Some("b"), "{schema}");
        let error = error.to_string();
        assert!(error.starts_with("field `b` cannot be asked in a form: "), "{error}");
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn a_form_is_made_only_of_objects() {
    for text in [r#"{"type":"string"}"#, r#"{"type":"object"}"#, r#"{"enum":["a"]}"#, "{}"] {
        let error = from_schema(text).unwrap_err();
        assert_eq!(error.field(), None, "{text}");
        assert!(error.to_string().starts_with("no form can be made of this type: "), "{error}");
    }
}

#[test]
fn deep_nesting_in_a_field_does_not_recurse() {
    let depth = 200_000;
    let deep =
        format!(r#"{}{{"type":"string"}}{}"#, r#"{"allOf":["#.repeat(depth), "]}".repeat(depth));
    let field = field(&deep);
    assert!(matches!(field.kind, FieldKind::Other(_)));
}
