//! Challenges about scopes.

use bowline_auth::resource::{Admission, Presented, verify_fn};
use bowline_proto::request::Claims;

use super::authority::{DOCUMENT, ISSUER, Network, RESOURCE, at, bearer, outcome};

/// A resource whose tokens are the scopes that they have, joined by `~`.
fn admission(required: &[&str]) -> Admission {
    let verify = verify_fn(ISSUER, |token: Presented| async move {
        Ok(Claims::new(ISSUER, "ann").scopes(token.expose().split('~')))
    });
    let verify = verify.scope_includes("admin", ["mcp", "files.write"]);
    let verify = verify.scope_includes("files.write", ["files.read"]);
    let verify = required.iter().fold(verify, |verify, scope| verify.require_scope(scope));
    Admission::new(RESOURCE, verify, Network::with_keys(&[])).unwrap()
}

// spec: SCOPE-9, SCOPE-10, SCOPE-11
#[test]
fn a_challenge_names_all_scopes_that_a_call_needs() {
    let rejection = admission(&["mcp"]).insufficient_scope(["export", "admin", "mcp"]);
    assert_eq!(rejection.status, 403);
    let expected = format!(
        "Bearer error=\"insufficient_scope\", error_description=\"the access token has too few scopes\", \
         resource_metadata=\"{DOCUMENT}\", scope=\"mcp export admin\""
    );
    assert_eq!(rejection.headers()["www-authenticate"], expected);
}

// spec: SCOPE-5, SCOPE-12
#[test]
fn the_same_call_gets_the_same_challenge() {
    let admission = admission(&["mcp", "base"]);
    let first = admission.insufficient_scope(["b", "a"]);
    assert_eq!(admission.insufficient_scope(["b", "a"]), first);
}

// spec: SCOPE-19
#[tokio::test]
async fn a_scope_that_includes_the_required_one_is_enough() {
    for (required, token, status) in [
        (&["mcp"][..], "mcp", 200),
        (&["mcp"], "admin", 200),
        (&["files.read"], "admin", 200),
        (&["mcp", "files.read"], "mcp", 403),
        (&["mcp", "files.read"], "mcp~files.write", 200),
        (&["admin"], "mcp~files.write", 403),
        (&[], "x", 200),
    ] {
        let result = admission(required).admit(&bearer(token), at(0)).await;
        assert_eq!(outcome(&result).0, status, "{required:?} {token}");
    }
}

#[tokio::test]
async fn without_required_scopes_a_challenge_names_none() {
    let result = admission(&[]).admit(&super::authority::head("/mcp", &[]), at(0)).await;
    assert_eq!(outcome(&result), (401, format!("Bearer resource_metadata=\"{DOCUMENT}\"")));
}
