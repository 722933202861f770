//! Pages in Chromium, which decides what they may do: with `fetch` alone, with the TypeScript SDK,
//! and from an origin that is not allowed.

use std::net::SocketAddr;
use std::path::{Component, Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use http::header::CONTENT_TYPE;
use http::{StatusCode, Uri};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::test_server::TestServer;

/// How long a page may take from the start of the browser. It takes seconds unless the machine is busy.
const PATIENCE: Duration = Duration::from_secs(120);

/// The paths of modules by their bare names.
const MODULES: &str = r#"{ "imports": {
    "@modelcontextprotocol/client": "/node_modules/@modelcontextprotocol/client/dist/index.mjs",
    "@modelcontextprotocol/client/_shims": "/node_modules/@modelcontextprotocol/client/dist/shimsBrowser.mjs",
    "@modelcontextprotocol/core/internal": "/node_modules/@modelcontextprotocol/core/dist/internal.mjs",
    "eventsource": "/node_modules/eventsource/dist/index.js",
    "eventsource-parser": "/node_modules/eventsource-parser/dist/index.js",
    "eventsource-parser/stream": "/node_modules/eventsource-parser/dist/stream.js",
    "pkce-challenge": "/node_modules/pkce-challenge/dist/index.browser.js",
    "zod/v4": "/node_modules/zod/v4/index.js"
} }"#;

/// Serves the pages in `tests/peers/browser`, and receives their reports.
struct Site {
    address: SocketAddr,
    reports: mpsc::UnboundedReceiver<Value>,
    serving: JoinHandle<()>,
}

impl Site {
    async fn open() -> Self {
        let (reported, reports) = mpsc::unbounded_channel();
        let report = async move |body: String| {
            let _ = reported.send(serde_json::from_str(&body).unwrap());
        };
        let app = Router::new()
            .route("/page/{name}", get(page))
            .route("/report", post(report))
            .fallback(get(file));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, reports, serving }
    }

    /// The origin of the pages under one of their host names. Every name below
    /// `localhost` is this machine.
    fn origin(&self, host: &str) -> String {
        format!("http://{host}:{}", self.address.port())
    }

    /// Waits for the next report of a page.
    async fn report(&mut self, browser: &mut Browser) -> Value {
        let reported = async {
            tokio::select! {
                report = self.reports.recv() => report.expect("the site takes reports"),
                ended = browser.process.wait() => panic!("Chromium ended: {ended:?}"),
            }
        };
        let report = tokio::time::timeout(PATIENCE, reported).await;
        let report = report.unwrap_or_else(|_| panic!("no report: {}", browser.complaints()));
        assert_eq!(report["failed"], Value::Null, "{}", report["failed"].as_str().unwrap_or(""));
        report
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn page(uri: Uri) -> ([(http::HeaderName, &'static str); 1], String) {
    let name = uri.path().trim_start_matches("/page/");
    let html = format!(
        r#"<!DOCTYPE html><link rel="icon" href="data:,">
        <script type="importmap">{MODULES}</script>
        <script type="module">
            import {{ report }} from "/browser/report.mjs";
            import("/browser/{name}.mjs").catch(error => report({{ failed: String(error) }}));
        </script>"#
    );
    ([(CONTENT_TYPE, "text/html")], html)
}

async fn file(uri: Uri) -> Result<([(http::HeaderName, &'static str); 1], Vec<u8>), StatusCode> {
    let path = Path::new(uri.path().trim_start_matches('/'));
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    let path = is_below.then(|| peers().join(path)).ok_or(StatusCode::NOT_FOUND)?;
    let text = std::fs::read(path).map_err(|_| StatusCode::NOT_FOUND)?;
    Ok(([(CONTENT_TYPE, "text/javascript")], text))
}

fn peers() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("peers")
}

/// Chromium with a new profile; stopped on drop.
struct Browser {
    process: Child,
    files: TempDir,
}

impl Browser {
    /// Opens a page that calls a server.
    fn open(origin: &str, page: &str, server: SocketAddr) -> Self {
        let files = tempfile::tempdir().unwrap();
        let complaints = std::fs::File::create(files.path().join("stderr")).unwrap();
        let process = Command::new("chromium")
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
            .args(["--no-first-run", "--no-proxy-server", "--disable-quic", "--disable-sync"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .arg(format!("--user-data-dir={}", files.path().join("profile").display()))
            .arg(format!("{origin}/page/{page}?server=http://{server}/mcp"))
            .env("HOME", files.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(complaints)
            .kill_on_drop(true)
            .spawn()
            .expect("Chromium starts; `tests/peers/install.sh` installs it");
        Self { process, files }
    }

    fn complaints(&self) -> String {
        std::fs::read_to_string(self.files.path().join("stderr")).unwrap_or_default()
    }

    /// Stops it, so that nothing writes into its files while they are deleted.
    async fn close(mut self) {
        self.process.kill().await.unwrap();
    }
}

// spec: HSEC-1, HTTP-13, HTTP-40, SESS-1, RESUME-5, XMH-21
#[tokio::test]
async fn a_page_of_an_allowed_origin_can_use_both_eras() {
    let mut site = Site::open().await;
    let origin = site.origin("app.localhost");
    let server = TestServer::with(|http| http.origin(&origin)).await;
    let mut browser = Browser::open(&origin, "fetch", server.address);
    assert_eq!(site.report(&mut browser).await, "listening");
    server.notify.tools_changed();
    let seen = &site.report(&mut browser).await["done"];
    assert_eq!(
        seen["legacy"],
        json!({
            "session": "string",
            "revision": "2025-11-25",
            "initialized": 202,
            "stream": "notifications/tools/list_changed",
            "call": ["notifications/progress", "arrived"],
            "resumed": ["arrived"],
            "ended": 204,
            "gone": 404,
            "reason": "there is no such session; it ended or expired: `initialize` again",
        })
    );
    assert_eq!(
        seen["modern"],
        json!({
            "placed": "us-west1 42",
            "wrong": { "status": 400, "code": -32020 },
            "advanced": ["notifications/progress", "arrived"],
        })
    );
    assert_eq!(
        seen["wrong"],
        json!({
            "path": { "status": 404, "reason": "there is nothing under this path" },
            "method": { "status": 405, "allow": "GET, POST, DELETE, OPTIONS" },
            "otherMethod": "TypeError",
            "otherHeader": "TypeError",
            "cookies": "TypeError",
        })
    );
    browser.close().await;
}

// By default, pages of this machine may call.
#[tokio::test]
async fn the_typescript_sdk_in_a_page_can_use_both_eras() {
    let mut site = Site::open().await;
    let server = TestServer::open().await;
    let mut browser = Browser::open(&site.origin("localhost"), "sdk", server.address);
    let seen = &site.report(&mut browser).await["done"];
    let eras = [
        ("legacy", "2025-11-25", "string"),
        ("modern", "2026-07-28", "undefined"),
        ("auto", "2026-07-28", "undefined"),
    ];
    for (era, revision, session) in eras {
        assert_eq!(
            seen[era],
            json!({
                "revision": revision,
                "session": session,
                "lists": true,
                "progress": ["on the way"],
                "advanced": "arrived",
                "placed": "us-west1 42",
            }),
            "{era}"
        );
    }
    browser.close().await;
}

// spec: HSEC-1, HSEC-2
#[tokio::test]
async fn a_page_of_another_origin_can_call_nothing_and_read_nothing() {
    let mut site = Site::open().await;
    let allowed = site.origin("app.localhost");
    let server = TestServer::with(|http| http.origin(&allowed)).await;
    // The tool that the page wants to call would finish at once.
    server.handlers.step(1);
    let mut browser = Browser::open(&site.origin("other.localhost"), "refused", server.address);
    let seen = site.report(&mut browser).await;
    assert_eq!(
        seen["done"],
        json!({
            "json": "TypeError",
            "text": "TypeError",
            "unread": "opaque 0",
            "stream": "TypeError",
            "ended": "TypeError",
        })
    );
    server.handlers.ended(0).await;
    assert_eq!(server.endpoint.sessions(), 0);
    browser.close().await;
}
