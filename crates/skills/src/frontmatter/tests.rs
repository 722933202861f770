//! Tests of reading and comparing frontmatter.

use proptest::prelude::*;

use super::*;

fn skill(fields: &str) -> String {
    format!("---\nname: greet\ndescription: Say hello\n{fields}---\n\nText\n")
}

fn frontmatter(fields: &str) -> Frontmatter {
    Frontmatter::of_skill(&skill(fields)).unwrap()
}

// spec: SKL-10
#[test]
fn every_field_is_written_as_json_in_the_order_of_the_author() {
    let yaml = "license: MIT\nmetadata:\n  version: 1.5\n  tags: [a, b]\nz: true\n";
    let expected = r#"{"name":"greet","description":"Say hello","license":"MIT","metadata":{"version":1.5,"tags":["a","b"]},"z":true}"#;
    assert_eq!(serde_json::to_string(&frontmatter(yaml)).unwrap(), expected);
    assert_eq!(serde_json::from_str::<Frontmatter>(expected).unwrap(), frontmatter(yaml));
}

#[test]
fn the_head_ends_at_the_next_line_of_hyphens() {
    for text in [
        "---\nname: a\ndescription: b\n---",
        "---\r\nname: a\r\ndescription: b\r\n---\r\nText --- more\r\n---\r\n",
        "\u{feff}---\nname: a\ndescription: b\n---  \nname: c\n",
    ] {
        let read = Frontmatter::of_skill(text).unwrap();
        assert_eq!((read.name(), read.description()), ("a", "b"), "{text:?}");
    }
}

#[test]
fn a_bad_head_is_refused_with_its_line() {
    for (text, expected) in [
        ("", "line 1: the file must begin with a line `---`"),
        ("# Title", "line 1: the file must begin with a line `---`"),
        ("---\nname: a\n", "line 1: no second line `---` ends the frontmatter"),
        ("---\n- a\n---\n", "line 2: the frontmatter is not a list of `name: value`"),
        ("---\nname: a\n---\n", "the frontmatter has no `description`"),
        ("---\nname: 7\ndescription: b\n---\n", "`name` is not a text; quote it"),
        ("---\nname: a\ndescription: ''\n---\n", "`description` is empty"),
        ("---\nname: a\nname: b\n---\n", "line 3: duplicate key `name`"),
    ] {
        assert_eq!(Frontmatter::of_skill(text).unwrap_err().to_string(), expected);
    }
    let long = skill(&format!("x: {}\n", "y".repeat(MOST_BYTES)));
    let error = Frontmatter::of_skill(&long).unwrap_err().to_string();
    assert_eq!(error, "the frontmatter is longer than 65536 bytes");
}

#[test]
fn numbers_are_compared_by_value_and_maps_without_order() {
    let listed = |fields: &str| {
        let text = format!(r#"{{"description":"Say hello","name":"greet",{fields}}}"#);
        serde_json::from_str::<Frontmatter>(&text).unwrap()
    };
    let read = frontmatter("metadata:\n  a: 1.0\n  b: x\n");
    assert_eq!(read.difference(&listed(r#""metadata":{"b":"x","a":1}"#)), None);
    for other in [
        r#""metadata":{"b":"x","a":2}"#,
        r#""metadata":{"b":"x","a":"1.0"}"#,
        r#""metadata":{"b":"x"}"#,
        r#""metadata":{"b":"x","a":1,"c":null}"#,
    ] {
        assert_eq!(read.difference(&listed(other)), Some("metadata"), "{other}");
    }
    let more = listed(r#""metadata":{"b":"x","a":1},"license":"MIT""#);
    assert_eq!(read.difference(&more), Some("license"));
    assert_eq!(more.difference(&read), Some("license"));
}

#[test]
fn an_entry_needs_the_fields_that_every_skill_has() {
    for bad in ["[]", "{}", r#"{"name":"a"}"#, r#"{"name":"a","description":1}"#] {
        assert!(serde_json::from_str::<Frontmatter>(bad).unwrap().check().is_err(), "{bad}");
    }
    let twice = r#"{"name":"a","name":"b","description":"c"}"#;
    let error = serde_json::from_str::<Frontmatter>(twice).unwrap_err().to_string();
    assert!(error.starts_with("duplicate member `name`"), "{error}");
}

#[test]
fn a_map_has_a_bounded_number_of_members() {
    let members = |count: usize| {
        let members: Vec<_> = (0..count).map(|place| format!(r#""m{place}":0"#)).collect();
        format!("{{{}}}", members.join(","))
    };
    assert!(serde_json::from_str::<Frontmatter>(&members(MOST_MEMBERS)).is_ok());
    let error = serde_json::from_str::<Frontmatter>(&members(MOST_MEMBERS + 1)).unwrap_err();
    assert!(error.to_string().starts_with("a map has more than 1024 members"), "{error}");
    let yaml: String = (0..=MOST_MEMBERS).map(|place| format!("m{place}: 0\n")).collect();
    let error = Frontmatter::of_skill(&skill(&yaml)).unwrap_err();
    assert_eq!(error.to_string(), "line 1026: a map has more than 1024 members");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in r#"[-a: \n'"\[\]{},&*!|>#%\t0.é\r]{0,60}"#) {
        if let Ok(read) = Frontmatter::of_skill(&skill(&format!("{text}\n"))) {
            let json = serde_json::to_string(&read).unwrap();
            prop_assert_eq!(serde_json::from_str::<Frontmatter>(&json).unwrap(), read);
        }
    }
}
