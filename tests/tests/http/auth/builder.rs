//! What an endpoint needs to be built, and claims that outer layers attach.

use std::sync::Arc;

use bowline::http::{Admit, Authorization};
use bowline::{Access, Claims, Server, Tool};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};

use super::{admit, server};
use crate::test_server::{call, text_of};

#[test]
fn a_server_that_needs_scopes_or_claims_is_not_served_without_authorization() {
    let whoami = Tool::new("whoami", |caller: Claims| async { caller.subject });
    let purge = Tool::new("purge", || async {}).require_scope("admin");
    for (tool, why) in [(whoami, "`whoami` takes `Claims`"), (purge, "`purge` needs scopes")] {
        let server = Server::new("api", "1").tool(tool);
        let error = server.http().build().unwrap_err().to_string();
        assert!(error.starts_with(&format!("tool {why}, but")), "{error}");
        assert!(error.contains(".auth(..)") && error.contains(".trust_outer_claims()"), "{error}");
        assert!(server.http().trust_outer_claims().build().is_ok());
        assert!(server.http().public_url("https://a.example/mcp").auth(admit()).build().is_ok());
        // Over stdio it needs nothing.
        assert!(server.build().is_ok());
    }
}

#[tokio::test]
async fn authorization_allows_an_address_that_other_machines_reach() {
    let http = || Server::new("api", "1").http().public_url("https://a.example/mcp");
    let refused = http().listen("0.0.0.0:0").await.err().unwrap().to_string();
    assert!(refused.contains("auth(..)"), "{refused}");
    assert!(http().trust_outer_claims().listen("0.0.0.0:0").await.is_err());
    assert!(http().auth(admit()).listen("0.0.0.0:0").await.is_ok());
}

/// Notes for which URL it verifies tokens.
struct Noting(std::sync::mpsc::Sender<String>);

impl Authorization for Noting {
    fn admit_to(self: Arc<Self>, resource: &str) -> Result<Arc<dyn Admit>, String> {
        self.0.send(resource.to_owned()).unwrap();
        if resource.starts_with("http:") && !resource.contains("127.0.0.1") {
            return Err(format!("`{resource}` is not confidential"));
        }
        Ok(admit())
    }
}

#[tokio::test]
async fn tokens_are_issued_for_the_public_url_or_for_the_address_of_this_machine() {
    let (sender, noted) = std::sync::mpsc::channel();
    let http = || Server::new("api", "1").http().auth(Noting(sender.clone()));
    assert!(http().public_url("https://a.example/mcp").build().is_ok());
    assert_eq!(noted.recv().unwrap(), "https://a.example/mcp");
    let bound = http().listen("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", bound.address().unwrap());
    assert_eq!(noted.recv().unwrap(), url);
    let error = http().public_url("http://a.example/mcp").build().unwrap_err().to_string();
    assert_eq!(error, "`http://a.example/mcp` is not confidential");
    let missing = "`.auth(..)` needs `.public_url(..)`: tokens are issued for that URL";
    assert_eq!(http().build().unwrap_err().to_string(), missing);
    assert!(http().listen("0.0.0.0:0").await.is_err());
}

/// The status and the body of a call that an outer layer passes on.
async fn called(name: &str, attach: impl FnOnce(&mut http::Extensions)) -> (u16, Value) {
    let endpoint = server().0.http().trust_outer_claims().build().unwrap();
    let request = call(name, json!({}));
    let (method, headers, body) = request.parts();
    let mut asked = http::Request::builder().method(method).uri("/mcp");
    for (name, value) in headers {
        asked = asked.header(name, value.as_slice());
    }
    let mut asked = asked.body(Full::new(Bytes::copy_from_slice(body))).unwrap();
    attach(asked.extensions_mut());
    let answer = endpoint.answer(asked).await;
    let status = answer.status().as_u16();
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap())
}

#[tokio::test]
async fn outer_layers_may_attach_claims() {
    let (status, answer) = called("purge", |_| {}).await;
    assert_eq!((status, &answer["error"]["code"]), (403, &json!(403)));
    let claims = |outer: &mut http::Extensions| {
        outer.insert(Claims::new("issuer", "ann").scopes(["admin"]));
    };
    let (status, answer) = called("purge", claims).await;
    assert_eq!((status, text_of(&answer)), (200, "gone"));
    let access = |outer: &mut http::Extensions| {
        outer.insert(Access::to(["export"]));
    };
    assert_eq!(called("purge", access).await.0, 403);
    assert_eq!(called("export", access).await.0, 200);
}
