//! An endpoint with authorization: every request is judged by its credential, before its body.

mod builder;
mod client;
mod documents;
mod expiry;
mod handles;
mod login;
mod requests;
mod scopes;
mod tokens;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bowline::http::{Admit, CredentialRefusal, VerifiedCaller};
use bowline::{Claims, Context, Server, Tool};
use bytes::Bytes;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode};

use crate::test_server::{Handlers, TestServer, sample_server};
use crate::wire::Request;

const METADATA: &str = "/.well-known/oauth-protected-resource";

/// Verifies tokens such as `ann@issuer mcp,admin 60`: a subject, an issuer, scopes, and the seconds
/// until the token expires.
#[derive(Default)]
struct TestAdmit {
    /// How many requests it has judged.
    judged: AtomicUsize,
}

impl TestAdmit {
    fn judge(&self, head: &Parts) -> Result<VerifiedCaller, CredentialRefusal> {
        self.judged.fetch_add(1, Ordering::Relaxed);
        let value = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = value.and_then(|value| value.strip_prefix("Bearer "));
        let token = token.ok_or_else(|| unauthorized("a token is required"))?;
        let mut parts = token.split(' ');
        let name = parts.next().and_then(|name| name.split_once('@'));
        let (subject, issuer) = name.ok_or_else(|| unauthorized("the token is malformed"))?;
        let scopes = parts.next().unwrap_or_default().split(',').filter(|scope| !scope.is_empty());
        let caller = VerifiedCaller::new(Claims::new(issuer, subject).scopes(scopes));
        let header = HeaderName::from_static("dpop-nonce");
        let caller = caller.with_header(header, HeaderValue::from_static("next"));
        match parts.next().map(|seconds| seconds.parse().unwrap()) {
            Some(0) => Err(unauthorized("the token has expired")),
            Some(seconds) => Ok(caller.with_validity(Duration::from_secs(seconds))),
            None => Ok(caller),
        }
    }
}

fn unauthorized(reason: &str) -> CredentialRefusal {
    let challenge = format!("Bearer resource_metadata=\"http://localhost{METADATA}/mcp\"");
    CredentialRefusal::new(StatusCode::UNAUTHORIZED, reason, challenge_header(&challenge))
}

fn challenge_header(challenge: &str) -> HeaderMap {
    HeaderMap::from_iter([(WWW_AUTHENTICATE, HeaderValue::from_str(challenge).unwrap())])
}

impl Admit for TestAdmit {
    fn admit<'a>(
        &'a self,
        head: &'a Parts,
    ) -> Pin<Box<dyn Future<Output = Result<VerifiedCaller, CredentialRefusal>> + Send + 'a>> {
        Box::pin(async {
            // It may wait, for example for keys.
            tokio::task::yield_now().await;
            self.judge(head)
        })
    }

    fn insufficient_scope(&self, needed: &[String]) -> HeaderMap {
        let scopes = needed.join(" ");
        challenge_header(&format!("Bearer error=\"insufficient_scope\", scope=\"mcp {scopes}\""))
    }

    fn document(&self, path: &str) -> Option<Bytes> {
        let is_here = path == METADATA || path == format!("{METADATA}/mcp");
        is_here.then(|| Bytes::from_static(br#"{"resource":"http://localhost/mcp"}"#))
    }
}

fn admit() -> Arc<dyn Admit> {
    Arc::new(TestAdmit::default())
}

/// Says what a handler knows of its caller.
async fn whoami(caller: Claims, context: Context) -> String {
    assert_eq!(context.headers().get(AUTHORIZATION), None, "no handler sees the token");
    let scopes: Vec<&str> = context.access().scopes().collect();
    let (issuer, subject) = context.owner().identity().unwrap();
    assert_eq!((issuer, subject), (&*caller.issuer, &*caller.subject));
    format!("{subject} {}", scopes.join(","))
}

/// The sample server, with tools that need a caller or scopes.
fn server() -> (Server, Handlers) {
    let (server, handlers) = sample_server();
    let server = server
        .tool(Tool::new("whoami", whoami))
        .tool(Tool::new("purge", || async { "gone" }).require_scope("admin"))
        .tool(Tool::new("export", || async { "out" }).step_up_scope("export"));
    (server, handlers)
}

async fn start() -> TestServer {
    TestServer::of(server(), |http| http.public_url("http://localhost/mcp").auth(admit())).await
}

/// Adds a token to a request.
fn by(token: &str, request: Request) -> Request {
    request.with("Authorization", format!("Bearer {token}"))
}
