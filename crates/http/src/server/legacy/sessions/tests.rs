//! Which sessions are written into the store.

use std::sync::Arc;

use bowline_store::MemoryBackend;
use http_body_util::{BodyExt as _, Full};

use super::super::super::{Body, Endpoint, HttpConfig, test_endpoint};
use super::super::session::HttpSession;

async fn initialize(endpoint: &Endpoint, name: &str) -> http::Response<Body> {
    let params = format!(
        r#"{{"protocolVersion":"2025-11-25","capabilities":{{}},"clientInfo":{{"name":"{name}","version":"1"}}}}"#
    );
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
    let request = http::Request::post("/mcp")
        .header("Host", "localhost")
        .header("Content-Type", "application/json")
        .header("Accept", "application/json, text/event-stream")
        .body(Full::new(bytes::Bytes::from(body)));
    endpoint.answer(request.unwrap()).await
}

async fn shake_hands(config: HttpConfig) {
    let endpoint = test_endpoint::endpoint(config);
    assert_eq!(initialize(&endpoint, "a").await.status(), 200);
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

#[tokio::test]
async fn a_client_cannot_fill_the_store_with_its_session() {
    let store = Arc::new(MemoryBackend::default());
    let config = HttpConfig { is_shared: true, ..HttpConfig::new().with_store(store.clone()) };
    let endpoint = test_endpoint::endpoint(config);
    let answer = initialize(&endpoint, &"a".repeat(65 * 1024)).await;
    assert_eq!(answer.status(), 503);
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let body = String::from_utf8_lossy(&body).into_owned();
    assert!(body.contains("at most 65536 are allowed"), "{body}");
    assert!(store.bytes() < 65 * 1024, "{} bytes", store.bytes());
}

// What only some sessions need is boxed: most sessions are idle.
#[test]
fn a_session_is_small() {
    assert!(size_of::<HttpSession>() <= 1024, "{} bytes", size_of::<HttpSession>());
}
