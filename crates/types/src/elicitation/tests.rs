//! Elicitation on the wire, and the check of URLs.

use super::*;
use crate::round_trip::round_trip;

fn read(text: &str) -> ElicitParams {
    serde_json::from_str(text).unwrap()
}

// spec: ELIC-15, ELIC-18, ELIC-24
#[test]
fn questions_are_written_as_they_were_read() {
    for text in [
        concat!(
            r#"{"message":"Who are you?","requestedSchema":{"type":"object","#,
            r#""properties":{"name":{"type":"string"}},"required":["name"]}}"#
        ),
        r#"{"mode":"url","message":"Sign in","url":"https://example.com/in"}"#,
        concat!(
            r#"{"mode":"url","message":"Sign in","url":"https://example.com/in","#,
            r#""elicitationId":"550e","task":{"ttl":1}}"#
        ),
    ] {
        assert_eq!(serde_json::to_string(&read(text)).unwrap(), text);
    }
}

// spec: ELIC-16, ELIC-17
#[test]
fn a_question_without_mode_is_a_form() {
    let schema = r#""requestedSchema":{"type":"object","properties":{}}"#;
    for mode in ["", r#""mode":"form","#, r#""mode":null,"#] {
        let params = read(&format!(r#"{{{mode}"message":"m",{schema}}}"#));
        assert_eq!(params, ElicitParams::form("m", FormSchema::new()), "{mode}");
    }
}

// spec: ELIC-6
#[test]
fn an_unknown_mode_survives_to_be_refused() {
    let text = r#"{"mode":"telepathy","message":"m"}"#;
    let params = read(text);
    assert!(matches!(params, ElicitParams::Other(_)));
    assert_eq!(serde_json::to_string(&params).unwrap(), text);
}

// spec: ELIC-15, ELIC-18, ELIC-24
#[test]
fn a_question_that_lacks_something_says_what() {
    let error = |text: &str| serde_json::from_str::<ElicitParams>(text).unwrap_err().to_string();
    let form = error(r#"{"message":"m"}"#);
    assert!(form.contains("elicitation of type `form`: `requestedSchema`: missing"), "{form}");
    let url = error(r#"{"mode":"url","message":"m"}"#);
    assert!(url.contains("elicitation of type `url`: `url`: missing"), "{url}");
}

// spec: ELIC-5
#[test]
fn each_mode_needs_its_own_declaration() {
    let form = ElicitParams::form("m", FormSchema::new()).required_capabilities();
    assert!(form.supports_form_elicitation() && !form.supports_url_elicitation());
    let url = ElicitParams::url("m", "https://example.com").required_capabilities();
    assert!(!url.supports_form_elicitation() && url.supports_url_elicitation());
}

// spec: ELIC-25
#[test]
fn a_url_is_one_that_a_browser_opens() {
    for good in ["https://example.com", "HTTP://localhost:3000/a?b#c", "https://u@[::1]/"] {
        assert_eq!(UrlParams::new("m", good).check_url(), Ok(()), "{good}");
    }
    for bad in [
        "",
        "example.com",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "data://x",
        "https://",
        "https:///path",
        "https://:80/",
        "https://user@/",
        "https://exa mple.com",
        "https://example.com/\n",
    ] {
        assert!(UrlParams::new("m", bad).check_url().is_err(), "{bad}");
    }
}

// spec: ELIC-27
#[test]
fn an_answer_is_accept_decline_or_cancel() {
    let text = r#"{"action":"accept","content":{"name":"Ada","tags":["a"],"n":1.5}}"#;
    round_trip::<ElicitResult>(text);
    let declined: ElicitResult =
        serde_json::from_str(r#"{"action":"decline","content":null}"#).unwrap();
    assert_eq!(declined, ElicitResult::decline());
    let cancelled: ElicitResult = serde_json::from_str(r#"{"action":"cancel"}"#).unwrap();
    assert_eq!(cancelled, ElicitResult::cancel());
    let error = serde_json::from_str::<ElicitResult>(r#"{"action":"maybe"}"#).unwrap_err();
    assert!(error.to_string().contains("`accept`, `decline`, `cancel`"), "{error}");
}

// spec: ELIC-38, ELIC-39
#[test]
fn required_elicitations_are_listed_with_mode_and_id() {
    let params = UrlParams::new("Sign in", "https://example.com").with_elicitation_id("e1");
    let required = UrlElicitationRequired::new(vec![params]);
    let text = serde_json::to_string(&required).unwrap();
    let expected = concat!(
        r#"{"elicitations":[{"mode":"url","message":"Sign in","#,
        r#""url":"https://example.com","elicitationId":"e1"}]}"#
    );
    assert_eq!(text, expected);
    assert_eq!(serde_json::from_str::<UrlElicitationRequired>(&text).unwrap(), required);
}

// spec: ELIC-32
#[test]
fn completion_names_the_question() {
    let text = r#"{"elicitationId":"e1"}"#;
    let params: ElicitationCompleteParams = serde_json::from_str(text).unwrap();
    assert_eq!(params, ElicitationCompleteParams::new("e1"));
}
