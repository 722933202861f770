//! A raw HTTP client: a test chooses every byte, so every byte can be wrong.

use std::net::{IpAddr, SocketAddr};

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// A name and a value.
pub(crate) type Header = (String, Vec<u8>);

/// A request, header by header.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: &'static str,
    target: String,
    headers: Vec<Header>,
    body: Vec<u8>,
}

impl Request {
    /// A POST of JSON to `/mcp`, as every client sends it.
    pub(crate) fn post(body: impl Into<String>) -> Self {
        Self::new("POST", body.into())
            .with("Content-Type", "application/json")
            .with("Accept", "application/json, text/event-stream")
    }

    /// A GET of the stream.
    pub(crate) fn get() -> Self {
        Self::new("GET", String::new()).with("Accept", "text/event-stream")
    }

    /// A DELETE.
    pub(crate) fn delete() -> Self {
        Self::new("DELETE", String::new())
    }

    /// Any method, with a `Host` and nothing else.
    pub(crate) fn new(method: &'static str, body: String) -> Self {
        let headers = vec![("Host".to_owned(), b"localhost".to_vec())];
        Self { method, target: "/mcp".to_owned(), headers, body: body.into_bytes() }
    }

    /// Adds a header, even if there is one with that name already.
    pub(crate) fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.push((name.to_owned(), value.as_ref().to_vec()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(other, _)| !other.eq_ignore_ascii_case(name));
        self
    }

    /// Replaces the headers with this name.
    pub(crate) fn set(self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.without(name).with(name, value)
    }

    pub(crate) fn target(mut self, target: impl Into<String>) -> Self {
        self.target = target.into();
        self
    }

    /// The head, with the length of the body.
    pub(crate) fn head(&self) -> Vec<u8> {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.target).into_bytes();
        let length = self.body.len().to_string().into_bytes();
        let has_length = self.headers.iter().any(|(name, _)| name == "Content-Length");
        let length = (!has_length).then(|| ("Content-Length".to_owned(), length));
        for (name, value) in self.headers.iter().chain(&length) {
            text.extend_from_slice(name.as_bytes());
            text.extend_from_slice(b": ");
            text.extend_from_slice(value);
            text.extend_from_slice(b"\r\n");
        }
        text.extend_from_slice(b"\r\n");
        text
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.head(), self.body.clone()].concat()
    }

    /// Returns the parts, for other clients that send the same request.
    pub(crate) fn parts(&self) -> (&'static str, &[Header], &[u8]) {
        (self.method, &self.headers, &self.body)
    }
}

/// The head of a response.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns every value of a header.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        let named = self.headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        named.map(|(_, value)| value.as_str()).collect()
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type") == Some("text/event-stream")
    }
}

/// A whole response.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) head: Head,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn status(&self) -> u16 {
        self.head.status
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.header(name)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    /// The code of the JSON-RPC error in the body.
    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {self:?}"))
    }

    pub(crate) fn reason(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }
}

/// One SSE event or comment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) retry: Option<u64>,
    pub(crate) data: Option<String>,
    pub(crate) is_comment: bool,
}

impl Event {
    pub(crate) fn parse(text: &str) -> Self {
        let mut event = Self::default();
        for line in text.lines() {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
            match field {
                "" => event.is_comment = true,
                "id" => event.id = Some(value),
                "event" => event.name = Some(value),
                "retry" => event.retry = Some(value.parse().unwrap()),
                "data" => {
                    assert!(event.data.is_none(), "one line of data per event: {text}");
                    event.data = Some(value);
                }
                other => panic!("unknown field `{other}` in {text}"),
            }
        }
        event
    }

    pub(crate) fn json(&self) -> Value {
        let data = self.data.as_deref().unwrap_or_default();
        serde_json::from_str(data).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    pub(crate) fn has_message(&self) -> bool {
        self.data.as_ref().is_some_and(|data| !data.is_empty())
    }
}

/// A raw connection.
pub(crate) struct Wire {
    pub(crate) stream: TcpStream,
    buffer: Vec<u8>,
    body: Option<Body>,
    /// The body without its chunk framing, as far as it was not parsed yet.
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Body {
    Length(usize),
    Chunked,
    Over,
}

impl Wire {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self::over(TcpStream::connect(address).await.unwrap())
    }

    /// Opens a connection from an address of this machine, and sends a request.
    pub(crate) async fn send_from(from: IpAddr, to: SocketAddr, request: &Request) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        let mut wire = Self::over(socket.connect(to).await.unwrap());
        wire.write(&request.bytes()).await;
        wire
    }

    fn over(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        Self { stream, buffer: Vec::new(), body: None, text: Vec::new() }
    }

    /// Takes over a connection of which these bytes were read already.
    pub(crate) fn read_before(stream: TcpStream, buffer: Vec<u8>) -> Self {
        Self { stream, buffer, body: None, text: Vec::new() }
    }

    /// Opens a connection and sends a request.
    pub(crate) async fn send(address: SocketAddr, request: &Request) -> Self {
        let mut wire = Self::open(address).await;
        wire.write(&request.bytes()).await;
        wire
    }

    /// Writes bytes and ignores errors; the response shows whether the server took them.
    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    /// Reads the head of a response.
    pub(crate) async fn head(&mut self) -> Head {
        self.try_head().await.expect("an answer before the end of the connection")
    }

    /// Reads the head of a response; `None` if the connection ends before.
    pub(crate) async fn try_head(&mut self) -> Option<Head> {
        let end = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end;
            }
            if !self.read().await {
                return None;
            }
        };
        let rest = self.buffer.split_off(end + 4);
        let head = String::from_utf8(std::mem::replace(&mut self.buffer, rest)).unwrap();
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).unwrap();
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let head = Head { status: status.parse().unwrap(), headers };
        self.text.clear();
        self.body = Some(match head.header("content-length") {
            Some(length) => Body::Length(length.parse().unwrap()),
            None if head.header("transfer-encoding") == Some("chunked") => Body::Chunked,
            None => Body::Over,
        });
        Some(head)
    }

    /// Reads a whole response.
    pub(crate) async fn answer(&mut self) -> Answer {
        let head = self.head().await;
        while self.piece().await.expect("the body before the end of the connection") {}
        let body = String::from_utf8(std::mem::take(&mut self.text)).unwrap();
        Answer { head, body }
    }

    /// Reads the next event; `None` at the end of the stream or of the connection.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(end) = find(&self.text, b"\n\n") {
                let rest = self.text.split_off(end + 2);
                let text = std::mem::replace(&mut self.text, rest);
                return Some(Event::parse(std::str::from_utf8(&text).unwrap().trim_end()));
            }
            if self.piece().await != Some(true) {
                assert!(self.text.is_empty(), "half an event: {:?}", self.text);
                return None;
            }
        }
    }

    /// Reads the next event with a message.
    pub(crate) async fn message(&mut self) -> Option<Event> {
        loop {
            let event = self.event().await?;
            if event.has_message() {
                return Some(event);
            }
        }
    }

    /// Reads all messages up to the end of the stream.
    pub(crate) async fn messages(&mut self) -> Vec<Event> {
        let mut messages = Vec::new();
        while let Some(message) = self.message().await {
            messages.push(message);
        }
        messages
    }

    /// Whether the stream had its final chunk, and was not cut off.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.body, Some(Body::Over))
    }

    /// Waits until the server closes the connection, and drops all data.
    pub(crate) async fn closed(&mut self) {
        while self.read().await {
            self.buffer.clear();
        }
    }

    /// Closes with RST instead of FIN.
    pub(crate) fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }

    /// Reads more of the body; returns whether there was more, or `None` if the connection
    /// ended within the body.
    async fn piece(&mut self) -> Option<bool> {
        loop {
            match self.body.expect("a head was read") {
                Body::Over | Body::Length(0) => {
                    self.body = Some(Body::Over);
                    return Some(false);
                }
                Body::Length(left) if !self.buffer.is_empty() => {
                    let taken = left.min(self.buffer.len());
                    self.text.extend(self.buffer.drain(..taken));
                    self.body = Some(Body::Length(left - taken));
                    return Some(true);
                }
                Body::Chunked => {
                    if let Some(is_last) = self.chunk() {
                        if is_last {
                            self.body = Some(Body::Over);
                        }
                        return Some(!is_last);
                    }
                }
                Body::Length(_) => {}
            }
            if !self.read().await {
                return None;
            }
        }
    }

    /// Moves a whole chunk, if there is one; returns whether it was the last.
    fn chunk(&mut self) -> Option<bool> {
        let line = find(&self.buffer, b"\r\n")?;
        let length = std::str::from_utf8(&self.buffer[..line]).unwrap();
        let length = usize::from_str_radix(length, 16).unwrap();
        let end = line + 2 + length + 2;
        if self.buffer.len() < end {
            return None;
        }
        self.text.extend_from_slice(&self.buffer[line + 2..end - 2]);
        self.buffer.drain(..end);
        Some(length == 0)
    }

    async fn read(&mut self) -> bool {
        self.stream.read_buf(&mut self.buffer).await.unwrap_or(0) > 0
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}
