//! Finding the authorization server.

use crate::client::plan::Browser;
use crate::client::world::*;

const ROOT: &str = "https://mcp.example/.well-known/oauth-protected-resource";
const BARE: Option<&str> = Some("Bearer");

fn play(world: World) -> Played {
    world.play(Browser::new("app"))
}

// spec: PRM-3, PRM-7, PRM-13, ASM-2, RIND-1, RIND-2, RIND-3, PKCE-1, PKCE-2, REG-1, TOK-3
#[test]
fn a_login_finds_the_servers_registers_visits_and_redeems() {
    let played = play(World::new());
    assert!(played.end.is_ok(), "{:?}", played.end);
    let redirect = "redirect_uri=http://127.0.0.1:4000/callback";
    let expected = [
        format!("GET {DOCUMENT}"),
        format!("GET {METADATA}"),
        r#"POST https://as.example/register {"client_name":"app","redirect_uris":["http://127.0.0.1:4000/callback"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none","application_type":"native"}"#.into(),
        format!("SAVE client of {AS}"),
        format!("VISIT {AS}/authorize response_type=code&client_id=dyn&{redirect}&state=…&code_challenge=…&code_challenge_method=S256&resource={MCP}"),
        format!("POST {AS}/token grant_type=authorization_code&code=the-code&{redirect}&code_verifier=…&resource={MCP}&client_id=dyn"),
        format!("SAVE tokens of {AS}"),
    ];
    assert_eq!(played.trace, expected);
}

// spec: PRM-8
#[test]
fn without_an_address_in_the_challenge_the_path_form_comes_first_then_the_root() {
    let played = play(World::new().challenge(BARE));
    assert_eq!(played.lines("GET"), [DOCUMENT, METADATA]);
    let world = World::new()
        .without(DOCUMENT)
        .page(ROOT, json(200, &document("https://mcp.example", AS, "")));
    let played = play(world.challenge(BARE));
    assert_eq!(played.lines("GET"), [DOCUMENT, ROOT, METADATA]);
    assert!(played.visit().ends_with("resource=https://mcp.example"), "{}", played.visit());
}

// spec: PRM-6, PRM-7
#[test]
fn the_address_in_the_challenge_comes_first_and_if_it_is_gone_the_well_known_ones() {
    let place = "https://mcp.example/custom/location.json";
    let challenge = format!(r#"Bearer error="x", resource_metadata="{place}""#);
    let world = World::new().challenge(Some(&challenge));
    let played = play(world.page(place, json(200, &document(MCP, AS, ""))));
    assert_eq!(played.lines("GET"), [place, METADATA]);
    let played = play(World::new().challenge(Some(&challenge)));
    assert_eq!(played.lines("GET"), [place, DOCUMENT, METADATA]);
    let played = play(World::new().challenge(Some(&challenge)).page(place, json(403, "{}")));
    assert_eq!(played.lines("GET"), [place]);
    assert!(played.end.is_err());
}

// spec: AUTH-8, SBP-2, SBP-11
#[test]
fn an_address_that_is_not_https_is_not_fetched() {
    for place in ["http://mcp.example/x", "file:///etc/passwd", "//x", "https://a@mcp.example/"] {
        let challenge = format!(r#"Bearer resource_metadata="{place}""#);
        let played = play(World::new().challenge(Some(&challenge)));
        assert!(played.end.is_err() && played.trace.is_empty(), "{place} {:?}", played.trace);
    }
    let world = World::new().page(DOCUMENT, json(200, &document(MCP, "http://as.example", "")));
    assert_eq!(play(world).trace, [format!("GET {DOCUMENT}")]);
    for endpoint in ["authorize", "token"] {
        let text = metadata(AS, "").replace(&format!("{AS}/{endpoint}"), "http://as.example/x");
        let played = play(World::new().page(METADATA, json(200, &text)));
        assert!(played.refusal().contains("not `https`"), "{}", played.refusal());
        assert_eq!(played.lines("GET").len(), played.trace.len());
    }
}

// spec: AUTH-8, TOK-14
#[test]
fn no_token_is_obtained_for_an_mcp_server_in_plain_http_on_another_machine() {
    let place = "https://as.example/document";
    let challenge = format!(r#"Bearer resource_metadata="{place}""#);
    for (mcp, is_refused) in
        [("http://mcp.example/mcp", true), ("http://127.0.0.1:3000/mcp", false)]
    {
        let mut world = World::new().challenge(Some(&challenge));
        world.mcp = mcp;
        let played = play(world.page(place, json(200, &document(mcp, AS, ""))));
        assert_eq!(played.end.is_err(), is_refused, "{mcp} {:?}", played.end);
        assert_eq!(played.trace.is_empty(), is_refused, "{:?}", played.trace);
    }
}

// spec: PRM-10
#[test]
fn a_document_about_another_resource_ends_the_login() {
    for resource in ["https://evil.example.com/mcp", "https://mcp.example/other", ""] {
        let played = play(World::new().page(DOCUMENT, json(200, &document(resource, AS, ""))));
        assert_eq!(played.trace, [format!("GET {DOCUMENT}")]);
        assert!(played.end.is_err());
    }
}

// spec: RIND-4, RIND-5, RIND-6, RIND-7, RIND-8
#[test]
fn the_resource_is_named_to_the_letter_of_its_document() {
    for resource in
        ["https://mcp.example/mcp", "https://MCP.example:443/mcp", "https://mcp.example/"]
    {
        let played = play(World::new().page(DOCUMENT, json(200, &document(resource, AS, ""))));
        assert!(played.visit().ends_with(&format!("&resource={resource}")), "{}", played.visit());
        assert!(played.redemptions()[0].contains(&format!("&resource={resource}&")));
    }
}

// spec: ASM-4, ASM-5, ASM-6, ASM-7
#[test]
fn the_metadata_of_an_issuer_are_tried_in_order() {
    let oidc = "https://as.example/.well-known/openid-configuration";
    let world = World::new().without(METADATA).page(oidc, json(200, &metadata(AS, "")));
    assert_eq!(play(world).lines("GET"), [DOCUMENT, METADATA, oidc]);
    let issuer = "https://as.example/tenant1";
    let places = [
        "https://as.example/.well-known/oauth-authorization-server/tenant1",
        "https://as.example/.well-known/openid-configuration/tenant1",
        "https://as.example/tenant1/.well-known/openid-configuration",
    ];
    for count in 1..=3 {
        let world = World::new()
            .page(DOCUMENT, json(200, &document(MCP, issuer, "")))
            .page(places[count - 1], json(200, &metadata(issuer, "")));
        let played = play(world);
        assert_eq!(played.lines("GET")[1..], places[..count]);
    }
}

// spec: ASM-8, ASM-9
#[test]
fn metadata_of_another_issuer_end_the_login() {
    for issuer in ["https://attacker.example.com", "https://as.example/", "HTTPS://as.example"] {
        let text = metadata(AS, "").replacen(AS, issuer, 1);
        let played = play(World::new().page(METADATA, json(200, &text)));
        assert_eq!(played.trace, [format!("GET {DOCUMENT}"), format!("GET {METADATA}")]);
        assert!(played.refusal().contains("another `issuer`"), "{}", played.refusal());
    }
}

// spec: PRM-9
#[test]
fn of_several_servers_the_first_that_can_be_reached_is_used() {
    let two = r#"{"resource":"https://mcp.example/mcp","authorization_servers":["https://down.example","https://as.example"]}"#;
    let down = "https://down.example/.well-known/oauth-authorization-server";
    for answer in [unreachable(), json(503, "{}")] {
        let world = World::new().page(DOCUMENT, json(200, two)).page(down, answer);
        let played = play(world);
        assert_eq!(played.lines("GET"), [DOCUMENT, down, METADATA]);
        assert!(played.end.is_ok());
    }
    // The server that has a record comes first.
    let mut world = World::new().page(DOCUMENT, json(200, two));
    world.known = play(World::new()).record;
    assert_eq!(play(world).lines("GET"), [DOCUMENT, METADATA]);
    let world = World::new().page(METADATA, unreachable());
    assert!(play(world).refusal().contains("connection refused"));
}

// spec: PKCE-2, PKCE-4, PKCE-5
#[test]
fn a_server_that_does_not_list_s256_is_refused_unless_the_program_knows_better() {
    for word in ["", r#""plain""#] {
        let text = metadata(AS, "").replace(r#""S256""#, word);
        let world = || World::new().page(METADATA, json(200, &text));
        let played = play(world());
        assert!(played.refusal().contains("s256_known"), "{}", played.refusal());
        assert_eq!(played.trace.len(), 2);
        assert!(world().play(Browser::new("app").s256_known(AS)).end.is_ok());
        assert!(world().play(Browser::new("app").s256_known("https://other.example")).end.is_err());
    }
}

const ORIGIN: &str = "https://mcp.example/.well-known/oauth-authorization-server";

/// An MCP server of 2025-03-26: no document of the resource.
fn old() -> World {
    World::new()
        .without(DOCUMENT)
        .challenge(BARE)
        .returns(&["code=the-code&state=STATE"])
        .page("https://mcp.example/register", json(201, r#"{"client_id":"dyn"}"#))
        .page("https://mcp.example/token", json(200, TOKENS))
}

// spec: ASM-10, ASM-11, PV-5
#[test]
fn a_server_of_2025_03_26_describes_itself_at_its_origin() {
    for issuer in ["https://mcp.example", "https://mcp.example/"] {
        let text = metadata("https://mcp.example", "").replacen("https://mcp.example", issuer, 1);
        let text = text.replace("supported\":true", "supported\":false");
        let played = play(old().page(ORIGIN, json(200, &text)));
        assert_eq!(played.lines("GET"), [DOCUMENT, ROOT, ORIGIN]);
        assert!(played.end.is_ok(), "{:?}", played.end);
        assert!(played.visit().ends_with("&resource=https://mcp.example/mcp"));
        assert_eq!(played.requests[2].headers["mcp-protocol-version"], "2025-03-26");
    }
    let played = play(old().page(ORIGIN, json(200, &metadata("https://evil.example", ""))));
    assert!(played.end.is_err() && played.lines("VISIT").is_empty());
}

#[test]
fn a_registration_at_a_server_of_2025_03_26_is_used_again_with_either_form_of_its_issuer() {
    for issuer in ["https://mcp.example", "https://mcp.example/"] {
        let text = metadata("https://mcp.example", "").replacen("https://mcp.example", issuer, 1);
        let text = text.replace("supported\":true", "supported\":false");
        let world = || old().page(ORIGIN, json(200, &text));
        let mut again = world();
        again.known = play(world()).record;
        let played = play(again);
        assert_eq!(played.lines("POST").len(), 1, "{issuer} {:?}", played.trace);
        assert!(played.end.is_ok(), "{:?}", played.end);
    }
}

// spec: ASM-12
#[test]
fn a_server_of_2025_03_26_without_metadata_has_known_endpoints() {
    let played = play(old());
    assert_eq!(played.lines("GET"), [DOCUMENT, ROOT, ORIGIN]);
    assert!(played.visit().starts_with("https://mcp.example/authorize "));
    assert!(played.lines("POST")[1].starts_with("https://mcp.example/token "));
    assert!(played.end.is_ok());
    // Only if the client offers that revision, and the challenge named no document.
    let mut world = old();
    world.offers_origin = false;
    assert_eq!(play(world).lines("GET"), [DOCUMENT, ROOT]);
    let challenge = format!(r#"Bearer resource_metadata="{DOCUMENT}""#);
    let played = play(old().challenge(Some(&challenge)));
    assert_eq!(played.lines("GET"), [DOCUMENT, ROOT]);
    assert!(played.end.is_err());
}

#[test]
fn a_login_makes_at_most_twelve_requests() {
    let issuers: Vec<String> = (0..20).map(|n| format!("\"https://as{n}.example/x\"")).collect();
    let text = format!(r#"{{"resource":"{MCP}","authorization_servers":[{}]}}"#, issuers.join(","));
    let played = play(World::new().page(DOCUMENT, json(200, &text)));
    assert_eq!(played.lines("GET").len(), 12);
    assert!(played.refusal().contains("more than 12 requests"));
}
