//! A small HTTP client that shows what is on the wire: status, headers, events with their ids.
//!
//! Each request has a connection of its own, which is reset at the end: thousands of them would
//! otherwise hold their ports for a minute.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A request to `/mcp`.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    method: &'static str,
    headers: Vec<(&'static str, String)>,
    body: String,
}

impl HttpRequest {
    /// A POST of JSON.
    pub fn post(body: String) -> Self {
        Self { method: "POST", headers: Vec::new(), body }
            .with("Content-Type", "application/json")
            .with("Accept", "application/json, text/event-stream")
    }

    /// A GET of a stream.
    pub fn get() -> Self {
        Self { method: "GET", headers: Vec::new(), body: String::new() }
            .with("Accept", "text/event-stream")
    }

    /// Adds a header.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn text(&self) -> String {
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
        format!(
            "{} /mcp HTTP/1.1\r\nHost: localhost\r\n{}Content-Length: {}\r\n\r\n{}",
            self.method,
            headers.collect::<String>(),
            self.body.len(),
            self.body
        )
    }
}

/// An event of a stream, with data or without. A comment has neither data nor id.
#[derive(Clone, Debug, Default)]
pub struct StreamEvent {
    /// Its id.
    pub id: Option<String>,
    /// Its data; empty for an event that only has an id.
    pub data: String,
}

impl StreamEvent {
    fn is_comment(&self) -> bool {
        self.id.is_none() && self.data.is_empty()
    }
}

/// The response to a request: its head, and its body as it comes.
pub struct HttpResponse {
    /// The status.
    pub status: u16,
    headers: Vec<(String, String)>,
    stream: TcpStream,
    received: Vec<u8>,
    framing: Framing,
    /// The body without its framing, as far as it was not read yet.
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
enum Framing {
    Length(usize),
    Chunked,
    UntilEnd,
    Over,
}

impl HttpResponse {
    /// Sends a request, and reads the head of its response.
    ///
    /// # Errors
    ///
    /// If the connection cannot be made, or ends before the head.
    pub async fn of(address: SocketAddr, request: &HttpRequest) -> io::Result<Self> {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        stream.set_zero_linger()?;
        stream.write_all(request.text().as_bytes()).await?;
        let mut received = Vec::new();
        let end = loop {
            if let Some(end) = find(&received, b"\r\n\r\n") {
                break end;
            }
            if stream.read_buf(&mut received).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        };
        let rest = received.split_off(end + 4);
        let head = String::from_utf8(received).map_err(io::Error::other)?;
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let headers = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
            .collect();
        let mut response = Self {
            status: status.ok_or(ErrorKind::InvalidData)?,
            headers,
            stream,
            received: rest,
            framing: Framing::UntilEnd,
            text: Vec::new(),
        };
        response.framing = response.framing();
        Ok(response)
    }

    fn framing(&self) -> Framing {
        match (self.header("content-length"), self.header("transfer-encoding")) {
            (Some(length), _) => length.parse().map_or(Framing::Over, Framing::Length),
            (None, Some("chunked")) => Framing::Chunked,
            _ => Framing::UntilEnd,
        }
    }

    /// The value of a header, whose name is in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
    }

    /// Whether the body is a stream of events.
    pub fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }

    /// Reads the whole body.
    ///
    /// # Errors
    ///
    /// If the connection ends before.
    pub async fn body(mut self) -> io::Result<String> {
        while self.more().await? {}
        String::from_utf8(self.text).map_err(io::Error::other)
    }

    /// Reads the next event; `None` at the end of the stream. Comments are left out.
    ///
    /// # Errors
    ///
    /// If the connection ends before the stream does.
    pub async fn event(&mut self) -> io::Result<Option<StreamEvent>> {
        loop {
            match self.event_or_comment().await? {
                Some(event) if event.is_comment() => {}
                event => return Ok(event),
            }
        }
    }

    /// Reads the next event or comment; `None` at the end of the stream.
    ///
    /// # Errors
    ///
    /// If the connection ends before the stream does.
    pub async fn event_or_comment(&mut self) -> io::Result<Option<StreamEvent>> {
        loop {
            if let Some(end) = find(&self.text, b"\n\n") {
                let rest = self.text.split_off(end + 2);
                let text = std::mem::replace(&mut self.text, rest);
                return parse(&text).map(Some);
            }
            if !self.more().await? {
                return Ok(None);
            }
        }
    }

    /// Reads more of the body; returns whether there was more.
    async fn more(&mut self) -> io::Result<bool> {
        loop {
            match self.framing {
                Framing::Over | Framing::Length(0) => return Ok(false),
                Framing::Length(left) if !self.received.is_empty() => {
                    let taken = left.min(self.received.len());
                    self.text.extend(self.received.drain(..taken));
                    self.framing = Framing::Length(left - taken);
                    return Ok(true);
                }
                Framing::UntilEnd if !self.received.is_empty() => {
                    self.text.append(&mut self.received);
                    return Ok(true);
                }
                Framing::Chunked => match self.chunk()? {
                    Some(0) => {
                        self.framing = Framing::Over;
                        return Ok(false);
                    }
                    Some(_) => return Ok(true),
                    None => {}
                },
                Framing::Length(_) | Framing::UntilEnd => {}
            }
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return match self.framing {
                    Framing::UntilEnd => Ok(false),
                    _ => Err(ErrorKind::UnexpectedEof.into()),
                };
            }
        }
    }

    /// Moves a whole chunk, if there is one; returns its length.
    fn chunk(&mut self) -> io::Result<Option<usize>> {
        let Some(line) = find(&self.received, b"\r\n") else { return Ok(None) };
        let length = std::str::from_utf8(&self.received[..line]).map_err(io::Error::other)?;
        let length = usize::from_str_radix(length, 16).map_err(io::Error::other)?;
        let end = line + 2 + length + 2;
        if self.received.len() < end {
            return Ok(None);
        }
        self.text.extend_from_slice(&self.received[line + 2..end - 2]);
        self.received.drain(..end);
        Ok(Some(length))
    }
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// An event or a comment.
fn parse(text: &[u8]) -> io::Result<StreamEvent> {
    let mut event = StreamEvent::default();
    for line in std::str::from_utf8(text).map_err(io::Error::other)?.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => event.id = Some(value.to_owned()),
            "data" => event.data.push_str(value),
            _ => {}
        }
    }
    Ok(event)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_id_and_data_and_a_comment_has_neither() {
        let event = parse(b"id: 3.1\nevent: message\ndata: {}\n").unwrap();
        assert_eq!((event.id.as_deref(), event.data.as_str()), (Some("3.1"), "{}"));
        assert!(!event.is_comment());
        assert!(parse(b": keep alive\n").unwrap().is_comment());
    }
}
