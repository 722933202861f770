//! The same requests over HTTP/2.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use crate::wire::Request;

/// A connection that speaks HTTP/2.
#[derive(Clone)]
pub(crate) struct H2(SendRequest<Full<Bytes>>);

impl H2 {
    pub(crate) async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        let io = TokioIo::new(stream);
        let (send, connection) = handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        Self(send)
    }

    /// Sends a request to an authority, without a `Host` unless it is added; gives the status and
    /// the body. `None` if HTTP/2 has no way to say it.
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

    /// Sends a request and gives the answer as it comes.
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
