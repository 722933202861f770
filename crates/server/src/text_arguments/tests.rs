//! Texts are read as the types that handlers take.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::*;

fn words(values: &[(&str, &str)]) -> TextArguments {
    let names = values.iter().map(|(name, _)| (*name).to_owned()).collect();
    TextArguments::of_uri(values.iter().copied().collect(), names)
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Kind,
    Stern,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Review {
    language: String,
    lines: u16,
    strict: bool,
    tone: Tone,
    weight: Option<f64>,
    #[serde(default)]
    tags: Vec<String>,
}

#[test]
fn texts_are_read_as_what_the_type_wants() {
    let given = [("language", "42"), ("lines", " 42 "), ("strict", "true"), ("tone", "stern")];
    let review: Review = words(&given).decode().unwrap();
    let expected = Review {
        language: "42".to_owned(),
        lines: 42,
        strict: true,
        tone: Tone::Stern,
        weight: None,
        tags: Vec::new(),
    };
    assert_eq!(review, expected);
}

#[test]
fn a_text_that_does_not_fit_is_named() {
    for (name, text, expected) in [
        ("lines", "x", r#"`variables.lines`: expected a whole number from 0 to 65535, found "x""#),
        (
            "lines",
            "70000",
            r#"`variables.lines`: expected a whole number from 0 to 65535, found "70000""#,
        ),
        ("strict", "yes", r#"`variables.strict`: expected `true` or `false`, found "yes""#),
        ("weight", "heavy", r#"`variables.weight`: expected a number, found "heavy""#),
        ("tone", "rude", "`variables.tone`: unknown variant `rude`, expected `kind` or `stern`"),
        ("tags", "[1", "`variables.tags[0]`: expected a string, found the number 1"),
    ] {
        let mut given = BTreeMap::from([
            ("language", "rust"),
            ("lines", "1"),
            ("strict", "false"),
            ("tone", "kind"),
        ]);
        given.insert(name, text);
        let given: Vec<_> = given.into_iter().collect();
        assert_eq!(words(&given).decode::<Review>().unwrap_err(), expected);
    }
}

#[test]
fn a_text_that_is_missing_is_named() {
    let error = words(&[("language", "rust")]).decode::<Review>().unwrap_err();
    assert_eq!(error, "`variables.lines`: missing");
}

#[test]
fn a_text_left_empty_is_an_option_left_out() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Options {
        count: Option<u8>,
        name: Option<String>,
        text: String,
    }
    let given = words(&[("count", ""), ("name", ""), ("text", "")]);
    let expected = Options { count: None, name: None, text: String::new() };
    assert_eq!(given.decode::<Options>().unwrap(), expected);
}

#[test]
fn what_is_more_than_a_text_is_written_as_json() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Search {
        tags: Vec<String>,
        place: BTreeMap<String, i8>,
    }
    let given = words(&[("tags", r#"["a,b","c"]"#), ("place", r#"{"x":-1}"#)]);
    let search: Search = given.decode().unwrap();
    assert_eq!(search.tags, ["a,b", "c"]);
    assert_eq!(search.place, BTreeMap::from([("x".to_owned(), -1)]));
    let alone = words(&[("tags", "one"), ("place", "nowhere")]);
    let error = alone.decode::<Search>().unwrap_err();
    assert_eq!(error, r#"`variables.place`: expected an object written as JSON, found "nowhere""#);
}

#[test]
fn lists_and_pairs_of_a_uri_are_read_as_such() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Query {
        ids: Vec<u8>,
        filter: BTreeMap<String, String>,
        joined: String,
    }
    let list =
        |items: &[&str]| TemplateValue::List(items.iter().map(|&item| item.to_owned()).collect());
    let values = Variables::new()
        .with("ids", list(&["1", "2"]))
        .with("joined", list(&["a", "b"]))
        .with("filter", TemplateValue::Pairs(vec![("a".to_owned(), "1".to_owned())]));
    let given = TextArguments::of_uri(values, Arc::default());
    let query: Query = given.decode().unwrap();
    assert_eq!((query.ids, query.joined.as_str()), (vec![1, 2], "a,b"));
    assert_eq!(query.filter, BTreeMap::from([("a".to_owned(), "1".to_owned())]));
    let json = r#"{"filter":{"a":"1"},"ids":["1","2"],"joined":["a","b"]}"#;
    assert_eq!(given.json(), json.as_bytes());
}

#[test]
fn texts_are_read_by_their_place_too() {
    let names: Arc<[String]> = ["id", "page"].map(str::to_owned).into();
    let given = TextArguments::of_uri(Variables::new().with("id", "7"), names);
    assert_eq!(given.decode_at::<u8>(0), Ok(7));
    assert_eq!(given.decode_at::<Option<u8>>(1), Ok(None));
    assert_eq!(given.decode_at::<Vec<u8>>(1), Ok(Vec::new()));
    assert_eq!(given.decode_at::<u8>(1).unwrap_err(), "`variables.page`: missing");
    assert_eq!(
        given.decode_at::<bool>(0).unwrap_err(),
        r#"`variables.id`: expected `true` or `false`, found "7""#
    );
}
