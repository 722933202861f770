//! Tests of arguments from the command line.

use bowline_types::json::Schema;

use super::*;

const SCHEMA: &str = r#"{"type":"object","properties":{
    "text":{"type":"string"},"count":{"type":"integer"},"ratio":{"type":"number"},
    "sure":{"type":"boolean"},"tags":{"type":"array","items":{"type":"string"}},
    "numbers":{"type":"array","items":{"type":"integer"}},"place":{"type":"object"},
    "maybe":{"type":["string","null"]},"any":{}},"required":["text"]}"#;

fn parameters(schema: &str) -> ToolParameters {
    ToolParameters::of(&Schema::new(RawJson::from_text(schema).unwrap()).unwrap())
}

fn read_with(schema: &str, words: &[&str], json: Option<&str>) -> Result<String, String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    let words = Words { words: &words, json, input: None };
    let read = words.read(&parameters(schema));
    read.map(|object| object.as_str().to_owned()).map_err(|failure| failure.to_string())
}

fn read(words: &[&str]) -> Result<String, String> {
    read_with(SCHEMA, &[&["text=x"], words].concat(), None)
        .map(|json| json.replacen(r#""text":"x","#, "", 1))
}

#[test]
fn values_have_the_types_of_the_schema() {
    assert_eq!(read_with(SCHEMA, &["text=1"], None).unwrap(), r#"{"text":"1"}"#);
    assert_eq!(read(&["count=7"]).unwrap(), r#"{"count":7}"#);
    assert_eq!(read(&["count=-1"]).unwrap(), r#"{"count":-1}"#);
    assert_eq!(read(&["ratio=1.50"]).unwrap(), r#"{"ratio":1.50}"#);
    assert_eq!(read(&["sure=false"]).unwrap(), r#"{"sure":false}"#);
    assert_eq!(read(&[r#"place={"x":1}"#]).unwrap(), r#"{"place":{"x":1}}"#);
    assert_eq!(read(&["maybe=null"]).unwrap(), r#"{"maybe":null}"#);
    assert_eq!(read(&["maybe=a=b"]).unwrap(), r#"{"maybe":"a=b"}"#);
    assert_eq!(read(&["any=[1]"]).unwrap(), r#"{"any":[1]}"#);
    assert_eq!(read(&["any=plain words"]).unwrap(), r#"{"any":"plain words"}"#);
    assert_eq!(read(&["other=1"]).unwrap(), r#"{"other":1}"#);
}

#[test]
fn an_array_is_json_or_a_repeated_key() {
    assert_eq!(read(&[r#"tags=["a","b"]"#]).unwrap(), r#"{"tags":["a","b"]}"#);
    assert_eq!(read(&["tags=a", "tags=2"]).unwrap(), r#"{"tags":["a","2"]}"#);
    assert_eq!(read(&["numbers=1", "numbers=2"]).unwrap(), r#"{"numbers":[1,2]}"#);
    assert_eq!(read(&["count=1", "count=2"]).unwrap_err(), "`count` is given twice");
}

#[test]
fn an_element_that_the_schema_does_not_list_is_refused() {
    let schema = r##"{"type":"object","properties":{"sizes":{"type":"array",
        "items":{"$ref":"#/$defs/Size"}}},"$defs":{"Size":{"enum":["small","large"]}}}"##;
    let read = |words: &[&str]| read_with(schema, words, None);
    assert_eq!(read(&["sizes=small", "sizes=large"]).unwrap(), r#"{"sizes":["small","large"]}"#);
    assert_eq!(read(&[r#"sizes=["large"]"#]).unwrap(), r#"{"sizes":["large"]}"#);
    assert_eq!(read(&[r#"sizes:=["huge"]"#]).unwrap(), r#"{"sizes":["huge"]}"#);
    for words in [&["sizes=small", "sizes=huge"][..], &[r#"sizes=["small","huge"]"#]] {
        let error = read(words).unwrap_err();
        assert!(error.starts_with("`sizes`: expected one of"), "{error}");
        assert!(error.ends_with("found `huge`"), "{error}");
    }
}

#[test]
fn raw_json_ignores_the_schema() {
    assert_eq!(read(&[r#"count:="seven""#]).unwrap(), r#"{"count":"seven"}"#);
    assert!(read(&["count:=seven"]).unwrap_err().starts_with("`count`: `seven` is no JSON"));
}

#[test]
fn an_error_names_the_key_and_the_type() {
    assert_eq!(read(&["count=1.5"]).unwrap_err(), "`count`: expected an integer, found `1.5`");
    assert_eq!(read(&["sure=yes"]).unwrap_err(), "`sure`: expected `true` or `false`, found `yes`");
    assert_eq!(read(&["place=here"]).unwrap_err(), "`place`: expected an object, found `here`");
    assert_eq!(read(&["numbers=a"]).unwrap_err(), "`numbers`: expected an integer, found `a`");
    assert_eq!(read(&["hello"]).unwrap_err(), "`hello`: expected `key=value`");
    assert_eq!(read_with(SCHEMA, &[], None).unwrap_err(), "missing argument: `text` (string)");
}

#[test]
fn a_tool_that_takes_no_others_refuses_an_unknown_key() {
    let closed = r#"{"properties":{"a":{}},"additionalProperties":false}"#;
    assert_eq!(read_with(closed, &["b=1"], None).unwrap_err(), "the tool has no argument `b`");
}

#[test]
fn json_gives_all_arguments_and_words_add_to_it() {
    let read = |words: &[&str], json| read_with(SCHEMA, words, Some(json));
    assert_eq!(read(&[], r#"{"count":1}"#).unwrap(), r#"{"count":1}"#);
    assert_eq!(read(&["sure=true"], r#"{"count":1}"#).unwrap(), r#"{"count":1,"sure":true}"#);
    assert_eq!(read(&["count=2"], r#"{"count":1}"#).unwrap_err(), "`count` is given twice");
    assert_eq!(read(&[], "[1]").unwrap_err(), r#"--args: expected a JSON object such as {"a": 1}"#);
}
