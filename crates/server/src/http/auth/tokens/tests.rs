//! What becomes of a token at an endpoint, without a network.

use std::time::{Duration, UNIX_EPOCH};

use bowline_auth::error::Error;
use bowline_auth::fetch::{FetchRequest, Fetched};
use bowline_proto::request::Claims;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};

use super::*;

const ISSUER: &str = "https://as.example";
const RESOURCE: &str = "https://mcp.example.com/mcp";

/// A network without any server.
struct Nowhere;

impl Fetcher for Nowhere {
    fn fetch(&self, _: FetchRequest) -> BoxFuture<'_, Result<Fetched, Error>> {
        Box::pin(async { Err(Error::fetch("there is no network")) })
    }
}

fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_700_000_000)
}

/// Accepts the token `good` of `ann`, which expires a minute after noon.
fn admit() -> TokenAdmit {
    let verify = bowline_auth::resource::verify_fn(ISSUER, |token: Presented| async move {
        let claims = Claims::new(ISSUER, "ann").scopes(["mcp", "admin"]);
        match token.expose() {
            "good" => Ok(claims.expires(noon() + Duration::from_secs(60))),
            "endless" => Ok(claims),
            _ => Err(Denied::Unverifiable),
        }
    });
    let verify = verify.require_scope("mcp").scope_includes("admin", ["audit"]);
    let admit = TokenAdmit::fetching(RESOURCE, Arc::new(verify), Arc::new(Nowhere)).unwrap();
    TokenAdmit { now: noon, ..admit }
}

fn head(token: &str) -> Parts {
    let request = http::Request::post("/mcp").header(AUTHORIZATION, format!("Bearer {token}"));
    request.body(()).unwrap().into_parts().0
}

#[tokio::test]
async fn an_admitted_caller_has_its_claims_the_scopes_that_they_include_and_an_end() {
    let caller = admit().admit(&head("good")).await.unwrap();
    let claims = caller.claims.unwrap();
    assert_eq!((claims.subject.as_str(), caller.owner), ("ann", claims.owner()));
    assert!(["mcp", "admin", "audit"].into_iter().all(|scope| caller.access.has(scope)));
    assert_eq!(caller.valid_for, Some(Duration::from_secs(60)));
    assert_eq!(admit().admit(&head("endless")).await.unwrap().valid_for, None);
}

// spec: SCOPE-11
#[test]
fn a_challenge_names_the_scopes_of_the_server_and_of_the_feature() {
    let headers = admit().insufficient_scope(&["export".to_owned()]);
    let challenge = headers[WWW_AUTHENTICATE].to_str().unwrap();
    assert!(challenge.starts_with("Bearer error=\"insufficient_scope\""), "{challenge}");
    assert!(challenge.contains("scope=\"mcp export\""), "{challenge}");
}

// spec: PRM-2
#[test]
fn the_document_is_at_the_path_of_the_resource_and_at_the_root() {
    let admit = admit();
    let at = |path: &str| admit.document(path);
    let document = at("/.well-known/oauth-protected-resource/mcp").unwrap();
    assert!(document.starts_with(br#"{"resource":"https://mcp.example.com/mcp""#));
    assert_eq!(at("/.well-known/oauth-protected-resource"), Some(document));
    for path in ["/mcp", "/.well-known/oauth-protected-resource/", "/.well-known/openid"] {
        assert_eq!(at(path), None, "{path}");
    }
}

#[tokio::test]
async fn why_tokens_cannot_be_verified_is_for_the_operator_alone() {
    let (sender, reasons) = std::sync::mpsc::channel();
    let jwt = Jwt::issuer(ISSUER).audience(RESOURCE);
    let jwt = jwt.on_unavailable(move |error| sender.send(error.to_string()).unwrap());
    let admit = TokenAdmit::fetching(RESOURCE, Arc::new(jwt), Arc::new(Nowhere)).unwrap();
    // {"alg":"RS256"}, {} and a signature.
    let refusal = admit.admit(&head("eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl")).await.unwrap_err();
    let refusal = format!("{refusal:?}");
    assert!(refusal.contains("503") && !refusal.contains("network"), "{refusal}");
    assert_eq!(reasons.recv().unwrap(), "the authorization server has no metadata document");
}

#[test]
fn a_wrong_setting_is_found_when_the_endpoint_is_built() {
    let at = |resource, setting: Jwt| TokenAdmit::at(resource, Arc::new(setting)).err();
    let jwt = || Jwt::issuer(ISSUER).audience(RESOURCE);
    assert_eq!(at(RESOURCE, jwt()), None);
    assert!(at("http://mcp.example.com/mcp", jwt()).unwrap().contains("must be an https URL"));
    assert!(at(RESOURCE, jwt().require_scope("a b")).unwrap().contains("is no scope"));
}
