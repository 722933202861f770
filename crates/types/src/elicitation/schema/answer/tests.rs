//! Answers that fit their form, and the problems of those that do not.

use super::*;
use crate::elicitation::schema::{BooleanSchema, StringFormat};

fn form() -> FormSchema {
    FormSchema::new()
        .with_required("name", StringSchema::new().with_min_length(2).with_max_length(5))
        .with_optional("mail", StringSchema::new().with_format(StringFormat::Email))
        .with_optional(
            "age",
            FormField::integer(NumberSchema::new().with_minimum(0).with_maximum(150)),
        )
        .with_optional("height", FormField::number(NumberSchema::new()))
        .with_optional("member", BooleanSchema::new().with_default(true))
        .with_optional("class", SelectSchema::new(["economy", "business"]).with_default("economy"))
        .with_optional(
            "meals",
            MultiSelectSchema::new(["fish", "meat"]).with_min_items(1).with_max_items(2),
        )
}

fn object(text: &str) -> Object {
    serde_json::from_str(text).unwrap()
}

fn complaint(text: &str) -> String {
    form().check(&object(text)).unwrap_err().to_string()
}

// spec: ELIC-27, ELIC-57, ELIC-58
#[test]
fn an_answer_that_fits_is_given_back() {
    let text = concat!(
        r#"{"name":"Ada","mail":"ada@example.com","age":36,"height":1.65,"member":false,"#,
        r#""class":"business","meals":["fish","meat"],"unasked":[1]}"#
    );
    assert_eq!(form().check(&object(text)).unwrap().as_str(), text);
    assert_eq!(form().check(&object(r#"{"name":"Ada"}"#)).unwrap().as_str(), r#"{"name":"Ada"}"#);
}

// spec: ELIC-58
#[test]
fn an_answer_that_does_not_fit_names_each_field_and_why() {
    for (answer, reason) in [
        (r#""name":7"#, "`name`: expected text, found `7`"),
        (r#""name":"A""#, "`name`: it has 1 character, fewer than 2"),
        (r#""name":"Adelheid""#, "`name`: it has 8 characters, more than 5"),
        (r#""name":"Ada","mail":"x""#, "`mail`: `x` does not look like a mail address"),
        (r#""name":"Ada","age":-1"#, "`age`: -1 is less than 0"),
        (r#""name":"Ada","age":151"#, "`age`: 151 is more than 150"),
        (r#""name":"Ada","age":1.5"#, "`age`: expected a whole number, found `1.5`"),
        (r#""name":"Ada","age":"1""#, "`age`: expected a whole number, found `\"1\"`"),
        (r#""name":"Ada","height":true"#, "`height`: expected a number, found `true`"),
        (r#""name":"Ada","member":1"#, "`member`: expected `true` or `false`, found `1`"),
        (r#""name":"Ada","class":"x""#, "`class`: `x` is none of `economy`, `business`"),
        (r#""name":"Ada","meals":"fish""#, "`meals`: expected a list of texts"),
        (r#""name":"Ada","meals":[]"#, "`meals`: it has 0 choices, fewer than 1"),
        (r#""name":"Ada","meals":["fish","x"]"#, "`meals`: `x` is none of"),
        (r#""name":"Ada","meals":["fish","fish","fish"]"#, "it has 3 choices, more than 2"),
    ] {
        let complaint = complaint(&format!("{{{answer}}}"));
        assert!(complaint.contains(reason), "{complaint}");
    }
}

#[test]
fn all_problems_are_reported_at_once() {
    let error = form().check(&object(r#"{"age":-1,"member":0}"#)).unwrap_err();
    let fields: Vec<_> = error.problems().map(|(field, _)| field).collect();
    assert_eq!(fields, ["age", "member", "name"]);
    assert!(error.to_string().ends_with("; `name`: it is required but missing"), "{error}");
}

#[test]
fn null_means_missing() {
    assert!(complaint(r#"{"name":null}"#).contains("`name`: it is required but missing"));
    let checked = form().check(&object(r#"{"name":"Ada","age":null}"#)).unwrap();
    assert_eq!(checked.as_str(), r#"{"name":"Ada"}"#);
}

#[test]
fn whole_numbers_are_given_back_as_such_however_they_were_spelled() {
    for (spelled, meant) in [("36.0", "36"), ("3.6e1", "36"), ("0", "0")] {
        let checked =
            form().check(&object(&format!(r#"{{"name":"Ada","age":{spelled}}}"#))).unwrap();
        assert_eq!(checked.as_str(), format!(r#"{{"name":"Ada","age":{meant}}}"#));
    }
}

#[test]
fn large_integers_are_compared_exactly() {
    let limit = FormField::integer(NumberSchema::new().with_maximum(u64::MAX - 1));
    let form = FormSchema::new().with_required("n", limit);
    assert!(form.check(&object(r#"{"n":18446744073709551614}"#)).is_ok());
    assert!(form.check(&object(r#"{"n":18446744073709551615}"#)).is_err());
}

#[test]
fn text_is_counted_in_characters_and_not_in_bytes() {
    assert!(form().check(&object(r#"{"name":"Ünéöß"}"#)).is_ok());
}

// spec: ELIC-22
#[test]
fn defaults_fill_what_is_left_open() {
    let filled = form().fill_defaults(&object(r#"{"class":"business","member":null}"#));
    assert_eq!(filled.as_str(), r#"{"class":"business","member":true}"#);
    let filled = form().fill_defaults(&Object::default());
    assert_eq!(filled.as_str(), r#"{"member":true,"class":"economy"}"#);
}

#[test]
fn an_answer_that_names_a_field_twice_is_refused() {
    assert!(complaint(r#"{"name":"Ada","name":"Bob"}"#).contains("member `name` occurs twice"));
}
