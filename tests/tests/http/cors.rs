//! Web pages of other origins: the preflight of a browser, and what it then lets the page read.

use bowline_types::revision::Revision;
use serde_json::json;

use crate::test_server::{TestServer, call, modern, request, text_of, within};
use crate::wire::{Head, Request, Wire};

const APP: &str = "https://app.example.com";

/// Headers for browsers. A page of a refused origin must get none of them.
const FOR_PAGES: [&str; 7] = [
    "access-control-allow-origin",
    "access-control-allow-methods",
    "access-control-allow-headers",
    "access-control-allow-credentials",
    "access-control-allow-private-network",
    "access-control-expose-headers",
    "access-control-max-age",
];

async fn server() -> TestServer {
    TestServer::with(|http| http.origin(APP).public_url("https://mcp.example.com/mcp")).await
}

fn preflight(origin: &str, method: &str, headers: &str) -> Request {
    Request::new("OPTIONS", String::new())
        .with("Origin", origin)
        .with("Access-Control-Request-Method", method)
        .with("Access-Control-Request-Headers", headers)
}

/// Splits a header that is a list, in lower case.
fn listed(head: &Head, name: &str) -> Vec<String> {
    let list = head.header(name).unwrap_or_else(|| panic!("no {name}: {head:?}"));
    list.split(',').map(|item| item.trim().to_ascii_lowercase()).collect()
}

/// Checks that a page of this origin can read the response, and the protocol's headers in it.
fn check_readable(head: &Head, origin: &str) {
    assert_eq!(head.all("access-control-allow-origin"), [origin], "{head:?}");
    assert!(listed(head, "vary").contains(&"origin".to_owned()), "{head:?}");
    let exposed = listed(head, "access-control-expose-headers");
    for name in [
        "mcp-session-id",
        "mcp-protocol-version",
        "www-authenticate",
        "dpop-nonce",
        "retry-after",
        "allow",
        "accept-encoding",
    ] {
        assert!(exposed.contains(&name.to_owned()), "{name}: {head:?}");
    }
    assert_eq!(head.header("access-control-allow-credentials"), None, "{head:?}");
}

fn check_unreadable(head: &Head) {
    for name in FOR_PAGES {
        assert_eq!(head.header(name), None, "{head:?}");
    }
}

#[tokio::test]
async fn a_preflight_of_an_allowed_origin_lists_the_methods_and_headers_of_the_protocol() {
    let server = server().await;
    let needed = [
        "accept",
        "authorization",
        "content-type",
        "dpop",
        "last-event-id",
        "mcp-method",
        "mcp-name",
        "mcp-param-region",
        "mcp-param-zone",
        "mcp-protocol-version",
        "mcp-session-id",
    ];
    // An origin of `.origin` and `.public_url`, and one of this machine.
    for origin in [APP, "https://mcp.example.com", "http://localhost:5173", "http://[::1]:80"] {
        let answer = server.ask(&preflight(origin, "POST", &needed.join(","))).await;
        assert_eq!((answer.status(), answer.body.as_str()), (204, ""), "{answer:?}");
        check_readable(&answer.head, origin);
        let methods = listed(&answer.head, "access-control-allow-methods");
        assert_eq!(methods, ["get", "post", "delete"]);
        let headers = listed(&answer.head, "access-control-allow-headers");
        for name in needed {
            assert!(headers.contains(&name.to_owned()), "{name}: {headers:?}");
        }
        let age = answer.header("access-control-max-age").expect("a time to remember it");
        assert!((1..=86_400).contains(&age.parse::<u32>().unwrap()), "{age}");
    }
}

#[tokio::test]
async fn a_connection_stays_open_after_a_preflight() {
    let server = server().await;
    let mut wire = Wire::send(server.address, &preflight(APP, "POST", "content-type")).await;
    assert_eq!(within(wire.answer()).await.status(), 204);
    wire.write(&call("echo", json!({ "text": "a" })).with("Origin", APP).bytes()).await;
    let answer = within(wire.answer()).await;
    check_readable(&answer.head, APP);
    assert_eq!(text_of(&answer.json()), "a");
}

#[tokio::test]
async fn a_preflight_allows_no_other_method_and_no_other_header() {
    let server = server().await;
    let asked =
        "x-api-key, cookie, mcp-param-, mcp-param-a b, mcp-param-\u{e9}, Mcp-Param-Ok, *, mcp";
    let answer = server.ask(&preflight(APP, "PUT", asked)).await;
    assert_eq!(answer.status(), 204);
    assert_eq!(listed(&answer.head, "access-control-allow-methods"), ["get", "post", "delete"]);
    let headers = listed(&answer.head, "access-control-allow-headers");
    let known = 9;
    assert_eq!(headers[known..], ["mcp-param-ok"], "only what repeats an argument is added");
    for name in ["x-api-key", "cookie", "*", "mcp"] {
        assert!(!headers.contains(&name.to_owned()), "{name}: {headers:?}");
    }
}

#[tokio::test]
async fn only_options_is_a_preflight_whatever_its_headers() {
    let server = server().await;
    let call = call("echo", json!({ "text": "a" }));
    let call = call.with("Origin", APP).with("Access-Control-Request-Method", "POST");
    assert_eq!(text_of(&server.ask(&call).await.json()), "a");
}

#[tokio::test]
async fn without_sessions_pages_may_only_post() {
    let server = TestServer::with(|http| http.sessions(bowline_server::http::Sessions::None)).await;
    let answer = server.ask(&preflight("http://localhost", "DELETE", "")).await;
    assert_eq!(listed(&answer.head, "access-control-allow-methods"), ["post"]);
    let answer = server.ask(&Request::new("OPTIONS", String::new())).await;
    assert_eq!((answer.status(), answer.header("allow")), (204, Some("POST, OPTIONS")));
}

#[tokio::test]
async fn a_preflight_allows_private_network_access_if_the_browser_asks() {
    let server = server().await;
    let asked = preflight(APP, "POST", "").with("Access-Control-Request-Private-Network", "true");
    let answer = server.ask(&asked).await;
    assert_eq!(answer.header("access-control-allow-private-network"), Some("true"));
    let answer = server.ask(&preflight(APP, "POST", "")).await;
    assert_eq!(answer.header("access-control-allow-private-network"), None);
    let answer = server.ask(&asked.set("Origin", "https://evil.com")).await;
    assert_eq!(answer.status(), 403);
    check_unreadable(&answer.head);
}

// spec: HSEC-1, HSEC-2
#[tokio::test]
async fn the_server_refuses_pages_of_other_origins_without_cors_headers() {
    let server = server().await;
    for origin in
        ["https://evil.com", "null", "http://app.example.com", "https://app.example.com:1"]
    {
        for request in [
            preflight(origin, "POST", "content-type"),
            Request::new("OPTIONS", String::new()).with("Origin", origin),
            call("echo", json!({ "text": "a" })).with("Origin", origin),
            Request::get().with("Origin", origin),
            Request::get().target("/other").with("Origin", origin),
        ] {
            let answer = server.ask(&request).await;
            assert_eq!(answer.status(), 403, "{origin}");
            check_unreadable(&answer.head);
        }
    }
}

#[tokio::test]
async fn a_response_to_a_request_without_origin_has_no_cors_headers() {
    let server = server().await;
    let answer = server.ask(&call("echo", json!({ "text": "a" }))).await;
    check_unreadable(&answer.head);
    assert_eq!(answer.header("vary"), None);
    // Without an `Origin`, this is not a preflight.
    let answer = server.ask(&preflight("", "POST", "content-type").without("Origin")).await;
    assert_eq!(answer.status(), 204);
    assert_eq!(answer.header("allow"), Some("GET, POST, DELETE, OPTIONS"));
    check_unreadable(&answer.head);
}

// spec: HTTP-10, HTTP-11, SESS-1
#[tokio::test]
async fn pages_can_read_every_answer_to_a_message() {
    let server = server().await;
    let session = server.session(Revision::V2025_11_25).await;
    let notification =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9}}"#;
    let put = Request::new("PUT", String::new());
    let elsewhere = Request::get().target("/other");
    for (request, status) in [
        (Request::post(crate::test_server::initialize(Revision::V2025_06_18)), 200),
        (session.call("echo", json!({ "text": "a" })), 200),
        (session.post(notification), 202),
        (call("echo", json!({ "text": "a" })), 200),
        (modern(1, "server/discover", json!({})), 200),
        (call("echo", json!({})).set("Mcp-Name", "other"), 400),
        (session.post("{"), 400),
        (Request::get(), 400),
        (session.clone().resume("nowhere"), 400),
        (session.post(request(1, "ping", json!({}))).set("Mcp-Session-Id", "gone"), 404),
        (modern(1, "no/such", json!({})), 404),
        (elsewhere, 404),
        (put, 405),
        (session.get().set("Accept", "text/html"), 406),
        (session.post("{}").set("Content-Type", "text/plain"), 415),
        (session.post("{}").with("Content-Encoding", "gzip"), 415),
        (session.delete(), 204),
    ] {
        let answer = server.ask(&request.with("Origin", APP)).await;
        assert_eq!(answer.status(), status, "{answer:?}");
        check_readable(&answer.head, APP);
    }
}

#[tokio::test]
async fn pages_can_read_a_404() {
    let server = server().await;
    let asked = preflight(APP, "POST", "content-type").target("/other");
    let answer = server.ask(&asked).await;
    assert_eq!(answer.status(), 204, "or the browser would not send the request");
    check_readable(&answer.head, APP);
}

#[tokio::test]
async fn pages_can_read_retry_after() {
    let server = TestServer::limited(|it| it.calls = 0).await;
    let request = call("echo", json!({ "text": "a" })).with("Origin", "http://localhost:5173");
    let answer = server.ask(&request).await;
    assert_eq!((answer.status(), answer.header("retry-after")), (503, Some("1")));
    check_readable(&answer.head, "http://localhost:5173");
}

#[tokio::test]
async fn pages_can_read_streams() {
    let server = server().await;
    let session = server.session(Revision::V2025_11_25).await;
    let told = json!({ "count": 1 });
    let listening = crate::test_server::listen(json!({ "toolsListChanged": true }));
    for request in
        [session.call("tell", told.clone()), session.get(), call("tell", told), listening]
    {
        server.handlers.step(2);
        let mut wire = Wire::send(server.address, &request.with("Origin", APP)).await;
        let head = within(wire.head()).await;
        assert!(head.status == 200 && head.is_stream(), "{head:?}");
        check_readable(&head, APP);
    }
}
