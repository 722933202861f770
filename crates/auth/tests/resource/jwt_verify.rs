//! Tokens that are really signed, with random claims and damaged text: a token passes exactly if every
//! part of it is good.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use super::authority::{ISSUER, RESOURCE, at, status};
use super::token_table::{admission, es256};

const NOW: u64 = 1_700_000_000;

/// A value of a claim, and whether a token with it may pass. `null` stands for no claim.
type Choice = (Value, bool);

fn parties() -> impl Strategy<Value = [(&'static str, Choice); 2]> {
    let issuers = vec![
        (json!(ISSUER), true),
        (json!(format!("{ISSUER}/")), false),
        (json!("https://AS.example"), false),
        (json!([ISSUER]), false),
        (json!(7), false),
        (Value::Null, false),
    ];
    let audiences = vec![
        (json!(RESOURCE), true),
        (json!([RESOURCE]), true),
        (json!(["https://other.example", RESOURCE]), true),
        (json!("HTTPS://MCP.example.com:443/mcp"), true),
        (json!("https://mcp.example.com/mcp/other"), false),
        (json!("https://mcp.example.com"), false),
        (json!([]), false),
        (json!([RESOURCE, 7]), false),
        (json!({"a": RESOURCE}), false),
        (Value::Null, false),
    ];
    (weighted(issuers), weighted(audiences)).prop_map(|(iss, aud)| [("iss", iss), ("aud", aud)])
}

fn times() -> impl Strategy<Value = [(&'static str, Choice); 2]> {
    let ends = vec![
        (json!(NOW + 3600), true),
        (json!(NOW - 59), true),
        (json!(NOW as f64 - 59.5), true),
        (json!(NOW - 60), false),
        (json!(0), false),
        (json!(-1), false),
        (json!(1e300), false),
        (json!((NOW + 3600).to_string()), false),
        (Value::Null, false),
    ];
    let starts = vec![
        (Value::Null, true),
        (json!(NOW), true),
        (json!(NOW + 60), true),
        (json!(NOW + 61), false),
        (json!(u64::MAX), false),
        (json!(true), false),
    ];
    (weighted(ends), weighted(starts)).prop_map(|(exp, nbf)| [("exp", exp), ("nbf", nbf)])
}

fn rights() -> impl Strategy<Value = [(&'static str, Choice); 2]> {
    let scopes = vec![
        (json!("mcp"), true),
        (json!("other mcp"), true),
        (json!(["mcp", "other"]), true),
        (json!("admin"), true),
        (json!("MCP"), false),
        (json!(""), false),
        (json!("mcp a\"b"), false),
        (json!({"mcp": true}), false),
        (Value::Null, false),
    ];
    let bindings = vec![
        (Value::Null, true),
        (json!({}), true),
        (json!({"jkt": "x"}), false),
        (json!({"x5t#S256": "x"}), false),
        (json!({"jkt": 7}), false),
        (json!("x"), false),
    ];
    (weighted(scopes), weighted(bindings)).prop_map(|(scope, cnf)| [("scope", scope), ("cnf", cnf)])
}

/// Mostly good ones: a token has many claims, and one bad one is enough.
fn weighted(choices: Vec<Choice>) -> impl Strategy<Value = Choice> {
    let (good, bad): (Vec<_>, Vec<_>) = choices.into_iter().partition(|(_, is_good)| *is_good);
    prop_oneof![12 => select(good), 1 => select(bad)]
}

fn subject() -> impl Strategy<Value = (Value, bool)> {
    select(vec![
        (json!({"sub": "ann"}), true),
        (json!({"sub": "ann", "client_id": "app"}), true),
        (json!({"client_id": "app"}), true),
        (json!({"sub": "", "azp": "app"}), true),
        (json!({"sub": "", "client_id": ""}), false),
        (json!({"sub": 7}), false),
        (json!({}), false),
    ])
}

fn header() -> impl Strategy<Value = (&'static str, bool)> {
    let good = select(vec![
        (r#"{"alg":"ES256","kid":"ES256"}"#, true),
        (r#"{"alg":"ES256"}"#, true),
        (r#"{"alg":"ES256","typ":"at+jwt"}"#, true),
    ]);
    let bad = select(vec![
        (r#"{"alg":"ES256","typ":"dpop+jwt"}"#, false),
        (r#"{"alg":"ES256","crit":["exp"]}"#, false),
        (r#"{"alg":"ES256","kid":"EdDSA"}"#, false),
        (r#"{"alg":"none"}"#, false),
        (r#"{"alg":"HS256"}"#, false),
        (r#"{"alg":"ES256","alg":"none"}"#, false),
        (r#"["ES256"]"#, false),
    ]);
    prop_oneof![8 => good, 1 => bad]
}

/// A character of the claims that is replaced before they are signed.
fn change() -> impl Strategy<Value = Option<(usize, char)>> {
    let characters: Vec<char> = "\"\\,:{}[]0e-\0é".chars().collect();
    prop_oneof![2 => Just(None), 1 => (any::<usize>(), select(characters)).prop_map(Some)]
}

fn changed(payload: &str, (place, character): (usize, char)) -> String {
    let mut text: Vec<char> = payload.chars().collect();
    let place = place % text.len();
    text[place] = character;
    text.into_iter().collect()
}

/// What every token that passes must say, read by another reader of JSON.
fn is_good(payload: &str) -> bool {
    let Ok(claims) = serde_json::from_str::<Map<String, Value>>(payload) else { return false };
    let audience = claims.get("aud").map(ToString::to_string).unwrap_or_default();
    let is_ours = audience.to_ascii_lowercase().contains("mcp.example.com");
    let end = claims.get("exp").and_then(Value::as_f64).unwrap_or_default();
    claims.get("iss") == Some(&json!(ISSUER)) && is_ours && end > NOW as f64 - 60.0
}

#[test]
fn a_signed_token_passes_exactly_if_every_part_is_good() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let admission = admission();
    let (passed, total) = (Cell::new(0), Cell::new(0));
    let config = ProptestConfig::default();
    let config =
        ProptestConfig { cases: config.cases.max(2000), failure_persistence: None, ..config };
    let input = (header(), parties(), times(), rights(), subject(), change());
    let checked =
        TestRunner::new(config).run(&input, |(header, parties, times, rights, subject, change)| {
            let claims = [parties, times, rights].into_iter().flatten();
            let (subject, is_named) = subject;
            let is_expected =
                header.1 && is_named && claims.clone().all(|(_, (_, is_good))| is_good);
            let mut payload = subject;
            for (name, (value, _)) in claims.filter(|(_, (value, _))| !value.is_null()) {
                payload[name] = value;
            }
            let mut payload = payload.to_string();
            if let Some(change) = change {
                payload = changed(&payload, change);
            }
            let status = runtime.block_on(status(&admission, &es256(header.0, &payload), at(0)));
            match change {
                None => prop_assert_eq!(status == 200, is_expected, "{} {}", header.0, payload),
                Some(_) => prop_assert!(status != 200 || is_good(&payload), "{}", payload),
            }
            prop_assert!(matches!(status, 200 | 401 | 403));
            passed.set(passed.get() + u32::from(status == 200));
            total.set(total.get() + 1);
            Ok(())
        });
    checked.unwrap();
    let share = passed.get() * 100 / total.get();
    assert!((10..60).contains(&share), "{share} % of the tokens pass");
}
