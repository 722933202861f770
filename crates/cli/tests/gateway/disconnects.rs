//! Clients that disconnect in the middle of calls.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::support::{BOTH, Gateway, Mark, PATIENCE, Start};

const DISCONNECTS: usize = 1000;
/// Clients that disconnect at the same time.
const CLIENTS: usize = 20;
/// How much the gateway may grow after a fifth of the disconnects, in KiB.
const GROWTH: u64 = 4096;

/// A caller of a gateway, in bytes.
#[derive(Clone)]
struct Caller {
    address: String,
    /// The headers that say which session or revision it uses.
    headers: String,
    meta: Value,
}

impl Caller {
    fn modern(url: &str) -> Self {
        let headers =
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: s0__sleep\r\n";
        let meta = json!({
            "progressToken": 1,
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        Self { address: address(url), headers: headers.to_owned(), meta }
    }

    /// Opens a session.
    async fn legacy(url: &str) -> Self {
        let meta = json!({ "progressToken": 1 });
        let mut caller = Self { address: address(url), headers: String::new(), meta };
        let info = json!({ "name": "caller", "version": "1.0.0" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
        let message =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let opened = read_until(&mut caller.post(&message).await, "protocolVersion").await;
        let session =
            opened.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"));
        caller.headers = format!("{}\r\nMCP-Protocol-Version: 2025-11-25\r\n", session.unwrap());
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        read_until(&mut caller.post(&ready).await, "202").await;
        caller
    }

    /// Sends a message on a connection of its own.
    async fn post(&self, message: &Value) -> TcpStream {
        let (body, Self { address, headers, .. }) = (message.to_string(), self);
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}Content-Length: {}\r\n\r\n",
            body.len()
        );
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all((head + &body).as_bytes()).await.unwrap();
        stream
    }

    /// Disconnects as soon as the call has reported progress.
    async fn call_and_go(&self, id: usize, seconds: f64) {
        let arguments = json!({ "seconds": seconds });
        let params = json!({ "name": "s0__sleep", "arguments": arguments, "_meta": self.meta });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let mut stream = self.post(&call).await;
        read_until(&mut stream, "notifications/progress").await;
    }
}

fn address(url: &str) -> String {
    url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned()
}

/// Reads until a text has arrived.
async fn read_until(stream: &mut TcpStream, text: &str) -> String {
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains(text) {
        let read = timeout(PATIENCE, stream.read_buf(&mut seen)).await;
        let count = read.unwrap_or_else(|_| panic!("no {text:?} in {seen:?}")).unwrap();
        assert_ne!(count, 0, "{}", String::from_utf8_lossy(&seen));
    }
    String::from_utf8(seen).unwrap()
}

/// Disconnects that many times, from several clients at once, in both eras.
async fn disconnect(url: &str, count: usize) {
    let mut clients = JoinSet::new();
    for client in 0..CLIENTS {
        let url = url.to_owned();
        clients.spawn(async move {
            // In a session the call of a client that is gone runs to its end.
            let (caller, seconds) = match client % 2 {
                0 => (Caller::modern(&url), 600.0),
                _ => (Caller::legacy(&url).await, 0.2),
            };
            for id in 1..=count / CLIENTS {
                caller.call_and_go(id, seconds).await;
            }
        });
    }
    while let Some(ended) = clients.join_next().await {
        ended.unwrap();
    }
}

/// Calls one after the other until it is stopped: each gets its own answer.
async fn call_meanwhile(client: bowline::Client, calls: Arc<AtomicUsize>) {
    loop {
        let message = format!("call {}", calls.load(Ordering::Relaxed));
        let said = client.call("s0__echo", json!({ "message": message })).await.unwrap();
        assert_eq!(said.text(), message);
        calls.fetch_add(1, Ordering::Relaxed);
    }
}

/// The server runs 64 calls at a time, so the calls of other clients are answered only if those of
/// the clients that are gone have ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_disconnects_leave_no_call_no_process_and_no_memory() {
    let mark = Mark::new();
    let gateway = Gateway::start(&mark, &[Start::Tree]);
    let calls = Arc::new(AtomicUsize::new(0));
    let mut others = JoinSet::new();
    for revision in BOTH {
        others.spawn(call_meanwhile(gateway.client(revision).await, calls.clone()));
    }
    disconnect(&gateway.url, DISCONNECTS / 5).await;
    let before = gateway.process().memory();
    disconnect(&gateway.url, DISCONNECTS - DISCONNECTS / 5).await;
    let after = gateway.process().memory();
    assert!(others.try_join_next().is_none(), "a call of another client failed");
    others.abort_all();
    assert!(calls.load(Ordering::Relaxed) > 100, "{calls:?}");
    assert!(after < before + GROWTH, "{before} KiB, then {after} KiB");
    // The server, and what its shell started.
    assert_eq!(mark.processes().len(), 2);
    gateway.stop();
    mark.wait_for_none();
}
