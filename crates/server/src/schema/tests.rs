//! What schemas look like to clients.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::*;
use crate::tool_validator::ToolValidator;

fn published<T: JsonSchema>() -> String {
    input::<T>().unwrap().published.as_str().to_owned()
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Search {
    /// What to look for
    query: String,
    limit: Option<u32>,
    order: Order,
    #[serde(default)]
    unit: Option<Unit>,
    after: Vec<Option<i64>>,
}

/// How hits are ordered
#[derive(Deserialize, Serialize, JsonSchema)]
enum Order {
    /// The newest first
    Date,
    Size,
}

#[derive(Deserialize, Serialize, JsonSchema)]
enum Unit {
    Metre,
    Mile,
}

// spec: TOOL-13, TOOL-14
#[test]
fn a_struct_is_a_plain_object_in_the_order_of_its_fields() {
    let expected = concat!(
        r#"{"type":"object","properties":{"#,
        r#""query":{"type":"string","description":"What to look for"},"#,
        r#""limit":{"type":"integer","minimum":0},"#,
        r#""order":{"type":"string","description":"How hits are ordered\n\n- `Date`: The newest first","#,
        r#""enum":["Size","Date"]},"#,
        r#""unit":{"type":"string","enum":["Metre","Mile"]},"#,
        r#""after":{"type":"array","items":{"type":["integer","null"]}}},"#,
        r#""required":["query","order","after"]}"#,
    );
    assert_eq!(published::<Search>(), expected);
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[allow(dead_code, reason = "only its schema is looked at")]
struct Tree {
    children: Vec<Tree>,
    name: String,
}

#[test]
fn only_a_type_that_contains_itself_keeps_a_reference() {
    let text = published::<Tree>();
    assert!(text.contains(r##""$ref":"#"##), "{text}");
    ToolValidator::new("search", &input::<Tree>().unwrap().terms, None).unwrap();
    assert!(!published::<Search>().contains("$ref"));
}

#[test]
fn null_stands_for_an_optional_argument_that_is_left_out() {
    let contract = ToolValidator::new("search", &input::<Search>().unwrap().terms, None).unwrap();
    let arguments = br#"{"query":"a","order":"Size","after":[],"limit":null,"unit":null}"#;
    assert_eq!(contract.check_arguments(arguments), Ok(()));
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind")]
#[allow(dead_code, reason = "only its schema is looked at")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

// spec: TOOL-13, TOOL-17
#[test]
fn a_choice_of_structs_is_an_object_all_the_same() {
    let text = published::<Shape>();
    assert!(text.starts_with(r#"{"type":"object","properties":{},"oneOf":["#), "{text}");
    assert!(!text.contains("double"), "{text}");
}

#[test]
fn what_holds_no_arguments_is_refused() {
    let error = input::<Vec<i64>>().unwrap_err();
    assert_eq!(error, r#"arguments are an object, and its schema is "array""#);
    assert!(input::<BTreeMap<String, Value>>().is_ok());
    assert!(input::<Value>().is_ok());
}

// spec: TOOL-15
#[test]
fn no_arguments_are_a_closed_object() {
    let expected = r#"{"type":"object","additionalProperties":false}"#;
    assert_eq!(no_arguments().published.as_str(), expected);
}

// spec: TOOL-17, TOOL-29
#[test]
fn results_may_be_null_where_the_type_writes_null() {
    let schema = output::<Search>();
    let text = schema.published.as_str();
    assert!(text.contains(r#""limit":{"type":["integer","null"],"minimum":0}"#), "{text}");
    assert!(output::<Vec<u8>>().published.as_str().starts_with(r#"{"type":"array","items""#));
}

// spec: TOOL-29
#[test]
fn a_result_that_is_sometimes_left_out_may_still_be_null() {
    #[derive(Serialize, JsonSchema)]
    struct Note {
        #[serde(skip_serializing_if = "is_empty")]
        text: Option<String>,
    }

    #[allow(clippy::ref_option, reason = "the signature that serde calls")]
    fn is_empty(text: &Option<String>) -> bool {
        text.as_deref() == Some("")
    }

    let written = serde_json::to_string(&Note { text: None }).unwrap();
    assert_eq!(written, r#"{"text":null}"#);
    let schema = output::<Note>();
    let text = schema.published.as_str();
    assert!(text.contains(r#""text":{"type":["string","null"]}"#), "{text}");
}

#[test]
fn a_schema_by_hand_is_published_word_for_word() {
    let text = r#"{"x-order":1,"type":"object","a":1.0}"#;
    let (published, terms) = by_hand(&RawJson::from_text(text).unwrap()).unwrap();
    assert_eq!(published.as_str(), text);
    assert_eq!(terms.origin, SchemaOrigin::Hand);
    assert_eq!(by_hand(&[1]).unwrap_err(), "`[1]` is not an object");
}

#[test]
fn a_form_keeps_titles_and_the_order_of_its_fields() {
    let text = form::<Search>().as_str().to_owned();
    let (query, limit) = (text.find("\"query\"").unwrap(), text.find("\"limit\"").unwrap());
    assert!(query < limit, "{text}");
}

// spec: SCH-7
#[test]
fn a_schema_made_of_a_type_is_one_of_2020_12_which_need_not_be_said() {
    #[derive(Deserialize, JsonSchema)]
    #[allow(dead_code, reason = "only its schema is looked at")]
    struct Wood {
        trees: Vec<Tree>,
    }
    let text = published::<Wood>();
    assert!(!text.contains("$schema"), "{text}");
    // Older dialects have `definitions` instead.
    assert!(text.contains("\"$defs\"") && !text.contains("definitions"), "{text}");
}

// spec: SCH-10
#[test]
fn a_schema_that_refers_to_the_network_is_refused_and_nothing_is_fetched() {
    for reference in ["https://example.com/schema.json", "http://127.0.0.1:9/#/$defs/a", "//host/a"]
    {
        let (_, terms) = by_hand(&serde_json::json!({ "$ref": reference })).unwrap();
        let error = ToolValidator::new("search", &terms, None).unwrap_err();
        assert!(error.is_external_reference(), "{reference}: {error}");
    }
}
