//! Which hosts and origins the server answers, in every form and every place of a request.

use serde_json::json;

use crate::http2::Http2Client;
use crate::test_server::{PATIENCE, TestServer, call, modern, within};
use crate::wire::{Request, Wire};

/// Values of `Host`, and the status of the response.
const HOSTS: [(&[u8], u16); 33] = [
    (b"localhost", 200),
    (b"localhost:80", 200),
    (b"localhost:12345", 200),
    (b"LOCALHOST", 200),
    (b"LocalHost:1", 200),
    (b"localhost.", 200),
    (b"127.0.0.1", 200),
    (b"127.0.0.1:3000", 200),
    (b"[::1]", 200),
    (b"[::1]:3000", 200),
    (b"mcp.example.com", 200),
    (b"mcp.example.com:443", 200),
    (b"MCP.Example.Com.", 200),
    (b"mcp.internal:8080", 200),
    (b"mcp.example.com:80", 403),
    (b"mcp.example.com:8443", 403),
    (b"mcp.internal", 403),
    (b"mcp.internal:80", 403),
    (b"evil.com", 403),
    (b"localhost.evil.com", 403),
    (b"evil.com:3000", 403),
    (b"localhost..", 403),
    (b"null", 403),
    (b"127.0.0.2", 403),
    (b"[::2]", 403),
    (b"app.example.com", 403),
    (b"user@localhost", 400),
    (b"localhost:99999", 400),
    (b"localhost:80:80", 400),
    (b"[::1", 400),
    (b"localhost evil.com", 400),
    ("löcalhost".as_bytes(), 400),
    (b"", 400),
];

/// Values of `Origin`, and the status of the response.
const ORIGINS: [(&[u8], u16); 36] = [
    (b"http://localhost", 200),
    (b"https://localhost", 200),
    (b"http://localhost:3000", 200),
    (b"HTTP://LOCALHOST:3000", 200),
    (b"http://localhost.", 200),
    (b"http://127.0.0.1:8080", 200),
    (b"http://[::1]:8080", 200),
    (b"https://app.example.com", 200),
    (b"https://app.example.com:443", 200),
    (b"https://APP.example.com", 200),
    (b"https://mcp.example.com", 200),
    (b"chrome-extension://hgfedcba", 200),
    (b"tauri://localhost", 200),
    (b"chrome-extension://abcdefgh", 403),
    (b"chrome-extension://hgfedcba:80", 403),
    (b"moz-extension://hgfedcba", 403),
    (b"app://localhost", 403),
    (b"http://app.example.com", 403),
    (b"http://app.example.com:443", 403),
    (b"https://app.example.com:8443", 403),
    (b"https://sub.app.example.com", 403),
    (b"http://mcp.example.com", 403),
    (b"http://evil.com", 403),
    (b"http://localhost.evil.com", 403),
    (b"http://evil.com/localhost", 403),
    (b"http://evil.com#localhost", 403),
    (b"http://user@localhost", 403),
    (b"http://localhost/", 403),
    (b"http://localhost:99999", 403),
    (b"http://localhost http://evil.com", 403),
    (b"ftp://localhost", 403),
    (b"file://", 403),
    (b"localhost", 403),
    (b"null", 403),
    (b"", 403),
    ("http://löcalhost".as_bytes(), 403),
];

async fn server() -> TestServer {
    TestServer::with(|http| {
        http.http2()
            .public_url("https://mcp.example.com/mcp")
            .host("mcp.internal:8080")
            .origin("https://app.example.com")
            .origin("chrome-extension://hgfedcba")
            .origin("tauri://localhost")
    })
    .await
}

fn ping() -> Request {
    modern(1, "server/discover", json!({}))
}

fn shown(value: &[u8]) -> String {
    String::from_utf8_lossy(value).into_owned()
}

/// Checks that a refusal is a JSON-RPC error without an id, and says what to do.
fn check_refusal(body: &str, setting: &str) {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    assert!(body["error"]["message"].as_str().unwrap().contains(setting), "{body}");
    assert!(body.get("id").is_none(), "{body}");
}

// spec: HSEC-1
#[tokio::test]
async fn the_server_answers_only_known_hosts() {
    let server = server().await;
    for (host, status) in HOSTS {
        let answer = server.ask(&ping().set("Host", host)).await;
        assert_eq!(answer.status(), status, "{}", shown(host));
        if status == 403 {
            check_refusal(&answer.body, ".host(");
        }
    }
    assert_eq!(server.ask(&ping().without("Host")).await.status(), 400);
    for second in ["localhost", "evil.com"] {
        let twice = ping().with("Host", second);
        assert_eq!(server.ask(&twice).await.status(), 400, "two hosts, even if both are known");
    }
}

// spec: HSEC-1
#[tokio::test]
async fn the_server_checks_the_host_in_the_request_target() {
    let server = server().await;
    for (host, status) in HOSTS {
        let target = format!("http://{}/mcp", shown(host));
        let answer = server.ask(&ping().set("Host", host).target(target)).await;
        assert_eq!(answer.status(), status, "{}", shown(host));
    }
    for known in ["localhost", "localhost:80"] {
        let split = ping().set("Host", known).target("http://evil.com/mcp");
        assert_eq!(server.ask(&split).await.status(), 400, "two names that differ");
    }
    let split = ping().set("Host", "evil.com").target("http://localhost/mcp");
    assert_eq!(server.ask(&split).await.status(), 400, "either way round");
    let alone = ping().without("Host").target("http://localhost/mcp");
    assert_eq!(server.ask(&alone).await.status(), 200);
}

#[tokio::test]
async fn the_server_speaks_http2_only_if_it_is_enabled() {
    // An HTTP/2 client waits for a request longer than the test does.
    let server = TestServer::limited(|it| it.head = PATIENCE * 2).await;
    let mut wire = Wire::open(server.address).await;
    wire.write(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    within(wire.closed()).await;
}

// spec: HSEC-1
#[tokio::test]
async fn the_server_checks_the_authority_of_http2() {
    let server = server().await;
    let mut client = Http2Client::open(server.address).await;
    let mut said = 0;
    for (host, status) in HOSTS {
        let Some((answered, body)) = within(client.ask(host, &ping())).await else { continue };
        assert_eq!(answered, status, "{}", shown(host));
        if status == 403 {
            check_refusal(&body, ".host(");
        }
        said += 1;
    }
    assert!(said > 25, "most of these can be said over HTTP/2, not {said}");
}

// spec: HSEC-1, HSEC-2, HSEC-3
#[tokio::test]
async fn the_server_answers_only_pages_of_known_origins() {
    let server = server().await;
    let mut client = Http2Client::open(server.address).await;
    for (origin, status) in ORIGINS {
        let request = ping().with("Origin", origin);
        let answer = server.ask(&request).await;
        assert_eq!(answer.status(), status, "{}", shown(origin));
        let (answered, _) = within(client.ask(b"localhost", &request)).await.unwrap();
        assert_eq!(answered, status, "{} over HTTP/2", shown(origin));
        let absolute = request.target("http://localhost/mcp");
        assert_eq!(server.ask(&absolute).await.status(), status, "{}", shown(origin));
        if status == 403 {
            check_refusal(&answer.body, ".origin(");
        }
    }
    let twice = ping().with("Origin", "http://localhost").with("Origin", "http://localhost");
    assert_eq!(server.ask(&twice).await.status(), 400);
}

// spec: HSEC-1
#[tokio::test]
async fn the_server_checks_sec_fetch_site_if_there_is_no_origin() {
    let server = server().await;
    let cases = [("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)];
    for (site, status) in cases {
        let request = ping().with("Sec-Fetch-Site", site);
        assert_eq!(server.ask(&request).await.status(), status, "{site}");
        let known = request.with("Origin", "https://app.example.com");
        assert_eq!(server.ask(&known).await.status(), 200, "{site} with a known origin");
    }
}

// spec: HSEC-1, HSEC-2
#[tokio::test]
async fn every_method_and_every_path_is_behind_the_gate() {
    let server = server().await;
    for method in ["GET", "POST", "DELETE", "PUT", "OPTIONS", "HEAD"] {
        for path in ["/mcp", "/", "/other", "/mcp?session=x"] {
            let request = Request::new(method, String::new()).target(path);
            let host = request.clone().set("Host", "evil.com");
            let origin = request.clone().with("Origin", "http://evil.com");
            for refused in [host, origin] {
                let mut wire = Wire::send(server.address, &refused).await;
                assert_eq!(within(wire.head()).await.status, 403, "{method} {path}");
            }
            let mut wire = Wire::send(server.address, &request).await;
            let status = within(wire.head()).await.status;
            let is_here = path.starts_with("/mcp");
            assert_eq!(status == 404, !is_here, "{method} {path}: {status}");
        }
    }
}

// spec: HTTP-15
#[tokio::test]
async fn the_server_refuses_a_body_of_another_content_type_without_reading_it() {
    let server = server().await;
    let types = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""];
    for kind in types {
        let request = call("echo", json!({ "text": "a" })).set("Content-Type", kind);
        let mut wire = Wire::open(server.address).await;
        wire.write(&request.head()).await;
        assert_eq!(within(wire.answer()).await.status(), 415, "{kind}");
    }
    for kind in ["application/json", "application/json; charset=utf-8", "Application/JSON"] {
        let request = call("echo", json!({ "text": "a" })).set("Content-Type", kind);
        assert_eq!(server.ask(&request).await.status(), 200, "{kind}");
    }
}

// RFC 9110, 8.4 and 12.5.3: the refusal of an unknown content coding lists the known ones.
#[tokio::test]
async fn the_server_refuses_a_body_in_an_unknown_content_coding_without_reading_it() {
    let server = server().await;
    for coding in ["gzip", "br", "identity, gzip", "x-unknown", "\u{e4}"] {
        let request = call("echo", json!({ "text": "a" })).with("Content-Encoding", coding);
        let mut wire = Wire::open(server.address).await;
        wire.write(&request.head()).await;
        let answer = within(wire.answer()).await;
        assert_eq!((answer.status(), answer.header("accept-encoding")), (415, Some("identity")));
    }
    let twice = call("echo", json!({ "text": "a" }))
        .with("Content-Encoding", "identity")
        .with("Content-Encoding", "gzip");
    assert_eq!(server.ask(&twice).await.status(), 415);
    for coding in ["identity", "Identity", "", "identity, identity"] {
        let request = call("echo", json!({ "text": "a" })).with("Content-Encoding", coding);
        assert_eq!(server.ask(&request).await.status(), 200, "{coding}");
    }
}

// RFC 6585, 5: one header that is too large, or all of them together.
#[tokio::test]
async fn a_head_over_the_limit_is_431() {
    let plain = TestServer::open().await;
    let server = server().await;
    let one = ping().with("X-Long", "x".repeat(100_000));
    let some = (0..90).fold(ping(), |it, number| it.with(&format!("X-{number}"), "x".repeat(1100)));
    let many = (0..1000).fold(ping(), |it, number| it.with(&format!("X-{number}"), "x"));
    for request in [&one, &some, &many] {
        assert_eq!(plain.ask(request).await.status(), 431);
        assert_eq!(server.ask(request).await.status(), 431, "beside HTTP/2");
    }
    for request in [&one, &some] {
        let mut client = Http2Client::open(server.address).await;
        assert_eq!(within(client.ask(b"localhost", request)).await.unwrap().0, 431, "over HTTP/2");
    }
    let fits = ping().with("X-Long", "x".repeat(50_000));
    assert_eq!(plain.ask(&fits).await.status(), 200);
    let mut client = Http2Client::open(server.address).await;
    assert_eq!(within(client.ask(b"localhost", &fits)).await.unwrap().0, 200);
}

// spec: HTTP-4
#[tokio::test]
async fn the_server_refuses_a_client_that_accepts_only_one_content_type() {
    let server = server().await;
    for accept in ["application/json", "text/event-stream", "text/html", ""] {
        let request = ping().set("Accept", accept);
        let mut wire = Wire::open(server.address).await;
        wire.write(&request.head()).await;
        assert_eq!(within(wire.answer()).await.status(), 406, "{accept}");
    }
    for accept in ["*/*", "text/event-stream;q=0.5,application/json", "application/*, text/*"] {
        assert_eq!(server.ask(&ping().set("Accept", accept)).await.status(), 200, "{accept}");
    }
}

#[tokio::test]
async fn the_server_refuses_an_ambiguous_http_request() {
    let server = server().await;
    let lengths = ping().with("Content-Length", "5").with("Content-Length", "6");
    let folded = ping().with("Mcp-Name", "a\r\n b");
    let spaced = ping().with("Mcp-Name ", "a");
    for request in [lengths, folded, spaced] {
        assert_eq!(server.ask(&request).await.status(), 400, "{request:?}");
    }
}

// spec: HSEC-4, HSEC-5
#[tokio::test]
async fn the_server_listens_beyond_loopback_only_on_demand() {
    let (server, _) = crate::test_server::sample_server();
    let refused = server.http().listen("0.0.0.0:0").await.err().unwrap().to_string();
    assert!(refused.contains("allow_unauthenticated_network"), "{refused}");
    assert!(server.http().allow_unauthenticated_network().listen("0.0.0.0:0").await.is_ok());
    assert!(server.http().listen("127.0.0.1:0").await.is_ok());
}
