//! Ten thousand sessions, each with a GET stream, and one change that all of them get:
//! `cargo bench -p bowline-tests --bench ten_thousand`.
//!
//! The server runs in its own process, so that its memory can be measured. Sessions are
//! opened over one connection, as a proxy would; each stream has its own connection.

#![allow(clippy::print_stdout, reason = "its figures are its output")]

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use bowline_tests::wire::{Result, Wire};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const SESSIONS: usize = 10_000;
const ADDRESS: &str = "127.0.0.1:38117";

#[tokio::main]
async fn main() -> Result<()> {
    let server = Server::start().await?;
    let mut wire = Wire::open(ADDRESS.parse()?).await?;
    let first = wire.session().await?;
    let empty = server.memory()?;

    let begin = Instant::now();
    let mut sessions = Vec::with_capacity(SESSIONS);
    for _ in 0..SESSIONS {
        sessions.push(wire.session().await?);
    }
    let opened = begin.elapsed();
    let with_sessions = server.memory()?;

    let mut streams = JoinSet::new();
    for session in &sessions {
        let stream = open_stream(session).await?;
        streams.spawn(told_of_change(stream));
    }
    let with_streams = server.memory()?;

    let begin = Instant::now();
    trigger(&mut wire, &first).await?;
    let mut told = 0;
    while let Some(outcome) = streams.join_next().await {
        told += usize::from(outcome??);
    }
    let fan_out = begin.elapsed();

    println!("sessions          {SESSIONS} opened in {opened:.2?}");
    println!("idle session      {} bytes", (with_sessions - empty) / SESSIONS);
    println!("session + stream  {} bytes", (with_streams - empty) / SESSIONS);
    println!("one change to all {told} told in {fan_out:.2?}");
    Ok(())
}

/// The server under test.
struct Server(Child);

impl Server {
    async fn start() -> Result<Self> {
        let child = Command::new(env!("CARGO_BIN_EXE_everything"))
            .arg(ADDRESS)
            .stdin(Stdio::null())
            .spawn()?;
        let server = Self(child);
        let patience = Instant::now() + Duration::from_secs(10);
        while TcpStream::connect(ADDRESS).await.is_err() {
            if patience < Instant::now() {
                return Err("the server does not listen".into());
            }
            tokio::task::yield_now().await;
        }
        Ok(server)
    }

    /// Its resident memory, in bytes.
    fn memory(&self) -> Result<usize> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        Ok(kibibytes.ok_or("no VmRSS")?.trim().parse::<usize>()? * 1024)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Makes the server announce a change.
async fn trigger(wire: &mut Wire, session: &str) -> Result<()> {
    let params = r#"{"name":"test_trigger_tool_change","arguments":{}}"#;
    let body = format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{params}}}"#);
    wire.post(session, &body).await.map(drop)
}

/// Opens the stream of a session, and waits for its first event.
async fn open_stream(session: &str) -> Result<TcpStream> {
    let mut stream = TcpStream::connect(ADDRESS).await?;
    let request = format!(
        "GET /mcp HTTP/1.1\r\nHost: {ADDRESS}\r\nAccept: text/event-stream\r\n\
         Mcp-Session-Id: {session}\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut begun = Vec::new();
    while !begun.windows(6).any(|text| text == b"data:\n") {
        let mut piece = [0; 512];
        let read = stream.read(&mut piece).await?;
        if read == 0 {
            return Err(format!("no stream: {}", String::from_utf8_lossy(&begun)).into());
        }
        begun.extend_from_slice(piece.get(..read).unwrap_or_default());
    }
    Ok(stream)
}

/// Whether a stream gets the change.
async fn told_of_change(mut stream: TcpStream) -> Result<bool> {
    let mut told = Vec::new();
    loop {
        let mut piece = [0; 512];
        let read = stream.read(&mut piece).await?;
        told.extend_from_slice(piece.get(..read).unwrap_or_default());
        let text = String::from_utf8_lossy(&told);
        if text.contains("notifications/tools/list_changed") {
            return Ok(true);
        }
        if read == 0 {
            return Ok(false);
        }
    }
}
