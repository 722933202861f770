//! HTTP/1.1 by hand: one connection, one request at a time.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::answer::{Check, Seen, start};
use crate::figures::{Figures, Length, Run};
use crate::message::{self, Call, Prepared, Revision, STEPS};

/// The size of one read.
const READ: usize = 64 * 1024;

/// Where the server is.
#[derive(Clone, Debug)]
pub struct Endpoint {
    authority: String,
    path: String,
}

impl Endpoint {
    /// Reads `http://HOST:PORT/PATH`.
    ///
    /// # Errors
    ///
    /// If the text has another form.
    pub fn parse(url: &str) -> Result<Self> {
        let rest = url.strip_prefix("http://").with_context(|| format!("`{url}` is not http"))?;
        let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
        Ok(Self { authority: authority.to_owned(), path: format!("/{path}") })
    }

    /// The bytes of a POST.
    fn post(&self, headers: &str, body: &str) -> Vec<u8> {
        let Self { authority, path } = self;
        let length = body.len();
        format!(
            "POST {path} HTTP/1.1\r\nHost: {authority}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{headers}Content-Length: {length}\r\n\r\n\
             {body}"
        )
        .into_bytes()
    }

    /// The bytes of a GET that opens the stream of a session.
    fn get(&self, headers: &str) -> Vec<u8> {
        let Self { authority, path } = self;
        format!(
            "GET {path} HTTP/1.1\r\nHost: {authority}\r\nAccept: text/event-stream\r\n{headers}\r\n"
        )
        .into_bytes()
    }
}

/// Connections that all make the same calls.
pub struct Load {
    callers: Vec<Caller>,
}

/// A connection and its request.
struct Caller {
    connection: Connection,
    request: Prepared,
    check: Check,
    call: Call,
}

impl Load {
    /// Opens connections, each with a session of its own where the revision has sessions.
    ///
    /// # Errors
    ///
    /// If one cannot be opened, or a handshake fails.
    pub async fn open(
        endpoint: &Endpoint,
        revision: Revision,
        connections: usize,
        call: &Call,
    ) -> Result<Self> {
        let mut callers = Vec::with_capacity(connections);
        for _ in 0..connections {
            let mut connection = Connection::open(endpoint).await?;
            let headers = match revision {
                Revision::Handshake => connection.handshake(endpoint).await?,
                Revision::Stateless => stateless_headers(call),
            };
            let request = Prepared::new(endpoint.post(&headers, &call.request(revision)))?;
            let check = Check::new(revision, call);
            callers.push(Caller { connection, request, check, call: call.clone() });
        }
        Ok(Self { callers })
    }

    /// Makes calls on all connections.
    ///
    /// # Errors
    ///
    /// At the first wrong answer.
    pub async fn run(&mut self, length: Length) -> Result<Figures> {
        let run = Arc::new(Mutex::new(Run::begin(length)));
        let mut tasks = JoinSet::new();
        for caller in self.callers.drain(..) {
            tasks.spawn(caller.call_until_done(Arc::clone(&run)));
        }
        while let Some(caller) = tasks.join_next().await {
            self.callers.push(caller??);
        }
        let run = Arc::into_inner(run).context("a caller has not ended")?;
        Ok(run.into_inner().unwrap_or_else(PoisonError::into_inner).end())
    }
}

impl Caller {
    async fn call_until_done(mut self, run: Arc<Mutex<Run>>) -> Result<Self> {
        let mut begin = Instant::now();
        while run.lock().unwrap_or_else(PoisonError::into_inner).may_call(begin) {
            self.request.count_up();
            let notifications = self.call().await?;
            let end = Instant::now();
            let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
            run.answered(end - begin);
            run.heard(notifications);
            begin = end;
        }
        Ok(self)
    }

    /// Makes a call; returns the number of notifications before its answer.
    async fn call(&mut self) -> Result<usize> {
        let reply = self.connection.exchange(self.request.bytes()).await?;
        ensure!(reply.status == 200, "status {}: {}", reply.status, start(reply.body));
        let mut notifications = 0;
        let mut answered = false;
        for text in reply.messages() {
            match self.check.see(text)? {
                Seen::Answer(id) => {
                    ensure!(id == self.request.id(), "an answer to another request");
                    answered = true;
                }
                Seen::Notification => notifications += 1,
            }
        }
        ensure!(answered, "no answer in {}", start(reply.body));
        // A server may skip reports of progress when it has a newer one, but not all of them.
        if self.call == Call::Progress {
            let is_likely = (1..=STEPS).contains(&notifications);
            ensure!(is_likely, "{notifications} reports of progress, not {STEPS}");
        }
        Ok(notifications)
    }
}

fn stateless_headers(call: &Call) -> String {
    let revision = Revision::Stateless.date();
    let name = call.tool().map(|tool| format!("Mcp-Name: {tool}\r\n")).unwrap_or_default();
    format!("MCP-Protocol-Version: {revision}\r\nMcp-Method: {}\r\n{name}", call.method())
}

/// A kept-alive connection.
pub struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
    /// The body of an answer that came in chunks.
    decoded: Vec<u8>,
}

/// One answer of the server.
pub struct Reply<'a> {
    /// Its status.
    pub status: u16,
    session: Option<String>,
    is_events: bool,
    body: &'a [u8],
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    ///
    /// If no server listens.
    pub async fn open(endpoint: &Endpoint) -> Result<Self> {
        let mut connection = Self::open_small(endpoint).await?;
        connection.received.reserve(READ);
        Ok(connection)
    }

    /// Connects with a small receive buffer, for thousands of idle connections.
    ///
    /// # Errors
    ///
    /// If no server listens.
    pub async fn open_small(endpoint: &Endpoint) -> Result<Self> {
        let stream = TcpStream::connect(&endpoint.authority)
            .await
            .with_context(|| format!("cannot connect to {}", endpoint.authority))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, received: Vec::new(), decoded: Vec::new() })
    }

    /// Opens a session; returns the headers that further requests in it need.
    ///
    /// # Errors
    ///
    /// If the server refuses.
    pub async fn handshake(&mut self, endpoint: &Endpoint) -> Result<String> {
        let reply = self.exchange(&endpoint.post("", &message::initialize())).await?;
        let revision = Revision::Handshake.date();
        let agreed = format!(r#""protocolVersion":"{revision}""#);
        ensure!(
            reply.status == 200 && memchr::memmem::find(reply.body, agreed.as_bytes()).is_some(),
            "the handshake failed with status {}: {}",
            reply.status,
            start(reply.body)
        );
        let session = reply.session.map(|id| format!("Mcp-Session-Id: {id}\r\n"));
        let headers =
            format!("MCP-Protocol-Version: {revision}\r\n{}", session.unwrap_or_default());
        let reply = self.exchange(&endpoint.post(&headers, message::INITIALIZED)).await?;
        ensure!(reply.status == 202, "`initialized` was answered with status {}", reply.status);
        Ok(headers)
    }

    /// Makes one call in a session and checks the answer.
    ///
    /// # Errors
    ///
    /// If the answer is wrong.
    pub async fn call_once(
        &mut self,
        endpoint: &Endpoint,
        headers: &str,
        call: &Call,
    ) -> Result<()> {
        let body = call.request(Revision::Handshake);
        let reply = self.exchange(&endpoint.post(headers, &body)).await?;
        ensure!(reply.status == 200, "status {}: {}", reply.status, start(reply.body));
        let mut check = Check::new(Revision::Handshake, call);
        for text in reply.messages() {
            check.see(text)?;
        }
        Ok(())
    }

    /// Opens the stream of a session, which then stays open.
    ///
    /// # Errors
    ///
    /// If the server has none.
    pub async fn open_stream(&mut self, endpoint: &Endpoint, headers: &str) -> Result<()> {
        self.received.clear();
        self.stream.write_all(&endpoint.get(headers)).await?;
        let head = self.head().await?;
        ensure!(head.status == 200, "the stream was answered with status {}", head.status);
        ensure!(head.is_events, "the stream is no stream of events");
        Ok(())
    }

    /// Waits until these bytes have arrived on an open stream, and discards everything up to them.
    ///
    /// # Errors
    ///
    /// If the stream ends.
    pub async fn wait_for(&mut self, bytes: &[u8]) -> Result<()> {
        loop {
            if let Some(at) = memchr::memmem::find(&self.received, bytes) {
                self.received.drain(..at + bytes.len());
                return Ok(());
            }
            self.receive().await?;
        }
    }

    /// Sends a request and reads the whole answer.
    async fn exchange(&mut self, request: &[u8]) -> Result<Reply<'_>> {
        self.received.clear();
        self.stream.write_all(request).await?;
        let head = self.head().await?;
        let body = match head.framing {
            Framing::Length(length) => {
                let end = head.length + length;
                self.received.reserve(end.saturating_sub(self.received.len()));
                while self.received.len() < end {
                    self.receive().await?;
                }
                ensure!(self.received.len() == end, "more was sent than one answer");
                &self.received[head.length..]
            }
            Framing::Chunks => {
                self.decoded.clear();
                let mut at = head.length;
                while !next_chunks(&self.received, &mut at, &mut self.decoded)? {
                    // A server that lets small writes wait for each other would otherwise wait
                    // for our acknowledgement, which the system delays.
                    self.stream.set_quickack(true)?;
                    self.receive().await?;
                }
                &self.decoded[..]
            }
        };
        Ok(Reply { status: head.status, session: head.session, is_events: head.is_events, body })
    }

    async fn head(&mut self) -> Result<Head> {
        loop {
            if let Some(head) = Head::parse(&self.received)? {
                return Ok(head);
            }
            self.receive().await?;
        }
    }

    async fn receive(&mut self) -> Result<()> {
        if READ <= self.received.capacity() {
            self.received.reserve(READ / 4);
        } else {
            self.received.reserve(1024);
        }
        let read = self.stream.read_buf(&mut self.received).await?;
        ensure!(read > 0, "the server closed the connection after {}", start(&self.received));
        Ok(())
    }
}

impl Reply<'_> {
    /// The messages in the body: one, or one for each event.
    fn messages(&self) -> impl Iterator<Item = &[u8]> {
        let (whole, events) =
            if self.is_events { (None, Some(self.body)) } else { (Some(self.body), None) };
        whole.into_iter().chain(events.into_iter().flat_map(events_of))
    }
}

/// The head of an answer.
struct Head {
    length: usize,
    status: u16,
    session: Option<String>,
    is_events: bool,
    framing: Framing,
}

enum Framing {
    Length(usize),
    Chunks,
}

impl Head {
    /// Reads the head of an answer, if it is complete.
    fn parse(received: &[u8]) -> Result<Option<Self>> {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut response = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(length) = response.parse(received)? else {
            return Ok(None);
        };
        let status = response.code.unwrap_or_default();
        let mut head =
            Self { length, status, session: None, is_events: false, framing: Framing::Length(0) };
        for header in response.headers {
            let value = std::str::from_utf8(header.value)?;
            if header.name.eq_ignore_ascii_case("content-length") {
                head.framing = Framing::Length(value.trim().parse()?);
            } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
                head.framing = Framing::Chunks;
            } else if header.name.eq_ignore_ascii_case("content-type") {
                head.is_events = value.starts_with("text/event-stream");
            } else if header.name.eq_ignore_ascii_case("mcp-session-id") {
                head.session = Some(value.to_owned());
            }
        }
        Ok(Some(head))
    }
}

/// Takes the complete chunks off the received bytes; returns whether the last one was among them.
fn next_chunks(received: &[u8], at: &mut usize, decoded: &mut Vec<u8>) -> Result<bool> {
    loop {
        let rest = &received[*at..];
        let (begin, length) = match httparse::parse_chunk_size(rest) {
            Ok(httparse::Status::Complete((begin, length))) => (begin, usize::try_from(length)?),
            Ok(httparse::Status::Partial) => return Ok(false),
            Err(_) => bail!("no chunk: {}", start(rest)),
        };
        let Some(chunk) = rest.get(begin..begin + length + 2) else { return Ok(false) };
        decoded.extend_from_slice(&chunk[..length]);
        *at += begin + length + 2;
        if length == 0 {
            return Ok(true);
        }
    }
}

/// The messages in the events of a stream; events without data are skipped.
fn events_of(mut body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lines = std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', body)?;
        let (line, rest) = body.split_at(end + 1);
        body = rest;
        Some(line)
    });
    // JSON without line breaks stays on one line, so each line of text is a message.
    lines
        .filter_map(|line| line.strip_prefix(b"data:"))
        .map(<[u8]>::trim_ascii)
        .filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_taken_as_they_arrive() {
        let received = b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
        let (mut at, mut decoded) = (0, Vec::new());
        assert!(!next_chunks(&received[..10], &mut at, &mut decoded).unwrap());
        assert_eq!(decoded, b"abc");
        assert!(next_chunks(received, &mut at, &mut decoded).unwrap());
        assert_eq!(decoded, b"abcde");
    }

    #[test]
    fn events_give_their_messages_and_empty_ones_nothing() {
        let body = b"id: 0\ndata:\n\nid: 1\ndata: {\"a\":1}\r\n\ndata: {}\n\n";
        let events: Vec<_> = events_of(body).collect();
        assert_eq!(events, [&b"{\"a\":1}"[..], b"{}"]);
    }

    #[test]
    fn a_head_is_read_only_when_it_is_whole() {
        let text = b"HTTP/1.1 202 Accepted\r\nContent-Length: 5\r\nMcp-Session-Id: x\r\n\r\n";
        assert!(Head::parse(&text[..30]).unwrap().is_none());
        let head = Head::parse(text).unwrap().unwrap();
        assert_eq!((head.status, head.session.as_deref()), (202, Some("x")));
        assert!(matches!(head.framing, Framing::Length(5)));
    }
}
