//! A server over HTTP behind a proxy that records requests, and breaks answers on demand.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use bowline::{Server, Tool};
use bowline_types::revision::Revision;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::{TcpListener, TcpStream};

/// What becomes of a call. The call names it as the beginning of its nonce.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The server never hears of the call, and the connection stays open.
    Hang,
    /// The server never hears of the call, and the connection is reset.
    ResetBefore,
    /// The call runs, and the connection is reset instead of an answer.
    ResetAfter,
    /// The call runs, and the connection ends in the middle of the answer.
    Half,
    /// The call runs, and its answer names another request.
    WrongId,
    /// The call runs, and its answer is no JSON.
    Garbage,
}

pub(crate) const FAULTS: [Fault; 6] = [
    Fault::Hang,
    Fault::ResetBefore,
    Fault::ResetAfter,
    Fault::Half,
    Fault::WrongId,
    Fault::Garbage,
];

/// What the proxy saw.
#[derive(Default)]
struct Seen {
    /// Every request, head and body.
    requests: Mutex<Vec<String>>,
    /// The requests that hang and whose connection the caller closed.
    given_up: Mutex<Vec<String>>,
}

/// The proxy and the server behind it, until the runtime ends.
pub(crate) struct Proxied {
    pub(crate) url: String,
    /// Whether the server begins with a handshake.
    is_legacy: bool,
    seen: Arc<Seen>,
    /// How often each nonce was called.
    runs: Arc<Mutex<HashMap<String, usize>>>,
}

impl Proxied {
    /// A server of these revisions, with the tool `run {nonce}`.
    pub(crate) async fn start(revision: Revision) -> Self {
        let runs: Arc<Mutex<HashMap<String, usize>>> = Arc::default();
        let counting = runs.clone();
        #[derive(serde::Deserialize, schemars::JsonSchema)]
        struct Arguments {
            nonce: String,
        }
        let run = move |bowline::Args(Arguments { nonce }): bowline::Args<Arguments>| {
            *counting.lock().unwrap().entry(nonce.clone()).or_default() += 1;
            async move { nonce }
        };
        let server = Server::new("counter", "1.0.0").revisions([revision]);
        let bound = server.tool(Tool::new("run", run)).http().listen("127.0.0.1:0").await.unwrap();
        let behind = bound.address().unwrap().to_string();
        tokio::spawn(async move { bound.serve_until(std::future::pending()).await });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let seen = Arc::<Seen>::default();
        let noted = seen.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, behind.clone(), noted.clone()));
            }
        });
        Self { url, is_legacy: revision.has_handshake(), seen, runs }
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// How often the server was called with a nonce.
    pub(crate) fn calls(&self, nonce: &str) -> usize {
        self.requests().iter().filter(|request| request.contains(nonce)).count()
    }

    /// How often a call that hangs was cancelled: by a message about it, or without a handshake by
    /// the end of its connection.
    pub(crate) fn cancellations(&self, nonce: &str) -> usize {
        if !self.is_legacy {
            let given_up = self.seen.given_up.lock().unwrap();
            return given_up.iter().filter(|request| request.contains(nonce)).count();
        }
        let requests = self.requests();
        let call = requests.iter().find(|request| request.contains(nonce)).unwrap();
        let id = &body(call)["id"];
        let cancels = |request: &&String| {
            let message = body(request);
            message["method"] == "notifications/cancelled" && message["params"]["requestId"] == *id
        };
        requests.iter().filter(cancels).count()
    }

    pub(crate) fn runs(&self, nonce: &str) -> usize {
        self.runs.lock().unwrap().get(nonce).copied().unwrap_or_default()
    }
}

/// Passes one request on, or breaks it. Each has a connection of its own.
async fn pass(mut caller: TcpStream, behind: String, seen: Arc<Seen>) {
    let Some(request) = read_request(&mut caller).await else { return };
    seen.requests.lock().unwrap().push(request.clone());
    let is_run = |fault: &Fault| request.contains(&format!("\"nonce\":\"{fault:?}"));
    let fault = FAULTS.into_iter().find(is_run);
    if fault == Some(Fault::Hang) {
        // Until the caller closes the connection.
        let _ = caller.read_to_end(&mut Vec::new()).await;
        return seen.given_up.lock().unwrap().push(request);
    }
    if fault == Some(Fault::ResetBefore) {
        return caller.set_zero_linger().unwrap();
    }
    let mut server = TcpStream::connect(behind).await.unwrap();
    let request = request.replacen("\r\n", "\r\nConnection: close\r\n", 1);
    server.write_all(request.as_bytes()).await.unwrap();
    let Some(fault) = fault else {
        // Ends if one of them closes the connection.
        let _ = copy(&mut server, &mut caller).await;
        return;
    };
    let mut answer = String::new();
    server.read_to_string(&mut answer).await.unwrap();
    match fault {
        Fault::Half => answer.truncate(answer.len() - 20),
        Fault::WrongId => answer = renumbered(&answer),
        Fault::Garbage => answer = answer.replace("\"jsonrpc\"", "]\"jsonrpc"),
        _ => return caller.set_zero_linger().unwrap(),
    }
    // Fails if the caller is gone.
    let _ = caller.write_all(answer.as_bytes()).await;
}

/// The message of a request; `null` if it has none.
fn body(request: &str) -> Value {
    let (_, body) = request.split_once("\r\n\r\n").unwrap();
    serde_json::from_str(body).unwrap_or_default()
}

/// The request, head and body; `None` if the connection ends before.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lower = head.to_ascii_lowercase();
            let length = lower.lines().find_map(|line| line.strip_prefix("content-length: "));
            let length: usize = length.map_or(0, |length| length.parse().unwrap());
            if body.len() >= length {
                return Some(text.into_owned());
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// The answer with another id of the same length.
fn renumbered(answer: &str) -> String {
    let (before, rest) = answer.split_once("\"id\":").unwrap();
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap();
    format!("{before}\"id\":{}{}", "9".repeat(end), &rest[end..])
}
