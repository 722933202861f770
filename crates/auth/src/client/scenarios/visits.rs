//! Scopes, the page, and the answer of the browser.

use crate::client::plan::Browser;
use crate::client::world::*;
use crate::scope::Scopes;

fn play(world: World) -> Played {
    world.play(Browser::new("app"))
}

fn scope_of(played: &Played) -> Option<&str> {
    let (_, rest) = played.visit().split_once("&scope=")?;
    Some(rest.split('&').next().unwrap())
}

fn challenge(scope: &str) -> String {
    format!(r#"Bearer resource_metadata="{DOCUMENT}", scope="{scope}""#)
}

fn listed(scopes: &str) -> World {
    let more = format!(r#","scopes_supported":{scopes}"#);
    World::new().page(DOCUMENT, json(200, &document(MCP, AS, &more)))
}

// spec: SCOPE-3, SCOPE-4, SCOPE-6, SCOPE-7
#[test]
fn the_scopes_are_those_of_the_challenge_else_of_the_resource_else_none() {
    let list = r#"["mcp:basic","mcp:read","mcp:write"]"#;
    let played = play(listed(list).challenge(Some(&challenge("mcp:other"))));
    assert_eq!(scope_of(&played), Some("mcp:other"));
    assert_eq!(scope_of(&play(listed(list))), Some("mcp:basic mcp:read mcp:write"));
    assert_eq!(scope_of(&play(World::new())), None);
    assert_eq!(scope_of(&play(listed("[]"))), None);
    assert_eq!(scope_of(&play(listed(r#"["good","bad one"]"#))), Some("good"));
}

// spec: SCOPE-8, SCOPE-16
#[test]
fn a_step_up_asks_for_the_scopes_of_before_and_the_new_ones() {
    let mut world = listed(r#"["mcp:profile"]"#).challenge(Some(&challenge("mcp:write")));
    world.granted = Scopes::parse("mcp:basic").unwrap();
    assert_eq!(scope_of(&play(world)), Some("mcp:basic mcp:write"));
    let mut world = listed(r#"["mcp:profile"]"#);
    world.granted = Scopes::parse("mcp:basic").unwrap();
    assert_eq!(scope_of(&play(world)), Some("mcp:basic"));
}

// spec: REFR-3
#[test]
fn offline_access_is_asked_for_only_if_the_authorization_server_lists_it() {
    let offline = metadata(AS, r#","scopes_supported":["mcp:basic","offline_access"]"#);
    let played = play(listed(r#"["mcp:basic"]"#).page(METADATA, json(200, &offline)));
    assert!(played.visit().ends_with("&scope=mcp:basic offline_access&prompt=consent"));
    let other = metadata(AS, r#","scopes_supported":["mcp:basic"]"#);
    for text in [metadata(AS, ""), other] {
        let played =
            play(listed(r#"["mcp:basic","offline_access"]"#).page(METADATA, json(200, &text)));
        assert!(played.visit().ends_with("&scope=mcp:basic"), "{}", played.visit());
    }
    // Alone it would narrow the token to nothing.
    assert_eq!(scope_of(&play(World::new().page(METADATA, json(200, &offline)))), None);
}

/// A server that does or does not say that it sends `iss`.
fn advertised(is_advertised: bool) -> World {
    let text =
        metadata(AS, "").replace("supported\":true", &format!("supported\":{is_advertised}"));
    World::new().page(METADATA, json(200, &text))
}

// spec: ISS-1, ISS-4, ISS-7
#[test]
fn an_answer_with_the_right_issuer_or_none_where_none_is_promised_is_redeemed() {
    for (is_advertised, query) in [
        (true, "code=c&state=STATE&iss=https://as.example"),
        (true, "iss=https%3A%2F%2Fas.example&code=c&state=STATE"),
        (false, "code=c&state=STATE"),
        (false, "code=c&state=STATE&iss=https://as.example"),
    ] {
        let played = play(advertised(is_advertised).returns(&[query]));
        assert!(played.end.is_ok(), "{query} {:?}", played.end);
        assert!(played.redemptions()[0].contains("&code=c&"));
    }
}

// spec: ISS-4, ISS-5, ISS-6, ISS-8, ISS-9
#[test]
fn an_answer_of_another_issuer_is_not_redeemed_and_its_error_not_shown() {
    for (is_advertised, query) in [
        (true, "code=c&state=STATE"),
        (true, "code=c&state=STATE&iss="),
        (true, "code=c&state=STATE&iss=https://evil.example.com"),
        (false, "code=c&state=STATE&iss=https://evil.example.com"),
        (true, "code=c&state=STATE&iss=https://as.example/"),
        (true, "code=c&state=STATE&iss=https://AS.example"),
        (true, "code=c&state=STATE&iss=https://as.example:443"),
        (true, "code=c&state=STATE&iss=https://as.example&iss=https://as.example"),
        (
            true,
            "error=canary&error_description=canary&error_uri=canary&state=STATE&iss=https://evil.example",
        ),
        (true, "error=canary&error_description=canary&state=STATE"),
    ] {
        let played = play(advertised(is_advertised).returns(&[query]));
        assert_eq!(played.lines("VISIT").len(), 1);
        assert!(played.redemptions().is_empty(), "{query}");
        assert!(!played.refusal().contains("canary"), "{}", played.refusal());
    }
}

// spec: REDIR-3
#[test]
fn an_answer_without_the_state_is_discarded_and_the_login_goes_on() {
    let forged = [
        "code=forged",
        "code=forged&state=",
        "code=forged&state=guess",
        "code=forged&state=STATE&state=STATE",
        "error=access_denied",
        "error=access_denied&state=guess&iss=https://as.example",
        "%ff",
        "",
    ];
    let good = "code=good&state=STATE&iss=https://as.example";
    let played = play(World::new().returns(&[&forged[..], &[good]].concat()));
    assert_eq!(played.trace.iter().filter(|line| *line == "AWAIT").count(), forged.len());
    assert!(played.redemptions()[0].contains("&code=good&"), "{:?}", played.redemptions());
    let played = play(World::new().returns(&[&["code=forged"; 100][..], &[good]].concat()));
    assert!(played.redemptions()[0].contains("&code=good&"), "{:?}", played.end);
}

#[test]
fn a_refusal_of_the_server_or_of_the_user_ends_the_login() {
    let query =
        "error=access_denied&error_description=not%0Atoday&state=STATE&iss=https://as.example";
    let played = play(World::new().returns(&[query]));
    assert!(played.refusal().ends_with("access_denied (not?today)"), "{}", played.refusal());
    let played = play(World::new().returns(&["state=STATE&iss=https://as.example"]));
    assert!(played.refusal().contains("neither a code nor an error"));
    let played = play(World::new().returns(&["state=STATE&iss=https://as.example&code=a&code=b"]));
    assert!(played.end.is_err() && played.redemptions().is_empty());
    let played = play(World::new().returns(&[]));
    assert!(played.end.unwrap_err().is_visit());
}

// spec: SBP-6, SBP-7
#[test]
fn a_page_with_another_scheme_is_never_visited() {
    for page in
        ["javascript:alert(1)", "data:text/html,x", "file:///x", "http://as.example/authorize"]
    {
        let text = metadata(AS, "").replace("https://as.example/authorize", page);
        let played = play(World::new().page(METADATA, json(200, &text)));
        assert!(played.end.is_err() && played.lines("VISIT").is_empty(), "{page}");
    }
}

#[test]
fn the_query_of_the_page_is_kept() {
    let text = metadata(AS, "").replace("/authorize", "/authorize?tenant=1");
    let played = play(World::new().page(METADATA, json(200, &text)));
    assert!(played.visit().contains("tenant=1&response_type=code&"), "{}", played.visit());
}

#[test]
fn a_refused_code_ends_the_login_and_is_not_tried_again() {
    let token = "https://as.example/token";
    let refusal = r#"{"error":"invalid_grant","error_description":"code the-code was used"}"#;
    let played = play(World::new().page(token, json(400, refusal)));
    assert_eq!(played.redemptions().len(), 1);
    assert!(played.refusal().ends_with("refused the grant: invalid_grant"), "{}", played.refusal());
    let played = play(World::new().page(token, unreachable()));
    assert!(played.end.unwrap_err().is_fetch());
}
