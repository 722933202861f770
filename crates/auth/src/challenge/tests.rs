//! Tests of reading and writing `WWW-Authenticate`.

use proptest::prelude::*;

use super::*;

fn headers(values: &[&str]) -> HeaderMap {
    let value = |value: &&str| HeaderValue::from_bytes(value.as_bytes()).unwrap();
    values.iter().map(|text| (WWW_AUTHENTICATE, value(text))).collect()
}

/// The challenges of an answer, as we would write them.
fn read(values: &[&str]) -> Vec<String> {
    Challenge::read(&headers(values)).iter().map(ToString::to_string).collect()
}

#[test]
fn the_parameters_of_a_challenge_are_read_in_any_order() {
    let text = r#"Bearer scope="mcp admin", resource_metadata="https://a.example/x?y=z,w", error=invalid_token"#;
    let challenges = Challenge::read(&headers(&[text]));
    let [challenge] = challenges.as_slice() else { panic!("{challenges:?}") };
    assert!(challenge.is("bearer") && challenge.scheme() == "Bearer");
    assert_eq!(challenge.value("scope"), Some("mcp admin"));
    assert_eq!(challenge.value("resource_metadata"), Some("https://a.example/x?y=z,w"));
    assert_eq!((challenge.value("error"), challenge.value("realm")), (Some("invalid_token"), None));
}

#[test]
fn many_challenges_in_one_or_several_headers_are_read() {
    let expected =
        [r#"Basic realm="a""#, "Negotiate", r#"Bearer error="b""#, r#"DPoP algs="ES256 EdDSA""#];
    let one = r#"Basic realm="a", Negotiate, Bearer error="b", DPoP algs="ES256 EdDSA""#;
    assert_eq!(read(&[one]), expected);
    let several =
        [r#"Basic realm="a""#, "Negotiate,,", r#",Bearer error=b,DPoP algs="ES256 EdDSA""#];
    assert_eq!(read(&several), expected);
}

#[test]
fn quoted_values_may_hold_anything() {
    assert_eq!(
        read(&[r#"Bearer a="x\"y\\z, Basic realm=\"q\"", b="""#]),
        [r#"Bearer a="x\"y\\z, Basic realm=\"q\"", b="""#]
    );
    let challenges = Challenge::read(&headers(&["Bearer a=\"é\""]));
    assert_eq!(challenges[0].value("a"), Some("é"));
}

#[test]
fn names_are_case_insensitive_and_spaces_around_equals_are_skipped() {
    assert_eq!(read(&["bearer Scope = \"a\" ,\tERROR\t=b"]), [r#"bearer scope="a", error="b""#]);
}

#[test]
fn values_without_quotes_and_parameters_without_commas_are_understood() {
    assert_eq!(
        read(&["Bearer resource_metadata=https://a.example/x scope=\"a\" error=b"]),
        [r#"Bearer resource_metadata="https://a.example/x", scope="a", error="b""#]
    );
}

#[test]
fn a_value_without_a_name_is_skipped() {
    assert_eq!(read(&["Negotiate abc==, Bearer a=b"]), ["Negotiate", r#"Bearer a="b""#]);
    assert_eq!(read(&["Negotiate oYG/+== , Bearer"]), ["Negotiate", "Bearer"]);
}

#[test]
fn hostile_text_gives_the_challenges_before_it() {
    for text in [
        r#"Basic, Bearer a="unterminated"#,
        r#"Basic, Bearer a="unterminated\"#,
        "Basic, Bearer a=",
        "Basic, Bearer a=,b=c",
        "Basic, (",
        "Basic, =a",
        "Basic, \"a\"",
        "Basic, Bearer a=b, \u{fffd}",
    ] {
        let found = read(&[text]);
        assert_eq!(found.first().map(String::as_str), Some("Basic"), "{text}: {found:?}");
        assert!(found.len() <= 2, "{text}: {found:?}");
    }
    for (text, expected) in [
        ("Bearer =x", &["Bearer"][..]),
        ("Bearer x=y, a=, b=c", &[]),
        ("Bearer a=b\"c\"", &[r#"Bearer a="b""#]),
        ("Negotiate ==, Bearer a=b", &["Negotiate"]),
    ] {
        assert_eq!(read(&[text]), expected, "{text}");
    }
    assert_eq!(read(&["", ",", " ", "\"", "=", "Bearer\u{0080}"]), [""; 0]);
}

#[test]
fn a_challenge_with_a_parameter_twice_is_left_out() {
    assert_eq!(read(&["Bearer scope=a, error=b, Scope=c"]), [""; 0]);
    assert_eq!(read(&[r#"Bearer scope=a, Scope=b, Basic realm="c""#]), [r#"Basic realm="c""#]);
}

#[test]
fn challenges_are_bounded() {
    assert_eq!(read(&[&"A,".repeat(100)]).len(), MOST_CHALLENGES);
    assert_eq!(read(&["A"; 100]).len(), MOST_CHALLENGES);
    let parameters = |count: usize| (0..count).map(|n| format!("p{n}=1,")).collect::<String>();
    assert_eq!(read(&[&format!("A {}", parameters(MOST_PARAMETERS))]).len(), 1);
    assert_eq!(read(&[&format!("A {}", parameters(MOST_PARAMETERS + 1))]).len(), 0);
    let long = |length: usize| format!("A a=\"{}\"", "x".repeat(length - 6));
    assert_eq!(read(&[&long(MOST_BYTES)]).len(), 1);
    assert_eq!(read(&[&long(MOST_BYTES + 1)]).len(), 0);
    assert_eq!(read(&["B", &long(MOST_BYTES)]), ["B"]);
}

#[test]
fn what_is_not_ascii_is_not_written() {
    let challenge = Challenge::new("Bearer").with("Error_Description", "a\r\nb\u{e9}");
    assert_eq!(challenge.to_header(), r#"Bearer error_description="a??b?""#);
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(schemes in prop::collection::vec("[A-Za-z][A-Za-z0-9-]{0,8}", 1..4), names in prop::collection::btree_set("[a-z_]{1,8}", 0..5), value in "[ -~]{0,20}") {
        let challenge = |scheme: &String| names.iter().fold(Challenge::new(scheme), |all, name| all.with(name, &value));
        let written: Vec<Challenge> = schemes.iter().map(challenge).collect();
        let text = written.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        prop_assert_eq!(Challenge::read(&headers(&[&text])), written);
    }

    #[test]
    fn nothing_makes_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..60), text in "[A-Za=\", \\\\\t]{0,40}") {
        for value in [HeaderValue::from_bytes(&bytes), HeaderValue::from_bytes(text.as_bytes())].into_iter().flatten() {
            let found = Challenge::read(&HeaderMap::from_iter([(WWW_AUTHENTICATE, value)]));
            for challenge in found {
                prop_assert_eq!(Challenge::read(&HeaderMap::from_iter([(WWW_AUTHENTICATE, challenge.to_header())])).len(), 1);
            }
        }
    }
}
