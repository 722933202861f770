//! Which sessions are written into the store.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{Request, Response, Success};
use bowline_proto::server::ServerConfig;
use bowline_store::Memory;
use bowline_types::capability::ServerCapabilities;
use bowline_types::discover::DiscoverResult;
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;
use http_body_util::Full;

use super::super::super::{Endpoint, HttpConfig};
use super::super::session::Session;

/// Describes itself, whatever it is asked.
#[derive(Clone)]
struct Mirror;

impl tower_service::Service<Request> for Mirror {
    type Response = Response;
    type Error = Infallible;
    type Future = Ready<Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let described = DiscoverResult::new(Revision::ALL, ServerCapabilities::new());
        ready(Ok(Success::complete(described, request.parts.revision)))
    }
}

async fn shake_hands(config: HttpConfig) {
    let server = Arc::new(ServerConfig::new(Implementation::new("test", "1")));
    let endpoint = Endpoint::new(Mirror, server, config);
    let params = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#;
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
    let request = http::Request::post("/mcp")
        .header("Host", "localhost")
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .body(Full::new(bytes::Bytes::from(body)));
    let answer = endpoint.answer(request.unwrap()).await;
    assert_eq!(answer.status(), 200);
    assert_eq!(endpoint.sessions(), 1);
}

#[tokio::test]
async fn a_session_is_written_only_where_others_can_read_it() {
    for is_shared in [false, true] {
        let store = Arc::new(Memory::default());
        let config = HttpConfig { is_shared, ..HttpConfig::new().with_store(store.clone()) };
        shake_hands(config).await;
        assert_eq!(store.bytes() > 0, is_shared);
    }
}

// What only some sessions need is boxed: most do nothing but wait to be of use.
#[test]
fn a_session_is_small() {
    assert!(size_of::<Session>() <= 1024, "{} bytes", size_of::<Session>());
}
