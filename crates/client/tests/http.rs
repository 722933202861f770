//! What is specific to HTTP: arguments repeated in headers, renewed sessions, addresses.

use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bowline_client::types::deprecated::logging::LoggingLevel;
use bowline_client::types::revision::Revision;
use bowline_client::{Client, HttpTransport};
use bytes::Bytes;
use futures_core::future::BoxFuture;
use http::{HeaderMap, Method, Request, Response};
use http_body_util::Full;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// Makes a server's response, a status and a body, from a message and its headers.
type Answer = dyn Fn(&HeaderMap, &Value) -> (u16, Value) + Send + Sync;

/// A server made from a function.
#[derive(Clone)]
struct Server {
    answer: Arc<Answer>,
    seen: Arc<Mutex<Vec<(HeaderMap, Value)>>>,
}

impl Server {
    fn new(answer: impl Fn(&HeaderMap, &Value) -> (u16, Value) + Send + Sync + 'static) -> Self {
        Self { answer: Arc::new(answer), seen: Arc::default() }
    }

    fn transport(&self) -> HttpTransport {
        HttpTransport::with_service("http://server.example/mcp", self.clone()).unwrap()
    }

    /// Listens on a socket; returns the address.
    async fn listen(self) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let service = TowerToHyperService::new(self.clone());
                let served = http1::Builder::new().serve_connection(TokioIo::new(socket), service);
                tokio::spawn(served);
            }
        });
        url
    }

    /// The received requests of a method.
    fn seen(&self, method: &str) -> Vec<(HeaderMap, Value)> {
        let seen = self.seen.lock().unwrap();
        seen.iter().filter(|(_, message)| message["method"] == method).cloned().collect()
    }

    fn respond(&self, headers: HeaderMap, body: &Bytes) -> Response<Full<Bytes>> {
        let message: Value = serde_json::from_slice(body).unwrap_or_default();
        let (status, mut body) = match message.get("id") {
            Some(_) => (self.answer)(&headers, &message),
            None => (202, Value::Null),
        };
        let mut response = Response::builder().status(status);
        if let Some(session) = body.get("session").and_then(Value::as_str) {
            response = response.header("mcp-session-id", session);
        }
        let body = match body.as_object_mut() {
            Some(members) => {
                members.remove("session");
                members.insert("jsonrpc".into(), json!("2.0"));
                members.insert("id".into(), message["id"].clone());
                response = response.header("content-type", "application/json");
                body.to_string()
            }
            None => String::new(),
        };
        self.seen.lock().unwrap().push((headers, message));
        response.body(Full::from(body)).unwrap()
    }
}

impl<B> tower_service::Service<Request<B>> for Server
where
    B: http_body_util::BodyExt<Data = Bytes, Error: std::fmt::Debug> + Send + 'static,
{
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            if parts.method != Method::POST {
                return Ok(Response::builder().status(405).body(Full::default()).unwrap());
            }
            let body = body.collect().await.unwrap().to_bytes();
            Ok(server.respond(parts.headers, &body))
        })
    }
}

/// A tool whose `region` goes into a header of this name.
fn tool(name: &str, header: &Value) -> Value {
    let region = json!({ "type": "string", "x-mcp-header": header });
    json!({ "name": name, "inputSchema": { "type": "object", "properties": { "region": region } } })
}

fn result(mut members: Value) -> (u16, Value) {
    members["resultType"] = json!("complete");
    (200, json!({ "result": members }))
}

fn discovered() -> (u16, Value) {
    result(json!({ "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} } }))
}

/// A modern server whose tool `where` has its region repeated in this header, and is listed so.
fn wants(header: &'static str) -> Server {
    Server::new(move |headers, message| match message["method"].as_str() {
        Some("server/discover") => discovered(),
        Some("tools/list") => {
            let tools = [tool("broken", &json!("no header")), tool("where", &json!(header))];
            result(json!({ "tools": tools, "ttlMs": 0, "cacheScope": "private" }))
        }
        _ if headers.contains_key(format!("mcp-param-{header}")) => {
            result(json!({ "content": [] }))
        }
        _ => (400, json!({ "error": { "code": -32020, "message": "a header is missing" } })),
    })
}

// spec: XMH-2, XMH-11, XMH-12, XMH-18, XMH-28
#[tokio::test]
async fn arguments_are_repeated_as_the_tool_was_listed() {
    let server = wants("region");
    let diagnostics = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&diagnostics);
    let client = Client::builder("test", "1")
        .on_diagnostic(move |what| heard.lock().unwrap().push(what.to_owned()))
        .connect(server.transport())
        .await
        .unwrap();
    let tools = client.tools().all().await.unwrap();
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["where"]);
    let warnings = diagnostics.lock().unwrap().clone();
    let [warning] = &warnings[..] else { panic!("one tool is left out: {warnings:?}") };
    assert!(warning.starts_with("the tool `broken` is left out: "), "{warning}");
    client.call("where", json!({ "region": "eu" })).await.unwrap();
    let [(headers, _)] = &server.seen("tools/call")[..] else { panic!("one call is enough") };
    assert_eq!(headers["mcp-param-region"], "eu");
}

// spec: XMH-26, XMH-28
#[tokio::test]
async fn a_call_whose_headers_are_refused_is_repeated_once_with_the_headers_of_a_fresh_list() {
    let server = wants("region");
    let client = Client::connect(server.transport()).await.unwrap();
    client.call("where", json!({ "region": "eu" })).await.unwrap();
    let calls = server.seen("tools/call");
    let sent: Vec<_> = calls.iter().map(|(headers, _)| headers.get("mcp-param-region")).collect();
    assert!(matches!(sent[..], [None, Some(_)]), "{sent:?}");
    assert_eq!(server.seen("tools/list").len(), 1);

    // This tool is not listed, so its headers cannot be repaired.
    let error = client.call("where", json!({})).await.unwrap_err();
    assert_eq!(error.rpc().unwrap().code, -32020);
    assert_eq!(server.seen("tools/call").len(), 3);
}

// spec: XMH-8
#[tokio::test]
async fn an_integer_that_no_header_can_repeat_is_not_sent() {
    let server = Server::new(|_, message| match message["method"].as_str() {
        Some("server/discover") => discovered(),
        _ => {
            let count = json!({ "type": "integer", "x-mcp-header": "Count" });
            let schema = json!({ "type": "object", "properties": { "count": count } });
            result(json!({ "tools": [{ "name": "many", "inputSchema": schema }],
                "ttlMs": 0, "cacheScope": "private" }))
        }
    });
    let client = Client::connect(server.transport()).await.unwrap();
    client.tools().all().await.unwrap();
    let error = client.call("many", json!({ "count": 1_u64 << 60 })).await.unwrap_err();
    assert!(error.to_string().contains("`arguments.count`"), "{error}");
    assert!(server.seen("tools/call").is_empty());
}

// spec: SESS-9
#[tokio::test]
async fn a_new_session_gets_the_same_log_level() {
    let sessions = Mutex::new(0);
    let renewed = Arc::new(Notify::new());
    let levels = Arc::clone(&renewed);
    let server = Server::new(move |headers, message| match message["method"].as_str() {
        Some("initialize") => {
            let mut sessions = sessions.lock().unwrap();
            *sessions += 1;
            let capabilities = json!({ "tools": {}, "logging": {} });
            let info = json!({ "name": "server", "version": "1" });
            let result = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities,
                "serverInfo": info });
            (200, json!({ "session": format!("s{sessions}"), "result": result }))
        }
        Some("logging/setLevel") => {
            if headers["mcp-session-id"] == "s2" {
                levels.notify_one();
            }
            (200, json!({ "result": {} }))
        }
        _ if headers["mcp-session-id"] == "s1" => (404, Value::Null),
        _ => (200, json!({ "result": { "content": [] } })),
    });
    let client = Client::builder("test", "1")
        .revisions([Revision::V2025_11_25])
        .on_log(LoggingLevel::Warning, |_| {})
        .connect(server.transport())
        .await
        .unwrap();
    client.call("echo", ()).await.unwrap();
    renewed.notified().await;
    let asked = server.seen("logging/setLevel");
    assert!(asked.iter().all(|(_, message)| message["params"]["level"] == "warning"));
    assert_eq!(asked.len(), 2);
}

#[tokio::test]
async fn an_invalid_address_or_header_is_reported_when_connecting() {
    let error = Client::http("example.com/mcp").connect().await.unwrap_err();
    assert!(error.is_connect());
    let text = error.to_string();
    assert!(text.contains("`example.com/mcp`") && text.contains("https://"), "{text}");
    let secret = "geheim\n";
    let client = Client::http("http://localhost/").header("Authorization", secret);
    assert!(!format!("{client:?}").contains("geheim"));
    let text = client.connect().await.unwrap_err().to_string();
    assert!(text.contains("`Authorization`") && !text.contains("geheim"), "{text}");
    let text = Client::http("http://localhost/").header("a b", "").connect().await.unwrap_err();
    assert!(text.to_string().contains("`a b`"), "{text}");
}

#[tokio::test]
async fn the_status_of_a_refused_connection_is_a_number_with_and_without_a_json_rpc_error() {
    let refusal = json!({ "error": { "code": -32001, "message": "who are you?" } });
    for (status, body) in [(401, Value::Null), (401, refusal), (403, Value::Null)] {
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let body = body.clone();
            let server = Server::new(move |_, _| (status, body.clone()));
            let builder = Client::builder("test", "1").revisions([revision]);
            let error = builder.connect(server.transport()).await.unwrap_err();
            assert!(error.is_connect());
            assert_eq!(error.http_status(), Some(status), "{error}");
        }
    }
}

// spec: ERA-8, ERA-10, ERA-11, ERA-12
#[tokio::test]
async fn a_server_with_a_handshake_is_not_probed_again_until_it_is_replaced() {
    let is_modern = Arc::new(AtomicBool::new(false));
    let modern = Arc::clone(&is_modern);
    let server = Server::new(move |headers, message| {
        assert_eq!(headers["authorization"], "Bearer 1");
        match (message["method"].as_str(), modern.load(Ordering::Relaxed)) {
            (Some("server/discover"), true) => discovered(),
            (Some("initialize"), false) => {
                let info = json!({ "name": "server", "version": "1" });
                (
                    200,
                    json!({ "result": { "protocolVersion": "2025-06-18", "capabilities": {},
                    "serverInfo": info } }),
                )
            }
            _ => (400, Value::Null),
        }
    });
    let url = server.clone().listen().await;
    let connect = || Client::http(&*url).header("Authorization", "Bearer 1").connect();
    for _ in 0..3 {
        let client = connect().await.unwrap();
        assert_eq!(client.revision(), Revision::V2025_06_18);
        client.close().await;
    }
    assert_eq!(server.seen("server/discover").len(), 1);
    is_modern.store(true, Ordering::Relaxed);
    assert_eq!(connect().await.unwrap().revision(), Revision::V2026_07_28);
}
