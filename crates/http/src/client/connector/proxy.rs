//! Connections through the proxy that the environment names, if it names one.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_transport::BoxFuture;
use http::Uri;
use http::uri::Scheme;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::super::fetch::BoxError;

/// Connects to a server, or to the proxy that stands before it.
#[derive(Clone)]
pub(super) struct Proxied {
    http: HttpConnector,
    matcher: Arc<Matcher>,
}

impl Proxied {
    pub(super) fn new(http: HttpConnector, matcher: Arc<Matcher>) -> Self {
        Self { http, matcher }
    }

    /// `http` is forwarded, all else tunnelled.
    fn through(&self, proxy: &Intercept, to: Uri) -> BoxFuture<Result<Line, BoxError>> {
        let address = proxy.uri().clone();
        if address.scheme() != Some(&Scheme::HTTP) {
            let reason = format!("the proxy {address} of the environment is not an `http` one");
            return Box::pin(std::future::ready(Err(reason.into())));
        }
        let mut http = self.http.clone();
        if to.scheme() == Some(&Scheme::HTTP) {
            let connecting = http.call(address);
            return Box::pin(
                async move { Ok(Line { stream: connecting.await?, is_forwarded: true }) },
            );
        }
        let mut tunnel = Tunnel::new(address, http);
        if let Some(secret) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(secret.clone());
        }
        let connecting = tunnel.call(to);
        Box::pin(async move { Ok(Line { stream: connecting.await?, is_forwarded: false }) })
    }
}

impl Service<Uri> for Proxied {
    type Response = Line;
    type Error = BoxError;
    type Future = BoxFuture<Result<Line, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.http.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        if let Some(proxy) = self.matcher.intercept(&to) {
            return self.through(&proxy, to);
        }
        let connecting = self.http.call(to);
        Box::pin(async move { Ok(Line { stream: connecting.await?, is_forwarded: false }) })
    }
}

/// A connection that knows whether its peer forwards requests.
pub(super) struct Line {
    stream: TokioIo<TcpStream>,
    is_forwarded: bool,
}

impl Connection for Line {
    fn connected(&self) -> Connected {
        // Without what the stream has to say of itself: every answer would get a copy of that.
        Connected::new().proxy(self.is_forwarded)
    }
}

impl Read for Line {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl Write for Line {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }
}
