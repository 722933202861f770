//! HTTP/2 clients for the requests of `wire`.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{Builder, SendRequest};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use crate::wire::Request;

/// An HTTP/2 connection.
#[derive(Clone)]
pub(crate) struct Http2Client(SendRequest<Full<Bytes>>);

impl Http2Client {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        Self::watched(address).await.0
    }

    /// Opens a connection; the task returns how it ended.
    pub(crate) async fn watched(address: SocketAddr) -> (Self, JoinHandle<hyper::Result<()>>) {
        Self::built(address, &Builder::new(TokioExecutor::new())).await
    }

    /// Opens a connection with an initial stream window of this many bytes.
    pub(crate) async fn with_window(address: SocketAddr, window: u32) -> Self {
        let mut builder = Builder::new(TokioExecutor::new());
        builder.initial_stream_window_size(window);
        Self::built(address, &builder).await.0
    }

    async fn built(
        address: SocketAddr,
        builder: &Builder<TokioExecutor>,
    ) -> (Self, JoinHandle<hyper::Result<()>>) {
        let stream = TcpStream::connect(address).await.unwrap();
        let (send, connection) = builder.handshake(TokioIo::new(stream)).await.unwrap();
        (Self(send), tokio::spawn(connection))
    }

    /// Sends a request to an authority, without a `Host` unless it has one; returns the status and
    /// the body. `None` if HTTP/2 cannot express the request.
    pub(crate) async fn ask(
        &mut self,
        authority: &[u8],
        request: &Request,
    ) -> Option<(u16, String)> {
        let response = self.0.send_request(translated(authority, request)?).await.unwrap();
        let status = response.status().as_u16();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        Some((status, String::from_utf8(body.to_vec()).unwrap()))
    }

    /// Sends a request and returns the response when its head has arrived.
    pub(crate) async fn stream(
        &mut self,
        request: &Request,
    ) -> http::Response<hyper::body::Incoming> {
        let request = translated(b"localhost", request).unwrap();
        self.0.send_request(request).await.unwrap()
    }
}

fn translated(authority: &[u8], request: &Request) -> Option<http::Request<Full<Bytes>>> {
    let (method, headers, body) = request.parts();
    let uri = http::Uri::builder().scheme("http").authority(authority).path_and_query("/mcp");
    let mut translated = http::Request::builder().method(method).uri(uri.build().ok()?);
    for (name, value) in headers.iter().filter(|(name, _)| name != "Host") {
        translated = translated.header(name, http::HeaderValue::from_bytes(value).ok()?);
    }
    translated.body(Full::new(Bytes::copy_from_slice(body))).ok()
}

/// A frame of HTTP/2.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) stream: u32,
    pub(crate) payload: Vec<u8>,
}

/// The types of frames that tests look at.
pub(crate) mod kind {
    pub(crate) const DATA: u8 = 0;
    pub(crate) const HEADERS: u8 = 1;
    pub(crate) const SETTINGS: u8 = 4;
    pub(crate) const PING: u8 = 6;
    pub(crate) const GOAWAY: u8 = 7;
    pub(crate) const CONTINUATION: u8 = 9;
}

/// The flags ACK and END_STREAM, which have the same value.
pub(crate) const LAST: u8 = 1;
const END_HEADERS: u8 = 4;

/// An HTTP/2 client that writes its own frames, and answers no frame by itself.
pub(crate) struct Frames(TcpStream);

impl Frames {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await.unwrap();
        let mut frames = Self(stream);
        frames.write(kind::SETTINGS, 0, 0, &[]).await;
        frames
    }

    pub(crate) async fn write(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
        let mut bytes = length[1..].to_vec();
        bytes.extend_from_slice(&[kind, flags]);
        bytes.extend_from_slice(&stream.to_be_bytes());
        bytes.extend_from_slice(payload);
        self.0.write_all(&bytes).await.unwrap();
    }

    /// Sends a request on a stream.
    pub(crate) async fn request(&mut self, stream: u32, request: &Request) {
        let (method, headers, body) = request.parts();
        let pseudo = [
            (":method", method.as_bytes()),
            (":scheme", b"http"),
            (":authority", b"localhost"),
            (":path", b"/mcp"),
        ];
        let mut block = Vec::new();
        for (name, value) in pseudo {
            field(&mut block, name.as_bytes(), value);
        }
        for (name, value) in headers.iter().filter(|(name, _)| name != "Host") {
            field(&mut block, name.to_ascii_lowercase().as_bytes(), value);
        }
        let mut parts = block.chunks(16 * 1024).peekable();
        let mut kind = kind::HEADERS;
        while let Some(part) = parts.next() {
            let flags = if parts.peek().is_none() { END_HEADERS } else { 0 };
            self.write(kind, flags, stream, part).await;
            kind = kind::CONTINUATION;
        }
        self.write(kind::DATA, LAST, stream, body).await;
    }

    /// Reads the next frame; `None` at the end of the connection.
    pub(crate) async fn read(&mut self) -> Option<Frame> {
        let mut head = [0; 9];
        self.0.read_exact(&mut head).await.ok()?;
        let [a, b, c, kind, _, stream @ ..] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        self.0.read_exact(&mut payload).await.ok()?;
        Some(Frame { kind, stream: u32::from_be_bytes(stream), payload })
    }

    /// Reads the next frame of a type, and skips all others.
    pub(crate) async fn read_kind(&mut self, kind: u8) -> Frame {
        loop {
            let frame = self.read().await.expect("a frame before the end of the connection");
            if frame.kind == kind {
                return frame;
            }
        }
    }
}

/// Writes a header field without compression.
fn field(block: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    block.push(0);
    for text in [name, value] {
        let mut rest = text.len();
        if rest < 127 {
            block.push(rest as u8);
        } else {
            block.push(127);
            rest -= 127;
            while rest >= 128 {
                block.push((rest % 128) as u8 | 128);
                rest /= 128;
            }
            block.push(rest as u8);
        }
        block.extend_from_slice(text);
    }
}
