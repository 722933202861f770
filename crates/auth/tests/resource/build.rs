//! Settings that would make a resource unsafe are refused when it is built.

use std::sync::Arc;

use bowline_auth::fetch::Fetcher;
use bowline_auth::resource::{
    Admission, Denied, FixedTokens, Jwt, Presented, Verify, VerifyContext, verify_fn,
};
use bowline_proto::request::Claims;

use super::authority::{ISSUER, Network, RESOURCE, at};

fn refusal(resource: &str, verify: impl Verify) -> String {
    match Admission::new(resource, verify, Network::with_keys(&[])) {
        Ok(admission) => panic!("{admission:?}"),
        Err(error) => error.to_string(),
    }
}

fn jwt() -> Jwt {
    Jwt::issuer(ISSUER).audience(RESOURCE)
}

// spec: REFR-5
#[test]
fn a_resource_that_would_ask_for_a_refresh_token_is_not_built() {
    assert!(refusal(RESOURCE, jwt().require_scope("offline_access")).contains("offline_access"));
}

#[test]
fn a_malformed_setting_is_not_built() {
    assert!(refusal(RESOURCE, jwt().require_scope("a b")).contains("is no scope"));
    assert!(refusal("mcp.example.com", jwt()).contains("is no URL"));
    assert!(refusal("https://mcp.example.com/mcp#x", jwt()).contains("has a fragment"));
    assert!(refusal(RESOURCE, Jwt::issuer("as").audience(RESOURCE)).contains("is no URL"));
}

#[test]
fn a_resource_in_plain_http_is_built_on_this_machine_only() {
    assert!(refusal("http://mcp.example.com/mcp", jwt()).contains("must be an https URL"));
    for resource in ["http://localhost:3000/mcp", "http://127.0.0.1/mcp", "http://[::1]:3000"] {
        assert!(Admission::new(resource, jwt(), Network::with_keys(&[])).is_ok(), "{resource}");
    }
}

// spec: AUTH-8
#[test]
fn an_issuer_in_plain_http_is_accepted_on_this_machine_only() {
    let jwt = |issuer: &str| Jwt::issuer(issuer).audience(RESOURCE);
    assert!(refusal(RESOURCE, jwt("http://as.example")).contains("must be an https URL"));
    for issuer in ["http://127.0.0.1:4444", "http://localhost:4444/tenant"] {
        assert!(Admission::new(RESOURCE, jwt(issuer), Network::with_keys(&[])).is_ok());
    }
}

#[test]
fn debug_output_names_settings_and_no_secret() {
    let admission = Admission::new(RESOURCE, jwt(), Network::with_keys(&[])).unwrap();
    assert!(format!("{admission:?}").starts_with("Admission(Url("));
    assert!(format!("{:?}", jwt()).contains(ISSUER));
    let function = verify_fn(ISSUER, |_: Presented| async { Err::<Claims, _>(Denied::Expired) });
    assert!(format!("{function:?}").contains(ISSUER));
    assert_eq!(format!("{:?}", Presented::new("canary")), "Presented(Secret(…))");
    let fetcher = Arc::new(Network::default()) as Arc<dyn Fetcher>;
    let context = VerifyContext { now: at(0), peer: None, fetcher: &fetcher };
    assert!(format!("{context:?}").starts_with("VerifyContext"));
}

#[test]
fn fixed_tokens_are_accepted_on_this_machine_only() {
    let tokens = FixedTokens::new([("dev", Claims::new("dev", "ann"))]);
    assert!(refusal(RESOURCE, tokens).contains("fixed tokens are for development"));
}
