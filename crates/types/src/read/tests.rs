//! What is accepted, and how errors describe what is not.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;
use crate::capability::{ClientCapabilities, ServerCapabilities};
use crate::completion::{CompleteParams, CompletionContext};
use crate::content::{Annotations, Content};
use crate::deprecated::logging::LoggingLevel;
use crate::deprecated::roots::Root;
use crate::deprecated::sampling::ModelPreferences;
use crate::error::ErrorObject;
use crate::json::RawJson;
use crate::progress::ProgressParams;
use crate::prompt::GetPromptParams;
use crate::subscription::{ListenParams, SubscriptionFilter};
use crate::tool::{CallToolParams, ToolDefinition};
use crate::{Icon, Implementation, Meta, ResourceDefinition};

#[derive(Debug, Deserialize, PartialEq)]
struct Order {
    count: u8,
    #[serde(default)]
    items: Vec<Item>,
    #[serde(default)]
    by_shelf: BTreeMap<u16, Item>,
    shape: Option<Shape>,
    raw: Option<RawJson>,
    level: Option<LoggingLevel>,
    #[serde(default)]
    levels: Vec<LoggingLevel>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Item {
    price: f64,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Shape {
    Round,
    Square(Item),
    Long { item: Item },
}

fn told(text: &str) -> String {
    read::<Order>(text).unwrap_err().within("params").to_string()
}

#[test]
fn what_fits_is_read() {
    let text = r#"{"count":1,"items":[{"price":1.5}],"by_shelf":{"7":{"price":2}},"raw":[ 1 ],
        "shape":{"long":{"item":{"price":0}}}}"#;
    let order: Order = read(text).unwrap();
    assert_eq!(order.raw.unwrap().as_str(), "[ 1 ]");
    assert_eq!(order.by_shelf, BTreeMap::from([(7, Item { price: 2.0 })]));
    assert_eq!(order.shape, Some(Shape::Long { item: Item { price: 0.0 } }));
    assert_eq!(read::<Shape>("\"round\""), Ok(Shape::Round));
    assert_eq!(read::<Shape>(r#"{"square":{"price":1}}"#), Ok(Shape::Square(Item { price: 1.0 })));
}

#[test]
fn an_error_says_where_it_is_and_what_was_expected_in_plain_words() {
    let cases = [
        ("7", "`params`: expected an object, found the number 7"),
        ("[1]", "`params`: expected an object, found an array"),
        ("{}", "`params.count`: missing"),
        (
            r#"{"count":"x"}"#,
            "`params.count`: expected a whole number from 0 to 255, found the string \"x\"",
        ),
        (
            r#"{"count":256}"#,
            "`params.count`: expected a whole number from 0 to 255, found the number 256",
        ),
        (r#"{"count":1e999}"#, "`params.count`: number out of range"),
        (r#"{"count":null}"#, "`params.count`: expected a whole number from 0 to 255, found null"),
        (r#"{"count":1,"count":2}"#, "`params.count`: it occurs twice"),
        (r#"{"count":1,"items":{}}"#, "`params.items`: expected an array, found an object"),
        (r#"{"count":1,"items":[{"price":1}, {}]}"#, "`params.items[1].price`: missing"),
        (
            r#"{"count":1,"items":[{"price":1}, true]}"#,
            "`params.items[1]`: expected an object, found true",
        ),
        (r#"{"count":1,"items":[[1]]}"#, "`params.items[0]`: expected an object, found an array"),
        (
            r#"{"count":1,"items":[],"by_shelf":{"7":{"price":[]}}}"#,
            "`params.by_shelf.7.price`: expected a number, found an array",
        ),
        (
            r#"{"count":1,"shape":"flat"}"#,
            "`params.shape`: expected one of `round`, `square`, `long`, found `flat`",
        ),
        (r#"{"count":1,"shape":7}"#, "`params.shape`: expected one of `round`, `square`, `long`"),
        (
            r#"{"count":1,"shape":{"square":[1]}}"#,
            "`params.shape.square`: expected an object, found an array",
        ),
        (
            r#"{"count":1,"shape":{"long":[[1]]}}"#,
            "`params.shape.long`: expected an object, found an array",
        ),
        (r#"{"count":1,"shape":"long"}"#, "`params.shape`: expected an object, found a string"),
        (
            r#"{"count":1,"level":"loud"}"#,
            "`params.level`: `loud` is no logging level; use one of debug, info, notice, warning, error, critical, alert, emergency",
        ),
        (r#"{"level":{},"count":1}"#, "`params.level`: expected a string, found an object"),
    ];
    for (text, expected) in cases {
        assert_eq!(told(text), expected, "{text}");
    }
}

#[test]
fn the_item_that_does_not_fit_is_found_wherever_it_stands() {
    for (items, index) in
        [("\"loud\"", 0), ("\"loud\", \"info\"", 0), ("\"info\" , \"loud\" , \"info\"", 1)]
    {
        let text = format!(r#"{{"count":1,"levels":[{items}],"items":[]}}"#);
        let expected = format!("`params.levels[{index}]`: `loud` is no logging level");
        assert!(told(&text).starts_with(&expected), "{text}: {}", told(&text));
    }
}

#[test]
fn odd_names_are_quoted_in_a_path() {
    let error = read::<BTreeMap<String, Item>>(r#"{"a.b/\"c\"":7}"#).unwrap_err();
    assert_eq!(error.path(), r#"["a.b/\"c\""]"#);
    assert_eq!(error.at_member("é").path(), r#"é["a.b/\"c\""]"#);
}

#[test]
fn text_on_several_lines_has_paths_too() {
    let text =
        "{\n  \"count\": 1,\n  \"items\": [\n    {\"price\": 1},\n    {\"price\": \"}\"}\n  ]\n}";
    assert_eq!(told(text), "`params.items[1].price`: expected a number, found the string \"}\"");
}

#[test]
fn text_that_is_not_json_is_reported_with_its_position() {
    let error = read::<Order>("{\"count\":").unwrap_err();
    assert!(!error.is_json());
    assert_eq!(error.to_string(), "not JSON: EOF while parsing a value at byte 9");
    let error = read::<Order>("\u{feff}{\"count\":1}").unwrap_err();
    assert_eq!(error.to_string(), "not JSON: expected value at byte 1");
    assert!(read::<Order>("[]").unwrap_err().is_json());
}

// spec: RPC-14
#[test]
fn what_a_peer_wrote_is_repeated_only_in_part() {
    let long = "x".repeat(10_000);
    for text in [
        format!(r#"{{"count":"{long}"}}"#),
        format!(r#"{{"count":1,"shape":"{long}"}}"#),
        format!(r#"{{"count":1,"by_shelf":{{"{long}":1}}}}"#),
    ] {
        assert!(told(&text).len() < 250, "{}", told(&text));
    }
}

/// Whether arrays are refused where a type wants an object.
fn refuses_arrays<T: for<'de> Deserialize<'de>>() -> bool {
    ["[]", r#"["a"]"#, r#"["a","b","c","d"]"#, "[true,true,true,[]]", "[0.5,0.5,0.5]", "[{},{},{}]"]
        .iter()
        .all(|text| {
            read::<T>(text).is_err_and(|error| error.reason().starts_with("expected an object"))
        })
}

#[test]
fn nothing_that_peers_send_is_read_from_an_array_by_position() {
    assert!(refuses_arrays::<SubscriptionFilter>());
    assert!(refuses_arrays::<ListenParams>());
    assert!(refuses_arrays::<Root>());
    assert!(refuses_arrays::<ModelPreferences>());
    assert!(refuses_arrays::<CompletionContext>());
    assert!(refuses_arrays::<CompleteParams>());
    assert!(refuses_arrays::<Annotations>());
    assert!(refuses_arrays::<ErrorObject>());
    assert!(refuses_arrays::<ProgressParams>());
    assert!(refuses_arrays::<GetPromptParams>());
    assert!(refuses_arrays::<CallToolParams>());
    assert!(refuses_arrays::<ToolDefinition>());
    assert!(refuses_arrays::<ResourceDefinition>());
    assert!(refuses_arrays::<Icon>());
    assert!(refuses_arrays::<Implementation>());
    assert!(refuses_arrays::<ClientCapabilities>());
    assert!(refuses_arrays::<ServerCapabilities>());
    assert!(refuses_arrays::<Meta>());
    assert!(read::<Content>("[]").is_err());
}
