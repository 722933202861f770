//! Getting a client id.

use crate::client::plan::{Browser, Issuer};
use crate::client::record::{Record, Tokens};
use crate::client::world::*;

const REGISTER: &str = "https://as.example/register";
const CIMD: &str = "https://app.example/client.json";

fn supports(word: &str) -> World {
    World::new().page(METADATA, json(200, &metadata(AS, word)))
}

// spec: REG-4, REG-5, REG-6
#[test]
fn a_client_that_was_registered_beforehand_comes_first() {
    let world = supports(r#","client_id_metadata_document_supported":true"#);
    let browser =
        Browser::new("app").metadata_document(CIMD).client_with_secret(AS, "pre", "se:cret");
    let played = world.play(browser);
    assert!(played.visit().contains("client_id=pre&"));
    assert_eq!(played.lines("POST").len(), 1);
    // Basic authentication of `pre` and `se%3Acret`.
    assert!(played.redemptions()[0].ends_with("[Basic cHJlOnNlJTNBY3JldA==]"));
}

// spec: REG-14, REG-16
#[test]
fn a_client_that_another_server_knows_is_an_error_before_anything_is_sent() {
    for issuer in ["https://old.example", "https://as.example/"] {
        let played = World::new().play(Browser::new("app").client(issuer, "pre"));
        assert_eq!(played.trace, [format!("GET {DOCUMENT}")]);
        assert!(played.refusal().contains("`pre` is known to"), "{}", played.refusal());
    }
    let mut world = World::new();
    world.pinned = Some("https://old.example".into());
    let played = world.play(Browser::new("app").client(Issuer::first_seen(), "pre"));
    assert_eq!(played.trace.len(), 1);
    assert!(World::new().play(Browser::new("app").client(Issuer::first_seen(), "pre")).end.is_ok());
}

// spec: REG-3, REG-17, CIMD-1, CIMD-7
#[test]
fn a_metadata_document_is_used_where_it_is_supported() {
    let world = supports(r#","client_id_metadata_document_supported":true"#);
    let played = world.play(Browser::new("app").metadata_document(CIMD));
    assert!(played.visit().contains(&format!("client_id={CIMD}&")));
    assert!(!played.trace.iter().any(|line| line.contains(REGISTER)));
    assert!(played.redemptions()[0].ends_with(&format!("client_id={CIMD}")));
    assert!(played.record.unwrap().client.is_none());
    for word in ["", r#","client_id_metadata_document_supported":false"#] {
        let played = supports(word).play(Browser::new("app").metadata_document(CIMD));
        assert!(played.visit().contains("client_id=dyn&"));
    }
}

// spec: CIMD-2, CIMD-3
#[test]
fn a_metadata_document_that_is_not_https_is_never_a_client_id() {
    let world = supports(r#","client_id_metadata_document_supported":true"#);
    let played = world.play(Browser::new("app").metadata_document("http://app.example/x"));
    assert!(played.end.is_err() && played.lines("VISIT").is_empty());
}

// spec: REG-7, REG-8, REDIR-1, REFR-2
#[test]
fn a_dynamic_registration_is_native_and_lists_refresh_tokens() {
    let played = World::new().play(Browser::new("app"));
    let body = played.lines("POST")[0];
    assert!(body.contains(r#""application_type":"native""#));
    assert!(body.contains(r#""grant_types":["authorization_code","refresh_token"]"#));
    let client = played.record.unwrap().client.unwrap();
    assert_eq!(
        (client.id.as_str(), client.redirect.as_str()),
        ("dyn", "http://127.0.0.1:4000/callback")
    );
}

// spec: REG-7, REG-9, AUTH-10
#[test]
fn a_dynamic_registration_of_a_web_application_says_so() {
    let mut world = World::new();
    world.redirect = Some("https://app.example/callback");
    let played = world.play(Browser::new("app"));
    let body = played.lines("POST")[0];
    assert!(body.contains(r#"["https://app.example/callback"]"#), "{body}");
    assert!(body.contains(r#""application_type":"web""#), "{body}");
    let mut world = World::new();
    world.redirect = Some("http://app.example/callback");
    let played = world.play(Browser::new("app"));
    assert!(played.refusal().contains("redirect URI"), "{}", played.refusal());
    assert_eq!(played.lines("POST"), [""; 0]);
}

// spec: REG-11
#[test]
fn without_any_way_to_register_the_error_names_the_remedy() {
    let text =
        metadata(AS, "").replace(r#""registration_endpoint":"https://as.example/register","#, "");
    let played = World::new().page(METADATA, json(200, &text)).play(Browser::new("app"));
    assert!(played.refusal().contains(".client(..)"), "{}", played.refusal());
}

// spec: REG-10, REG-11, REG-12, AUTH-10
#[test]
fn a_refused_redirect_is_registered_once_more_by_name() {
    let refusals = [
        r#"{"error":"invalid_redirect_uri"}"#,
        r#"{"error":"invalid_client_metadata","error_description":"bad Redirect URI"}"#,
    ];
    for refusal in refusals {
        let world = World::new()
            .page(REGISTER, json(400, refusal))
            .then(REGISTER, json(201, r#"{"client_id":"dyn"}"#));
        let played = world.play(Browser::new("app"));
        assert!(played.lines("POST")[1].contains(r#"["http://localhost:4000/callback"]"#));
        assert!(played.visit().contains("redirect_uri=http://localhost:4000/callback&"));
        assert!(played.end.is_ok());
        let played = World::new().page(REGISTER, json(400, refusal)).play(Browser::new("app"));
        assert_eq!(played.lines("POST").len(), 2);
        assert!(played.refusal().contains("registration"), "{}", played.refusal());
    }
    let refusal = r#"{"error":"access_denied","error_description":"no"}"#;
    let played = World::new().page(REGISTER, json(403, refusal)).play(Browser::new("app"));
    assert_eq!(played.lines("POST").len(), 1);
    assert!(played.refusal().ends_with("access_denied (no)"), "{}", played.refusal());
}

// spec: REG-13, REG-15
#[test]
fn a_registration_is_used_again_at_its_server_and_port_only() {
    let first = World::new().play(Browser::new("app")).record;
    let mut world = World::new();
    (world.known, world.port) = (first.clone(), 5000);
    let played = world.play(Browser::new("app"));
    assert_eq!(played.lines("POST").len(), 1);
    assert!(played.visit().contains("client_id=dyn&redirect_uri=http://127.0.0.1:4000/callback"));
    // Another port was set, so the old registration does not fit.
    let mut world = World::new();
    world.known = first.clone();
    let played = world.play(Browser::new("app").port(6000));
    assert!(played.lines("POST")[0].contains("http://127.0.0.1:6000/callback"));
    // The MCP server names another authorization server.
    let (two, place) =
        ("https://two.example", "https://two.example/.well-known/oauth-authorization-server");
    let mut world = World::new()
        .page(DOCUMENT, json(200, &document(MCP, two, "")))
        .page(place, json(200, &metadata(two, "")))
        .page("https://two.example/register", json(201, r#"{"client_id":"other"}"#))
        .page("https://two.example/token", json(200, TOKENS))
        .returns(&["code=c&state=STATE&iss=https://two.example"]);
    world.known = first;
    let played = world.play(Browser::new("app"));
    assert!(played.end.is_ok(), "{:?}", played.end);
    assert!(!played.trace.iter().any(|line| line.contains("dyn") || line.contains(AS)));
}

// spec: PRM-11, PRM-12
#[test]
fn a_registration_does_not_follow_the_login_to_another_server() {
    let two = "https://two.example";
    let both = format!(r#"{{"resource":"{MCP}","authorization_servers":["{AS}","{two}"]}}"#);
    let mut world = World::new()
        .page(DOCUMENT, json(200, &both))
        .page(METADATA, unreachable())
        .page(
            &format!("{two}/.well-known/oauth-authorization-server"),
            json(200, &metadata(two, "")),
        )
        .page(&format!("{two}/register"), json(201, r#"{"client_id":"other"}"#))
        .page(&format!("{two}/token"), json(200, TOKENS))
        .returns(&["code=c&state=STATE&iss=https://two.example"]);
    world.known = World::new().play(Browser::new("app")).record;
    let played = world.play(Browser::new("app"));
    assert!(played.end.is_ok(), "{:?}", played.end);
    assert!(!played.trace.iter().any(|line| line.contains("dyn")), "{:?}", played.trace);
}

#[test]
fn a_registration_that_the_server_has_forgotten_is_not_used_again() {
    let refusal = json(401, r#"{"error":"invalid_client"}"#);
    for known in [None, World::new().play(Browser::new("app")).record] {
        let mut world = World::new().page("https://as.example/token", refusal.clone());
        world.known = known.clone();
        let played = world.play(Browser::new("app"));
        let expected = "the authorization server refused the client, which the next login \
                        registers anew: invalid_client";
        assert_eq!(played.refusal(), expected);
        let left = played.record.unwrap();
        assert!(left.client.is_none());
        // The access token may still be good; the refresh token is of the old registration.
        let tokens = known.map(|_| ("at".to_owned(), false));
        let show = |tokens: Tokens| (tokens.access.expose().clone(), tokens.refresh.is_some());
        assert_eq!(left.tokens.clone().map(show), tokens);
        let mut world = World::new();
        world.known = Some(left);
        let played = world.play(Browser::new("app"));
        assert!(played.end.is_ok() && played.lines("POST")[0].contains(REGISTER));
    }
    // A client that was registered beforehand is for its operator to mend.
    let world = World::new().page("https://as.example/token", refusal);
    let played = world.play(Browser::new("app").client(AS, "pre"));
    assert!(played.refusal().ends_with("refused the client: invalid_client"));
    assert_eq!(played.lines("SAVE"), [""; 0]);
}

#[test]
fn an_earlier_registration_whose_page_brings_nothing_is_not_used_again() {
    let first = World::new().play(Browser::new("app")).record.unwrap();
    let spent = Record { tokens: None, ..first.clone() };
    for (known, is_kept) in [(None, true), (Some(first), true), (Some(spent), false)] {
        let mut world = World::new().returns(&[]);
        world.known = known.clone();
        let played = world.play(Browser::new("app"));
        assert_eq!(played.refusal(), "the user gave up the login");
        let left = played.record.or(known).unwrap();
        assert_eq!(left.client.is_some(), is_kept, "{left:?}");
    }
}

#[test]
fn the_client_authenticates_itself_as_it_was_registered() {
    for (method, answer, expected) in [
        (
            "client_secret_basic",
            r#""token_endpoint_auth_method":"client_secret_basic""#,
            "[Basic ZHluOnM=]",
        ),
        (
            "client_secret_post",
            r#""token_endpoint_auth_method":"client_secret_post""#,
            "client_id=dyn&client_secret=s",
        ),
        ("none", r#""token_endpoint_auth_method":"none""#, "client_id=dyn"),
        ("client_secret_post", r#""x":1"#, "client_id=dyn&client_secret=s"),
        ("none", r#""x":1"#, "client_id=dyn"),
    ] {
        let list = format!(r#","token_endpoint_auth_methods_supported":["{method}"]"#);
        let answer = format!(r#"{{"client_id":"dyn","client_secret":"s",{answer}}}"#);
        let played = supports(&list).page(REGISTER, json(201, &answer)).play(Browser::new("app"));
        assert!(
            played.lines("POST")[0]
                .contains(&format!(r#""token_endpoint_auth_method":"{method}""#))
        );
        assert!(played.redemptions()[0].ends_with(expected), "{:?}", played.redemptions());
    }
}

#[test]
fn what_a_registration_gives_is_bounded() {
    for (id, secret, is_usable) in
        [(4096, 4096, true), (4097, 1, false), (1, 4097, false), (0, 1, false)]
    {
        let [id, secret] = [id, secret].map(|length| "a".repeat(length));
        let body = format!(r#"{{"client_id":"{id}","client_secret":"{secret}"}}"#);
        let played = World::new().page(REGISTER, json(201, &body)).play(Browser::new("app"));
        assert_eq!(played.end.is_ok(), is_usable, "{:?}", played.end);
        assert_eq!(played.lines("SAVE").is_empty(), !is_usable);
    }
}

#[test]
fn an_answer_to_a_registration_that_makes_no_sense_ends_the_login() {
    for body in ["{}", "[]", "", r#"{"client_id":"dyn","token_endpoint_auth_method":"magic"}"#] {
        let played = World::new().page(REGISTER, json(201, body)).play(Browser::new("app"));
        assert!(played.end.is_err() && played.lines("VISIT").is_empty(), "{body}");
    }
}
