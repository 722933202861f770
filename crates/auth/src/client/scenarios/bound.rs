//! Tokens that are bound to a key.

use crate::client::plan::{Browser, Machine};
use crate::client::record::TokenKind;
use crate::client::world::*;

const TOKEN: &str = "https://as.example/token";
const BOUND: &str = r#"{"access_token":"at","token_type":"DPoP","refresh_token":"rt"}"#;

fn bound() -> World {
    let challenge = format!(r#"DPoP resource_metadata="{DOCUMENT}""#);
    World::new().challenge(Some(&challenge)).page(TOKEN, json(200, BOUND))
}

#[test]
fn a_token_is_bound_if_the_challenge_the_resource_or_the_program_wants_it() {
    let required = document(MCP, AS, r#","dpop_bound_access_tokens_required":true"#);
    let bearer = || World::new().page(TOKEN, json(200, BOUND));
    for played in [
        bound().play(Browser::new("app")),
        bearer().page(DOCUMENT, json(200, &required)).play(Browser::new("app")),
        bearer().play(Browser::new("app").dpop()),
    ] {
        assert!(played.end.is_ok(), "{:?}", played.end);
        assert!(played.visit().ends_with("&dpop_jkt=…"), "{}", played.visit());
        assert!(played.redemptions()[0].ends_with("[proof]"));
        let tokens = played.record.unwrap().tokens.unwrap();
        assert!(tokens.kind == TokenKind::DPoP && tokens.key.is_some());
    }
    assert!(!World::new().play(Browser::new("app")).redemptions()[0].ends_with("[proof]"));
    assert!(bound().play(Machine::secret(AS, "id", "s")).redemptions()[0].ends_with("[proof]"));
}

#[test]
fn a_nonce_is_used_once() {
    let refusal = || with_header(json(400, r#"{"error":"use_dpop_nonce"}"#), "dpop-nonce", "n1");
    let world = bound().page(TOKEN, refusal()).then(TOKEN, json(200, BOUND));
    let played = world.play(Browser::new("app"));
    assert!(played.end.is_ok(), "{:?}", played.end);
    let proofs: Vec<_> = played.requests.iter().filter_map(|it| it.headers.get("dpop")).collect();
    assert!(proofs.len() == 2 && proofs[0] != proofs[1]);
    let played = bound().page(TOKEN, refusal()).play(Browser::new("app"));
    assert_eq!(played.redemptions().len(), 2);
    assert!(played.refusal().ends_with("use_dpop_nonce"));
}

#[test]
fn a_server_that_gives_another_token_or_knows_no_es256_is_refused() {
    let played = bound().page(TOKEN, json(200, TOKENS)).play(Browser::new("app"));
    assert!(played.refusal().contains("not of the type DPoP"), "{}", played.refusal());
    let text = metadata(AS, r#","dpop_signing_alg_values_supported":["RS256"]"#);
    let played = bound().page(METADATA, json(200, &text)).play(Browser::new("app"));
    assert!(played.end.is_err() && played.lines("VISIT").is_empty());
}
