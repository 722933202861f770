//! Answers of token endpoints, good and bad.

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;

use super::*;

fn answer(status: u16, body: &str) -> Fetched {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, "application/json".parse().unwrap());
    let status = StatusCode::from_u16(status).unwrap();
    Fetched { status, headers, body: Bytes::copy_from_slice(body.as_bytes()) }
}

fn read_answer(body: &str, key: Option<&DpopKey>) -> Result<Tokens, Error> {
    let scopes = Scopes::parse("a b").unwrap();
    Asked { scopes: &scopes, key }.read(&answer(200, body), &Moment::fixed(10, 0))
}

#[test]
fn a_token_answer_is_read() {
    let tokens = read_answer(
        r#"{"access_token":"t","token_type":"bEaReR","expires_in":60,"scope":"a","refresh_token":"r","x":1}"#,
        None,
    );
    let tokens = tokens.unwrap();
    assert_eq!((tokens.access.expose().as_str(), tokens.kind), ("t", TokenKind::Bearer));
    assert_eq!(
        (tokens.life, tokens.scopes.to_string()),
        (Some(Duration::from_secs(60)), "a".into())
    );
    assert!(tokens.refresh.is_some());
}

// spec: REFR-4
#[test]
fn an_answer_without_refresh_token_scope_and_expiry_is_fine() {
    let tokens = read_answer(r#"{"access_token":"t","token_type":"Bearer"}"#, None).unwrap();
    assert!(tokens.refresh.is_none() && tokens.life.is_none());
    assert_eq!(tokens.scopes.to_string(), "a b");
}

#[test]
fn the_life_of_a_token_may_be_a_text_and_is_bounded() {
    let life = |value: &str| {
        let body = format!(r#"{{"access_token":"t","token_type":"Bearer","expires_in":{value}}}"#);
        read_answer(&body, None).ok().and_then(|tokens| tokens.life)
    };
    assert_eq!(life("\"90\""), Some(Duration::from_secs(90)));
    assert_eq!(life("1.5"), Some(Duration::from_secs_f64(1.5)));
    assert_eq!(life("-5"), Some(Duration::ZERO));
    assert_eq!(life("18446744073709551615"), Some(LONGEST_LIFE));
    assert_eq!(life("null"), None);
}

#[test]
fn a_refresh_token_is_bounded() {
    let read = |length: usize| {
        let token = "r".repeat(length);
        let body =
            format!(r#"{{"access_token":"t","token_type":"Bearer","refresh_token":"{token}"}}"#);
        read_answer(&body, None)
    };
    assert!(read(MOST_TOKEN).is_ok());
    assert!(read(MOST_TOKEN + 1).unwrap_err().is_too_large());
}

#[test]
fn a_token_of_another_type_is_refused() {
    let key = DpopKey::generate().unwrap();
    let body = |kind: &str| format!(r#"{{"access_token":"t","token_type":"{kind}"}}"#);
    assert!(read_answer(&body("DPoP"), None).unwrap_err().is_login());
    assert!(read_answer(&body("mac"), None).is_err());
    // A server that ignores the proof gives a token that is bound to nothing.
    assert!(read_answer(&body("Bearer"), Some(&key)).is_err());
    assert_eq!(read_answer(&body("dpop"), Some(&key)).unwrap().kind, TokenKind::DPoP);
}

#[test]
fn a_token_that_no_header_can_hold_is_refused_and_not_quoted() {
    for token in ["", "can\\nary", "canary ", "can\\u00e9ary", &"canary".repeat(4000)] {
        let error =
            read_answer(&format!(r#"{{"access_token":"{token}","token_type":"Bearer"}}"#), None);
        let error = error.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("ary"), "{error}");
    }
    for body in ["", "{}", "[]", r#"{"access_token":["canary"],"token_type":"Bearer"}"#] {
        let error = read_answer(body, None).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("canary"), "{error}");
    }
}

#[test]
fn a_refusal_is_quoted_unless_it_repeats_a_secret() {
    let code = Secret::from("canary");
    let refusal = |body: &str| OAuthRefusal::read(&answer(400, body), &[&code]).to_string();
    assert_eq!(
        refusal(r#"{"error":"invalid_grant","error_description":"too\nlate\u001b[31m"}"#),
        "invalid_grant (too?late?[31m)"
    );
    assert_eq!(
        refusal(r#"{"error":"invalid_grant","error_description":"code canary is used"}"#),
        "invalid_grant"
    );
    assert_eq!(refusal(r#"{"error":"canary"}"#), "status 400");
    assert_eq!(refusal("<html>"), "status 400");
    let long = format!(r#"{{"error":"e","error_description":"{}"}}"#, "x".repeat(1000));
    assert!(refusal(&long).len() < 300);
}
