//! Programs without a user.

use crate::client::plan::{Enterprise, IdentityProvider, Issuer, Machine, Workload};
use crate::client::world::*;
use crate::error::Error;
use crate::jose::jws::{Algorithm, Jws};
use crate::jose::jwt::TokenClaims;
use crate::jose::sign::SigningKey;
use crate::secret::Secret;
use crate::url::Url;

const PEM: &str = include_str!("../../../tests/keys/p256.pem");
const TOKEN: &str = "https://as.example/token";
const IDP: &str = "https://idp.example/token";
const GRANT: &str = r#"{"access_token":"jag","issued_token_type":"urn:ietf:params:oauth:token-type:id-jag","token_type":"N_A"}"#;

fn with(members: &str) -> World {
    World::new().page(METADATA, json(200, &metadata(AS, members)))
}

fn key() -> SigningKey {
    SigningKey::pem(PEM, Algorithm::Es256).unwrap()
}

// spec: OCC-1, OCC-2, OCC-3, OCC-4
#[test]
fn a_program_with_a_secret_asks_for_a_token_and_registers_nothing() {
    let scoped = format!(r#"Bearer resource_metadata="{DOCUMENT}", scope="mcp""#);
    let played = World::new().challenge(Some(&scoped)).play(Machine::secret(AS, "id", "s"));
    let expected = [
        format!("GET {DOCUMENT}"),
        format!("GET {METADATA}"),
        format!(
            "POST {TOKEN} grant_type=client_credentials&resource={MCP}&scope=mcp&client_id=id [Basic aWQ6cw==]"
        ),
        format!("SAVE tokens of {AS}"),
    ];
    assert_eq!(played.trace, expected);
    // The server gave a refresh token, which a program does not need.
    assert!(played.record.unwrap().tokens.unwrap().refresh.is_none());
    let post = r#","token_endpoint_auth_methods_supported":["client_secret_post"]"#;
    let played = with(post).play(Machine::secret(Issuer::first_seen(), "id", "s"));
    assert!(played.redemptions()[0].ends_with("client_id=id&client_secret=s"));
}

// spec: OCC-2, OCC-3
#[test]
fn a_program_with_a_key_signs_a_statement_for_the_issuer() {
    let played = World::new().play(Machine::key(AS, "id", key()));
    let [redemption] = played.redemptions()[..] else { panic!() };
    assert!(redemption.ends_with("&client_assertion_type=urn:ietf:params:oauth:client-assertion-type:jwt-bearer&client_assertion=…"));
    let body = String::from_utf8(played.requests[2].body.expose().clone()).unwrap();
    let form = crate::form::Form::parse(&body).unwrap();
    let assertion = form.value("client_assertion").unwrap().unwrap();
    let jws = Jws::parse(assertion, &[Algorithm::Es256]).unwrap();
    let claims = TokenClaims::parse(jws.verify(key().public()).unwrap()).unwrap();
    assert_eq!((claims.iss.as_deref(), claims.sub.as_deref()), (Some("id"), Some("id")));
    assert_eq!(claims.aud.0, [AS]);
    assert_eq!((claims.iat.unwrap().seconds(), claims.exp.unwrap().seconds()), (1000, 1060));
    assert!(claims.jti.is_some() && !form.has("client_secret"));
}

#[test]
fn a_key_that_the_server_does_not_accept_is_an_error() {
    for members in [
        r#","token_endpoint_auth_methods_supported":["client_secret_basic"]"#,
        r#","token_endpoint_auth_signing_alg_values_supported":["RS256"]"#,
    ] {
        let played = with(members).play(Machine::key(AS, "id", key()));
        assert!(played.redemptions().is_empty() && played.end.is_err());
    }
}

// spec: REG-14, REG-16, PRM-12, OCC-7
#[test]
fn credentials_of_a_program_never_reach_another_server() {
    let played = World::new().play(Machine::secret("https://other.example", "id", "s"));
    assert_eq!(played.trace, [format!("GET {DOCUMENT}")]);
    let mut world = World::new();
    world.pinned = Some("https://other.example".into());
    let played = world.play(Machine::secret(Issuer::first_seen(), "id", "s"));
    assert_eq!(played.trace, [format!("GET {DOCUMENT}")]);
}

fn workload() -> Workload {
    Workload::new(AS, "id", || async { Err(Error::visit("the driver asks, not the flow")) })
}

#[test]
fn a_workload_redeems_the_token_of_its_platform_once() {
    let mut world = World::new();
    world.assertion = Some("platform");
    let played = world.play(workload());
    let grant = "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=platform";
    assert_eq!(played.redemptions(), [format!("{grant}&resource={MCP}&client_id=id")]);
    for refusal in ["invalid_grant", "invalid_client", "unsupported_grant_type", "use_dpop_nonce"] {
        let answer =
            json(400, &format!(r#"{{"error":"{refusal}","error_description":"platform?"}}"#));
        let mut world = World::new().page(TOKEN, with_header(answer, "dpop-nonce", "n"));
        world.assertion = Some("platform");
        let played = world.play(workload());
        assert_eq!(played.redemptions().len(), 1);
        assert!(played.refusal().ends_with(refusal), "{}", played.refusal());
    }
}

fn enterprise(provider: IdentityProvider) -> Enterprise {
    Enterprise::new(provider, "id-token").client(AS, "id", "s")
}

fn idp() -> IdentityProvider {
    IdentityProvider::new("https://idp.example", "idp-id").token_endpoint(Url::parse(IDP).unwrap())
}

fn with_grant(answer: &str) -> World {
    let mut world = World::new().page(IDP, json(200, answer));
    world.assertion = Some("id-token");
    world
}

// spec: EMA-1, EMA-2, EMA-6, EMA-8
#[test]
fn an_id_token_becomes_a_grant_and_the_grant_a_token_without_a_visit() {
    let expected = [
        format!("GET {DOCUMENT}"),
        format!("GET {METADATA}"),
        format!(
            "POST {IDP} grant_type=urn:ietf:params:oauth:grant-type:token-exchange&requested_token_type=urn:ietf:params:oauth:token-type:id-jag&audience={AS}&resource={MCP}&subject_token=id-token&subject_token_type=urn:ietf:params:oauth:token-type:id_token&client_id=idp-id"
        ),
        format!(
            "POST {TOKEN} grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer&assertion=jag&resource={MCP}&client_id=id [Basic aWQ6cw==]"
        ),
        format!("SAVE tokens of {AS}"),
    ];
    assert_eq!(with_grant(GRANT).play(enterprise(idp())).trace, expected);
    let place = "https://idp.example/.well-known/oauth-authorization-server";
    let world = with_grant(GRANT).page(place, json(200, &metadata("https://idp.example", "")));
    let provider = IdentityProvider::new("https://idp.example", "idp-id").secret(Secret::from("x"));
    let played = world.play(enterprise(provider));
    assert_eq!(played.lines("GET")[2], place);
    assert!(played.lines("POST")[0].ends_with("[Basic aWRwLWlkOng=]"));
    assert!(played.end.is_ok());
}

// spec: EMA-2
#[test]
fn an_answer_of_the_identity_provider_that_is_no_grant_is_not_redeemed() {
    for answer in [
        r#"{"access_token":"jag","issued_token_type":"urn:ietf:params:oauth:token-type:access_token","token_type":"N_A"}"#,
        r#"{"access_token":"jag","issued_token_type":"urn:ietf:params:oauth:token-type:id-jag","token_type":"Bearer"}"#,
        r#"{"access_token":"jag"}"#,
        "{}",
    ] {
        let played = with_grant(answer).play(enterprise(idp()));
        assert!(played.redemptions().is_empty() && played.end.is_err(), "{answer}");
    }
    let refusal = r#"{"error":"invalid_grant","error_description":"id-token is old"}"#;
    let played = with_grant("").page(IDP, json(400, refusal)).play(enterprise(idp()));
    assert!(played.refusal().ends_with("ID token: invalid_grant"), "{}", played.refusal());
}
