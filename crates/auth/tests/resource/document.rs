//! The metadata document of a resource.

use bowline_auth::metadata::resource::ResourceMetadata;
use bowline_auth::resource::{Admission, FixedTokens, Jwt};
use bowline_auth::url::Url;
use bowline_proto::request::Claims;
use serde_json::{Value, json};

use super::authority::{DOCUMENT, ISSUER, Network, RESOURCE, at, bearer, head, outcome};

fn admission(jwt: Jwt) -> Admission {
    Admission::new(RESOURCE, jwt, Network::with_keys(&[])).unwrap()
}

fn jwt() -> Jwt {
    Jwt::issuer(ISSUER).audience(RESOURCE)
}

// spec: PRM-1, PRM-2, PRM-13, SCOPE-20
#[test]
fn the_document_names_the_issuer_and_the_scopes_of_every_call() {
    let admission = admission(jwt().require_scope("mcp").scope_includes("admin", ["mcp"]));
    let document = admission.document().unwrap();
    let body: Value = serde_json::from_slice(&document.body()).unwrap();
    let expected = json!({
        "resource": RESOURCE,
        "authorization_servers": [ISSUER],
        "scopes_supported": ["mcp"],
        "bearer_methods_supported": ["header"],
    });
    assert_eq!(body, expected);
    assert_eq!(document.address().as_str(), DOCUMENT);
    assert_eq!(document.path(), "/.well-known/oauth-protected-resource/mcp");
    assert_eq!(document.root_path(), "/.well-known/oauth-protected-resource");
    let text = String::from_utf8(document.body().to_vec()).unwrap();
    assert!(ResourceMetadata::parse(&text, &Url::parse(RESOURCE).unwrap()).is_ok());
}

#[test]
fn a_resource_that_demands_proofs_says_so() {
    let admission = admission(jwt().dpop());
    let body: Value = serde_json::from_slice(&admission.document().unwrap().body()).unwrap();
    assert_eq!(body["dpop_bound_access_tokens_required"], true);
    assert_eq!(
        body["dpop_signing_alg_values_supported"],
        json!(["ES256", "EdDSA", "PS256", "RS256"])
    );
    assert_eq!(body.get("scopes_supported"), None);
}

#[tokio::test]
async fn fixed_tokens_have_no_document() {
    let claims = Claims::new("dev", "ann").scopes(["mcp"]);
    let expired = Claims::new("dev", "bob").expires(at(0));
    let current = claims.clone().expires(at(1));
    let tokens = FixedTokens::new([("dev", claims), ("old", expired), ("new", current)]);
    assert_eq!(format!("{tokens:?}"), "FixedTokens(3)");
    let tokens = tokens.require_scope("mcp");
    let admission =
        Admission::new("http://127.0.0.1:3000/mcp", tokens, Network::with_keys(&[])).unwrap();
    assert!(admission.document().is_none());
    let none = admission.admit(&head("/mcp", &[]), at(0)).await;
    assert_eq!(outcome(&none), (401, "Bearer scope=\"mcp\"".to_owned()));
    for (token, status) in [("dev", 200), ("new", 200), ("old", 401), ("other", 401), ("DEV", 401)]
    {
        assert_eq!(outcome(&admission.admit(&bearer(token), at(0)).await).0, status, "{token}");
    }
}
