//! The metadata document: where clients find it, without a token.

use axum::Router;
use bowline::Server;
use serde_json::json;
use tower_service::Service as _;

use super::{METADATA, admit, by, server, start};
use crate::test_server::call;
use crate::wire::Request;

fn get(path: &str) -> Request {
    Request::new("GET", String::new()).target(path)
}

// spec: PRM-1, PRM-5
#[tokio::test]
async fn the_listener_serves_the_document_with_the_path_of_the_endpoint_and_without() {
    let server = start().await;
    for path in [METADATA.to_owned(), format!("{METADATA}/mcp")] {
        let answer = server.ask(&get(&path)).await;
        assert_eq!(
            (answer.status(), answer.json()["resource"].as_str()),
            (200, Some("http://localhost/mcp"))
        );
        assert_eq!(answer.header("content-type"), Some("application/json"));
        assert_eq!(server.ask(&Request::post("{}").target(path.clone())).await.status(), 405);
        let foreign = get(&path).set("Host", "evil.example");
        assert_eq!(server.ask(&foreign).await.status(), 403);
        let page = get(&path).with("Origin", "http://localhost:3000");
        let exposed = server.ask(&page).await;
        assert_eq!(exposed.header("access-control-allow-origin"), Some("http://localhost:3000"));
    }
    for path in ["/.well-known/oauth-protected-resource/other", "/", "/.well-known"] {
        assert_eq!(server.ask(&get(path)).await.status(), 404, "{path}");
    }
}

async fn ask(app: &mut Router, request: &Request, path: &str) -> (u16, String) {
    let (method, headers, body) = request.parts();
    let mut asked = http::Request::builder().method(method).uri(path);
    for (name, value) in headers {
        asked = asked.header(name, value.as_slice());
    }
    let body = axum::body::Body::from(body.to_vec());
    let answer = app.call(asked.body(body).unwrap()).await.unwrap();
    let status = answer.status().as_u16();
    let bytes = axum::body::to_bytes(answer.into_body(), 10_000).await.unwrap();
    (status, String::from_utf8(bytes.to_vec()).unwrap())
}

// spec: PRM-5
#[tokio::test]
async fn a_program_that_mounts_the_endpoint_mounts_the_document_beside_it() {
    let http = server().0.http().public_url("http://localhost/mcp").auth(admit());
    let mut app = Router::new().nest_service(METADATA, http.metadata()).nest_service("/mcp", http);
    for path in [METADATA.to_owned(), format!("{METADATA}/mcp")] {
        let (status, body) = ask(&mut app, &get(&path), &path).await;
        assert_eq!((status, &*body), (200, r#"{"resource":"http://localhost/mcp"}"#), "{path}");
    }
    assert_eq!(ask(&mut app, &get(METADATA), &format!("{METADATA}/other")).await.0, 404);
    let list = call("echo", json!({ "text": "hello" }));
    assert_eq!(ask(&mut app, &list, "/mcp").await.0, 401);
    assert_eq!(ask(&mut app, &by("ann@issuer", list), "/mcp").await.0, 200);
    // Without authorization there is no document.
    let plain = Server::new("api", "1").http();
    let mut app = Router::new().nest_service(METADATA, plain.metadata());
    assert_eq!(ask(&mut app, &get(METADATA), METADATA).await.0, 404);
}
