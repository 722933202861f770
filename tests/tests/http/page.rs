//! The page that a browser gets when a person opens the address of an endpoint.

use std::process::Stdio;

use bowline::Server;
use bowline_proto::limits::Limits;
use bowline_types::revision::Revision;
use serde_json::json;
use tokio::process::Command;

use crate::test_server::{PATIENCE, TestServer, modern, sample_server};
use crate::wire::Request;

/// What Chromium sends when a person types an address.
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,image/webp,*/*;q=0.8";

/// A request of a browser.
pub(crate) fn browsing() -> Request {
    Request::new("GET", String::new())
        .with("Accept", BROWSER)
        .with("Sec-Fetch-Site", "none")
        .with("Sec-Fetch-Mode", "navigate")
}

// spec: HTTP-40, H26-4
#[tokio::test]
async fn a_browser_gets_a_page_that_says_what_the_server_offers() {
    let server = TestServer::open().await;
    let request = browsing().set("Host", format!("localhost:{}", server.address.port()));
    let answer = server.ask(&request).await;
    assert_eq!(answer.status(), 405);
    assert_eq!(answer.header("allow"), Some("GET, POST, DELETE, OPTIONS"));
    assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
    let policy = answer.header("content-security-policy").unwrap();
    assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
    let url = format!("http://localhost:{}/mcp", server.address.port());
    for part in [
        "<h1>stage</h1>",
        "stage 1.0.0",
        "<li>12 tools: <code>echo</code>, <code>forever</code>",
        "<li>2 resources:",
        &format!("claude mcp add --transport http stage {url}"),
        &format!("{{ &quot;type&quot;: &quot;http&quot;, &quot;url&quot;: &quot;{url}&quot; }}"),
        &format!("<pre>bowline connect {url}</pre>"),
    ] {
        assert!(answer.body.contains(part), "{part}: {}", answer.body);
    }
    assert_eq!(server.endpoint.sessions(), 0);
}

// spec: HTTP-40
#[tokio::test]
async fn requests_of_clients_get_no_page() {
    let server = TestServer::open().await;
    let session = server.session(Revision::V2025_11_25).await;
    let get = |accept: &str| Request::new("GET", String::new()).with("Accept", accept);
    let plain = [
        (get("*/*"), 400),
        (get("application/json"), 406),
        (get("text/html, text/event-stream"), 400),
        (get("text/event-stream"), 400),
        (Request::new("GET", String::new()), 400),
        (session.named(get("text/html")), 406),
        (get("text/html").with("MCP-Protocol-Version", "2026-07-28"), 405),
        (get("text/html").with("MCP-Protocol-Version", "2025-11-25"), 406),
        (get("text/html").with("Last-Event-ID", "0.1"), 406),
        (Request::new("HEAD", String::new()).with("Accept", BROWSER), 405),
        (Request::new("PUT", String::new()).with("Accept", BROWSER), 405),
        (browsing().target("/other"), 404),
    ];
    for (request, status) in plain {
        let head = server.ask_head(&request).await;
        assert_eq!(head.status, status, "{request:?}");
        assert_eq!(head.header("content-type"), Some("application/json"), "{request:?}");
    }
    server.stream(&session.get()).await;
}

#[tokio::test]
async fn a_request_that_the_gate_refuses_gets_no_page() {
    let server = TestServer::open().await;
    for refused in [
        browsing().set("Host", "evil.example"),
        browsing().set("Sec-Fetch-Site", "cross-site"),
        browsing().with("Origin", "https://evil.example"),
    ] {
        let answer = server.ask(&refused).await;
        assert_eq!(answer.status(), 403);
        assert_eq!(answer.header("content-type"), Some("application/json"));
    }
}

#[tokio::test]
async fn the_page_names_the_public_url() {
    let url = "https://mcp.example.com/api/mcp";
    let server = TestServer::with(|http| http.public_url(url)).await;
    let answer = server.ask(&browsing().set("Host", "mcp.example.com")).await;
    assert!(answer.body.contains(&format!("<pre>bowline connect {url}</pre>")), "{}", answer.body);
    let server = TestServer::with(|http| http.host("box.internal")).await;
    let answer = server.ask(&browsing().set("Host", "box.internal")).await;
    let connect = "<pre>bowline connect http://box.internal/mcp</pre>";
    assert!(answer.body.contains(connect), "{}", answer.body);
}

#[tokio::test]
async fn a_server_without_the_stateless_revision_shows_its_name_and_no_lists() {
    let (server, handlers) = sample_server();
    let legacy = (server.revisions([Revision::V2025_11_25]), handlers);
    let server = TestServer::of(legacy, |http| http).await;
    let answer = server.ask(&browsing()).await;
    assert_eq!(answer.status(), 405);
    assert!(answer.body.contains("<h1>stage</h1>"), "{}", answer.body);
    assert!(!answer.body.contains("What it offers"), "{}", answer.body);
}

#[tokio::test]
async fn a_page_counts_against_the_pace_of_its_caller() {
    let mut limits = Limits::default();
    limits.requests_per_minute = 5;
    let (server, handlers) = sample_server();
    let server = TestServer::of((server.limits(limits), handlers), |http| http).await;
    assert!(server.ask(&browsing()).await.body.contains("12 tools"));
    let list = modern(1, "tools/list", json!({}));
    assert_eq!(server.ask(&list).await.status(), 200);
    assert_eq!(server.ask(&list).await.status(), 429);
    // The page itself costs nothing but its lists.
    let page = server.ask(&browsing()).await;
    assert_eq!(page.status(), 405);
    assert!(!page.body.contains("12 tools"), "{}", page.body);
}

#[tokio::test]
async fn chromium_shows_the_page_and_blocks_nothing_of_it() {
    let hostile = Server::new("<script>document.title='run'</script>", "1");
    let (_, handlers) = sample_server();
    let server = TestServer::of((hostile, handlers), |http| http).await;
    let profile = tempfile::tempdir().unwrap();
    let browser = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--no-proxy-server", "--disable-sync", "--enable-logging=stderr"])
        .args(["--disable-background-networking", "--disable-component-update", "--dump-dom"])
        .arg(format!("--user-data-dir={}", profile.path().join("profile").display()))
        .arg(format!("http://{}/mcp", server.address))
        .env("HOME", profile.path())
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    // A browser takes longer than a server to start.
    let shown = tokio::time::timeout(6 * PATIENCE, browser).await.expect("in time").unwrap();
    let (dom, said) =
        (String::from_utf8_lossy(&shown.stdout), String::from_utf8_lossy(&shown.stderr));
    assert!(dom.contains("<h1>&lt;script&gt;document.title='run'&lt;/script&gt;</h1>"), "{dom}");
    assert!(dom.contains("Claude Code, in a terminal"), "{dom}");
    assert!(!said.contains("Refused to apply"), "{said}");
    assert!(!said.contains("Content Security Policy directive"), "{said}");
}
