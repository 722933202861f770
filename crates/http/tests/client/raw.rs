//! Servers that are nothing but a socket, which the test reads and writes byte by byte.

use std::sync::Arc;
use std::time::Duration;

use bowline_http::client::HttpTransport;
use bowline_proto::client::CallError;
use bowline_proto::transmit::FailureKind;
use bowline_transport::connect::Link;
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use crate::support::{User, done, link, tool};

/// How long a test watches for something that must not happen.
const WATCHED: Duration = Duration::from_millis(300);

/// A server that the test plays at a socket.
struct Raw {
    listener: TcpListener,
    url: String,
}

/// One connection to it.
struct Socket {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// A request as it stands on the wire, its head in lower case.
struct Received {
    head: String,
    body: String,
}

impl Raw {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        Self { listener, url }
    }

    async fn accept(&self) -> Socket {
        let (stream, _) = self.listener.accept().await.unwrap();
        Socket { stream, unread: Vec::new() }
    }

    /// Connects a client that speaks one revision, while the test plays the server.
    async fn meet<T>(&self, revision: Revision, server: impl Future<Output = T>) -> (Link, T) {
        let transport = HttpTransport::new(&self.url).unwrap();
        let user = Arc::new(User::default());
        let (link, served) = tokio::join!(link(transport, revision, &user), server);
        (link.unwrap(), served)
    }

    /// Shakes hands up to the GET that asks for the server's own stream, which is not answered.
    async fn shake_hands(&self) -> Socket {
        let mut socket = self.accept().await;
        let initialize = socket.request("initialize").await;
        let capabilities = json!({ "tools": {} });
        let result = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "serverInfo": { "name": "raw", "version": "1" } });
        socket.answer(&initialize, "mcp-session-id: first\r\n", &result).await;
        socket.request("notifications/initialized").await;
        socket.write("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await;
        let get = socket.next().await;
        assert!(get.head.starts_with("get "), "{}", get.head);
        socket
    }
}

impl Socket {
    async fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// The next request.
    async fn next(&mut self) -> Received {
        loop {
            if let Some(received) = self.take() {
                return received;
            }
            let read = self.stream.read_buf(&mut self.unread).await.unwrap();
            assert_ne!(read, 0, "the client hung up");
        }
    }

    /// The next request, which posts a message of this method.
    async fn request(&mut self, method: &str) -> Received {
        let received = self.next().await;
        assert_eq!(received.json()["method"], method, "{}", received.head);
        received
    }

    /// Takes a request that has arrived whole.
    fn take(&mut self) -> Option<Received> {
        let text = String::from_utf8(self.unread.clone()).unwrap();
        let (head, rest) = text.split_once("\r\n\r\n")?;
        let head = head.to_lowercase();
        let length = head.split("content-length: ").nth(1);
        let length = length.and_then(|it| it.split("\r\n").next()?.parse().ok()).unwrap_or(0);
        let body = rest.get(..length)?.to_owned();
        self.unread.drain(..head.len() + 4 + length);
        Some(Received { head, body })
    }

    async fn answer(&mut self, received: &Received, headers: &str, result: &Value) {
        let id = &received.json()["id"];
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        let length = body.len();
        self.write(&format!("{head}{headers}content-length: {length}\r\n\r\n{body}")).await;
    }

    /// Begins a stream of events.
    async fn begin_events(&mut self) {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        self.write(&format!("{head}transfer-encoding: chunked\r\n\r\n")).await;
    }

    /// Writes a piece of a stream.
    async fn piece(&mut self, text: &str) {
        self.write(&format!("{:x}\r\n{text}\r\n", text.len())).await;
    }
}

impl Received {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}{}", self.head, self.body))
    }
}

// spec: HTTP-38, HTTP-41
#[tokio::test]
async fn a_question_right_after_connecting_finds_the_stream_of_the_server() {
    let raw = Raw::new().await;
    let (link, mut get) = raw.meet(Revision::V2025_11_25, raw.shake_hands()).await;
    let call = link.call(tool("ask"), None);
    // A server may throw a question away for which there is no stream yet.
    assert!(timeout(WATCHED, raw.accept()).await.is_err(), "a call overtook the GET");
    get.begin_events().await;
    let mut post = raw.accept().await;
    let asked = post.request("tools/call").await;
    get.piece("data: {\"jsonrpc\":\"2.0\",\"id\":\"q\",\"method\":\"ping\"}\n\n").await;
    let mut other = raw.accept().await;
    let answer = other.next().await.json();
    assert_eq!((&answer["id"], &answer["result"]), (&json!("q"), &json!({})));
    other.write("HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await;
    post.answer(&asked, "", &done()).await;
    call.await.unwrap();
}

// spec: RESUME-4, RESUME-7
#[tokio::test]
async fn an_event_that_is_cut_is_asked_for_again() {
    let raw = Raw::new().await;
    let (link, mut get) = raw.meet(Revision::V2025_11_25, raw.shake_hands()).await;
    get.write("HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n").await;
    let call = link.call(tool("slow"), None);
    let mut socket = get;
    let id = socket.request("tools/call").await.json()["id"].clone();
    socket.begin_events().await;
    socket.piece("id: a/2\ndata:\n\n").await;
    socket.piece("id: a/3\ndata: {\"js").await;
    drop(socket);
    let mut socket = raw.accept().await;
    let get = socket.next().await;
    assert!(get.head.lines().any(|line| line == "last-event-id: a/2"), "{}", get.head);
    socket.begin_events().await;
    let answer = json!({ "jsonrpc": "2.0", "id": id, "result": done() });
    socket.piece(&format!("id: a/3\ndata: {answer}\n\n")).await;
    call.await.unwrap();
}

// spec: HTTP-36
#[tokio::test]
async fn a_socket_that_closes_amid_a_stream_is_noticed() {
    let raw = Raw::new().await;
    let server = async {
        let mut socket = raw.accept().await;
        let discover = socket.request("server/discover").await;
        let result = json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": { "tools": {} } });
        socket.answer(&discover, "", &result).await;
        socket
    };
    let (link, mut socket) = raw.meet(Revision::V2026_07_28, server).await;
    let call = link.call(tool("echo"), None);
    // The same connection is used again.
    socket.request("tools/call").await;
    socket.begin_events().await;
    socket.write("10\r\n: hello\n\ndata: {").await;
    drop(socket);
    let CallError::Failed { kind, reason } = call.await.unwrap_err() else { panic!() };
    assert_eq!(kind, FailureKind::Lost);
    assert!(reason.contains("the answer broke off"), "{reason}");
}
