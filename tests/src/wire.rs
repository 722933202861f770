//! A client for benchmarks: sessions of 2025-11-25 over one connection, with as little work as can be.

use std::error::Error;
use std::net::SocketAddr;

use bowline_server::http::Http;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

/// The result of a benchmark. Any error ends it.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Serves on a free port of loopback, until the program ends.
///
/// # Errors
///
/// If the server cannot be built or cannot listen.
pub async fn serve(http: Http) -> Result<SocketAddr> {
    let bound = http.listen("127.0.0.1:0").await?;
    let address = bound.address()?;
    tokio::spawn(bound.serve_until(std::future::pending()));
    Ok(address)
}

/// A connection for requests, one after the other.
pub struct Wire(BufReader<TcpStream>);

impl Wire {
    /// Connects.
    ///
    /// # Errors
    ///
    /// If nothing listens there.
    pub async fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Opens a session; returns its id.
    ///
    /// # Errors
    ///
    /// If the server opens none.
    pub async fn session(&mut self) -> Result<String> {
        let params = r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}"#;
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
        let session = self.post("", &body).await?.0.ok_or("no session")?;
        self.post(&session, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await?;
        Ok(session)
    }

    /// Posts a message in a session, or in none (`""`). Returns the session id and the body of the
    /// answer.
    ///
    /// # Errors
    ///
    /// If the connection fails, or the status is not of success.
    pub async fn post(&mut self, session: &str, body: &str) -> Result<(Option<String>, Vec<u8>)> {
        let (name, end) = if session.is_empty() { ("", "") } else { ("Mcp-Session-Id: ", "\r\n") };
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{name}{session}{end}\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.0.write_all(request.as_bytes()).await?;
        let (mut id, mut length) = (None, 0);
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).await?;
            match line.trim_end().split_once(": ") {
                Some(("mcp-session-id", value)) => id = Some(value.to_owned()),
                Some(("content-length", value)) => length = value.parse()?,
                Some(_) => {}
                None if line.starts_with("HTTP/1.1 20") => {}
                None if line.trim().is_empty() => break,
                None => return Err(format!("the server answers {line}").into()),
            }
        }
        let mut answer = vec![0; length];
        self.0.read_exact(&mut answer).await?;
        Ok((id, answer))
    }
}
