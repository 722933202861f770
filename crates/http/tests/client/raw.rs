//! Servers that are only a socket, which the test reads and writes byte by byte.

use std::sync::Arc;
use std::time::Duration;

use bowline_http::client::HttpTransport;
use bowline_transport::connect::Link;
use bowline_types::revision::Revision;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

use crate::support::{User, link};

/// How long a test watches for something that must not happen.
pub(crate) const WATCHED: Duration = Duration::from_millis(300);

/// A server that the test plays at a socket.
pub(crate) struct Raw {
    listener: TcpListener,
    pub(crate) url: String,
}

/// One connection to it.
pub(crate) struct Socket {
    stream: TcpStream,
    unread: Vec<u8>,
}

/// A request as it is on the wire, with its head in lower case.
pub(crate) struct Received {
    pub(crate) head: String,
    body: String,
}

impl Raw {
    pub(crate) async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        Self { listener, url }
    }

    pub(crate) async fn accept(&self) -> Socket {
        let (stream, _) = self.listener.accept().await.unwrap();
        Socket { stream, unread: Vec::new() }
    }

    /// Connects a client that speaks one revision, while the test plays the server.
    pub(crate) async fn meet<T>(
        &self,
        revision: Revision,
        server: impl Future<Output = T>,
    ) -> (Link, T) {
        let transport = HttpTransport::new(&self.url).unwrap();
        let user = Arc::new(User::default());
        let (link, served) = tokio::join!(link(transport, revision, &user), server);
        (link.unwrap(), served)
    }

    /// Connects a client of 2026-07-28, and returns the connection on which it sent `server/discover`.
    pub(crate) async fn meet_modern(&self) -> (Link, Socket) {
        let server = async {
            let mut socket = self.accept().await;
            let discover = socket.request("server/discover").await;
            let result = json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} } });
            socket.answer(&discover, "", &result).await;
            socket
        };
        self.meet(Revision::V2026_07_28, server).await
    }

    /// Shakes hands up to the GET that asks for the server's own stream, which is not answered.
    pub(crate) async fn shake_hands(&self) -> Socket {
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
    pub(crate) async fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// The next request.
    pub(crate) async fn next(&mut self) -> Received {
        loop {
            if let Some(received) = self.take() {
                return received;
            }
            let read = self.stream.read_buf(&mut self.unread).await.unwrap();
            assert_ne!(read, 0, "the client hung up");
        }
    }

    /// The next request, which posts a message of this method.
    pub(crate) async fn request(&mut self, method: &str) -> Received {
        let received = self.next().await;
        assert_eq!(received.json()["method"], method, "{}", received.head);
        received
    }

    /// Takes a request that has arrived completely.
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

    pub(crate) async fn answer(&mut self, received: &Received, headers: &str, result: &Value) {
        let id = &received.json()["id"];
        let body = json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string();
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
        let length = body.len();
        self.write(&format!("{head}{headers}content-length: {length}\r\n\r\n{body}")).await;
    }

    /// Begins a stream of events.
    pub(crate) async fn begin_events(&mut self) {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
        self.write(&format!("{head}transfer-encoding: chunked\r\n\r\n")).await;
    }

    /// Writes a piece of a stream.
    pub(crate) async fn piece(&mut self, text: &str) {
        self.write(&format!("{:x}\r\n{text}\r\n", text.len())).await;
    }
}

impl Received {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}{}", self.head, self.body))
    }
}
