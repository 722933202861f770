//! Which sessions are written into the store.

use std::sync::Arc;

use bowline_store::MemoryBackend;
use http_body_util::Full;

use super::super::super::{HttpConfig, test_endpoint};
use super::super::session::HttpSession;

async fn shake_hands(config: HttpConfig) {
    let endpoint = test_endpoint::endpoint(config);
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
        let store = Arc::new(MemoryBackend::default());
        let config = HttpConfig { is_shared, ..HttpConfig::new().with_store(store.clone()) };
        shake_hands(config).await;
        assert_eq!(store.bytes() > 0, is_shared);
    }
}

// What only some sessions need is boxed: most sessions are idle.
#[test]
fn a_session_is_small() {
    assert!(size_of::<HttpSession>() <= 1024, "{} bytes", size_of::<HttpSession>());
}
