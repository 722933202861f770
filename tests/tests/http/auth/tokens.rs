//! Access tokens of a real authorization server, in both eras.

use std::sync::mpsc;

use bowline::auth::{FixedTokens, Jwt};
use bowline::http::Authorization;
use bowline::{Claims, Server};
use bowline_testing::oauth::{AuthorizationServer, OAuthEndpoint};
use bowline_types::revision::Revision;
use serde_json::json;

use super::{METADATA, by, server};
use crate::test_server::{Session, TestServer, call, initialize, text_of};
use crate::wire::Request;

const RESOURCE: &str = "http://localhost/mcp";

async fn start(auth: impl Authorization) -> TestServer {
    TestServer::of(server(), |http| http.public_url(RESOURCE).auth(auth)).await
}

fn jwt(authority: &AuthorizationServer) -> Jwt {
    Jwt::issuer(authority.issuer()).audience(RESOURCE).require_scope("mcp")
}

/// A call of a tool in both eras, with the token that opens the session.
async fn calls(server: &TestServer, token: &str, name: &str) -> [Request; 2] {
    let revision = Revision::V2025_11_25;
    let opened = server.ask(&by(token, Request::post(initialize(revision)))).await;
    let id = opened.header("mcp-session-id").unwrap().to_owned();
    [call(name, json!({})), Session { id, revision }.call(name, json!({}))]
}

// spec: TOK-4, TOK-5, TOK-6, TOK-7
#[tokio::test]
async fn a_token_of_the_authorization_server_admits_its_user_in_both_eras() {
    let authority = AuthorizationServer::start().resource(RESOURCE).await;
    let server = start(jwt(&authority)).await;
    let token =
        |scopes: &[&str]| authority.token().subject("ann").scopes(scopes.iter().copied()).build();
    let good = token(&["mcp"]);
    for whoami in calls(&server, &good, "whoami").await {
        let answer = server.ask(&by(&good, whoami.clone())).await;
        assert_eq!((answer.status(), text_of(&answer.json())), (200, "ann mcp"));
        let metadata = format!("resource_metadata=\"http://localhost{METADATA}/mcp\"");
        let absent = server.ask(&whoami).await;
        let challenge = format!("Bearer {metadata}, scope=\"mcp\"");
        assert_eq!((absent.status(), absent.header("www-authenticate")), (401, Some(&*challenge)));
        for bad in [
            authority.token().subject("ann").scopes(["mcp"]).expired().build(),
            authority.token().subject("ann").scopes(["mcp"]).audience("https://b.example").build(),
            "e30.e30.e30".to_owned(),
        ] {
            let refused = server.ask(&by(&bad, whoami.clone())).await;
            let challenge = refused.header("www-authenticate").unwrap();
            assert_eq!(refused.status(), 401, "{refused:?}");
            assert!(challenge.starts_with("Bearer error=\"invalid_token\""), "{challenge}");
            assert!(challenge.contains(&metadata), "{challenge}");
        }
        assert_eq!(server.ask(&by(&token(&["other"]), whoami)).await.status(), 403);
    }
    for purge in calls(&server, &good, "purge").await {
        let refused = server.ask(&by(&good, purge.clone())).await;
        let challenge = refused.header("www-authenticate").unwrap();
        assert_eq!((refused.status(), refused.code()), (403, 403), "{refused:?}");
        assert!(challenge.contains("error=\"insufficient_scope\""), "{challenge}");
        assert!(challenge.contains("scope=\"mcp admin\""), "{challenge}");
        let granted = server.ask(&by(&token(&["mcp", "admin"]), purge)).await;
        assert_eq!((granted.status(), text_of(&granted.json())), (200, "gone"));
    }
    // One fetch served them all.
    assert_eq!(authority.requests_to(OAuthEndpoint::Jwks).len(), 1);
}

// spec: PRM-1, PRM-2
#[tokio::test]
async fn the_metadata_document_names_the_authorization_server() {
    let authority = AuthorizationServer::start().resource(RESOURCE).await;
    let server = start(jwt(&authority)).await;
    for path in [METADATA.to_owned(), format!("{METADATA}/mcp")] {
        let answer = server.ask(&Request::get().target(path)).await;
        let document = answer.json();
        assert_eq!(answer.status(), 200);
        assert_eq!(document["resource"], RESOURCE);
        assert_eq!(document["authorization_servers"], json!([authority.issuer()]));
        assert_eq!(document["scopes_supported"], json!(["mcp"]));
    }
}

#[tokio::test]
async fn a_client_does_not_learn_why_keys_cannot_be_fetched_and_the_operator_does() {
    let authority = AuthorizationServer::start().resource(RESOURCE).await;
    let token = authority.token().subject("ann").scopes(["mcp"]).build();
    let (sender, reasons) = mpsc::channel();
    // Nothing listens at port 1.
    let unreachable = "http://127.0.0.1:1/jwks".parse().unwrap();
    let jwt = jwt(&authority).jwks_uri(unreachable);
    let report = move |error: &bowline::auth::Error| sender.send(error.to_string()).unwrap();
    let server = start(jwt.on_unavailable(report)).await;
    let answer = server.ask(&by(&token, call("whoami", json!({})))).await;
    assert_eq!((answer.status(), answer.header("retry-after")), (503, Some("5")));
    assert_eq!(answer.header("www-authenticate"), None);
    assert!(answer.reason().contains("access tokens cannot be verified now"), "{answer:?}");
    assert!(!answer.body.contains("127.0.0.1:1"), "{answer:?}");
    let reason = reasons.recv().unwrap();
    assert!(reason.contains("http://127.0.0.1:1/jwks"), "{reason}");
}

#[tokio::test]
async fn fixed_tokens_are_for_this_machine_only() {
    let tokens = || FixedTokens::new([("dev", Claims::new("dev", "ann").scopes(["mcp"]))]);
    let server = start(tokens()).await;
    let answer = server.ask(&by("dev", call("whoami", json!({})))).await;
    assert_eq!((answer.status(), text_of(&answer.json())), (200, "ann mcp"));
    assert_eq!(server.ask(&by("prod", call("whoami", json!({})))).await.status(), 401);
    let http = || Server::new("api", "1").http().auth(tokens());
    let public = http().public_url("https://mcp.example.com/mcp").build().unwrap_err().to_string();
    assert!(public.contains("fixed tokens are for development"), "{public}");
    for http in [http().public_url(RESOURCE), http().allow_unauthenticated_network()] {
        let refused =
            http.public_url(RESOURCE).listen("0.0.0.0:0").await.err().unwrap().to_string();
        assert!(refused.contains("for development on this machine"), "{refused}");
    }
}
