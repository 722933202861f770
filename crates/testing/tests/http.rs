//! The harness uses HTTP as each revision defines it.

use std::sync::{Arc, Mutex};

use bowline::layer::{self, Next};
use bowline::{Server, Tool};
use bowline_proto::request::Request;
use bowline_testing::{Harness, TransportKind};

/// A server, and the head of the HTTP request of the last call.
fn server() -> (Server, Arc<Mutex<Option<http::request::Parts>>>) {
    let last = Arc::<Mutex<_>>::default();
    let seen = Arc::clone(&last);
    let look = move |request: Request, next: Next| {
        *seen.lock().unwrap() = request.parts.extensions.get::<http::request::Parts>().cloned();
        next.run(request)
    };
    let tool = Tool::new("greet", || async { "Good morning" });
    (Server::new("greeter", "1.0.0").tool(tool).layer(layer::from_fn(look)), last)
}

#[bowline::test(every_revision, stateless)]
async fn a_call_over_http_has_the_headers_and_target_of_its_revision(t: Harness) {
    let (server, last) = server();
    t.connect(server).await.call("greet", ()).await.unwrap();
    let head = last.lock().unwrap().take();
    let is_http = matches!(t.case().transport, TransportKind::Http | TransportKind::Stateless);
    assert_eq!(head.is_some(), is_http);
    let Some(head) = head else { return };
    assert_eq!(head.method, "POST");
    let has = |name| head.headers.contains_key(name);
    let revision = t.revision();
    let is_streamable = revision.has_streamable_http();
    let has_session =
        is_streamable && revision.has_sessions() && t.case().transport == TransportKind::Http;
    assert_eq!(has("mcp-session-id"), has_session);
    assert_eq!(head.uri.query().is_some(), !is_streamable);
    assert_eq!(has("mcp-protocol-version"), revision.has_version_header());
    assert_eq!(has("mcp-method"), revision.has_mirrored_headers());
}
