//! The harness speaks HTTP as each revision has it.

use std::sync::{Arc, Mutex};

use bowline::layer::{self, Next};
use bowline::proto::request::Request;
use bowline::{Server, Tool};
use bowline_testing::{Carrier, Harness};

/// A server, and the head of the HTTP request that its tool was last called by.
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
async fn a_call_comes_the_way_that_its_revision_has(t: Harness) {
    let (server, last) = server();
    t.connect(server).await.call("greet", ()).await.unwrap();
    let head = last.lock().unwrap().take();
    let is_http = matches!(t.case().carrier, Carrier::Http | Carrier::Stateless);
    assert_eq!(head.is_some(), is_http);
    let Some(head) = head else { return };
    assert_eq!(head.method, "POST");
    let has = |name| head.headers.contains_key(name);
    let revision = t.revision();
    let is_streamable = revision.has_streamable_http();
    let has_session = is_streamable && !revision.is_modern() && t.case().carrier == Carrier::Http;
    assert_eq!(has("mcp-session-id"), has_session);
    assert_eq!(head.uri.query().is_some(), !is_streamable);
    assert_eq!(has("mcp-protocol-version"), revision.has_version_header());
    assert_eq!(has("mcp-method"), revision.is_modern());
}
