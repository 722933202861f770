//! Connections through the proxy that the environment names, if it names one.

use std::env;
use std::fmt;
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

use super::super::address::Address;
use super::super::fetch::BoxError;

/// The proxies that the environment names for a server. A server on this machine has none: a proxy
/// elsewhere has no way to it, and would see what is sent, headers included.
///
/// # Errors
///
/// With the variable that cannot be read.
pub(super) fn of_environment(server: &Address) -> Result<Matcher, &'static str> {
    if server.is_loopback() {
        return Ok(Matcher::builder().build());
    }
    let matcher = Matcher::from_env();
    unread(&matcher, server.uri()).map_or(Ok(matcher), Err)
}

/// The variable that names a proxy for a server, if what it says cannot be read. Whoever sets one
/// may rely on it, so it is not passed by.
fn unread(matcher: &Matcher, server: &Uri) -> Option<&'static str> {
    let names = match server.scheme() == Some(&Scheme::HTTPS) {
        true => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        // Where this is set, whoever calls a script can set `HTTP_PROXY`: it is rightly ignored.
        false if env::var_os("REQUEST_METHOD").is_some() => return None,
        false => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
    };
    let is_set = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let name = names.into_iter().find(is_set)?;
    let excepted = env::var("NO_PROXY").or_else(|_| env::var("no_proxy")).unwrap_or_default();
    let others = Matcher::builder().all("http://proxy.invalid").no(excepted).build();
    (matcher.intercept(server).is_none() && others.intercept(server).is_some()).then_some(name)
}

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
    async fn through(self, proxy: &Intercept, to: Uri) -> Result<Line, BoxError> {
        let address = proxy.uri().clone();
        if address.scheme() != Some(&Scheme::HTTP) {
            return Err("it is not an `http` one".into());
        }
        let mut http = self.http;
        if to.scheme() == Some(&Scheme::HTTP) {
            return Ok(Line { stream: http.call(address).await?, is_forwarded: true });
        }
        let mut tunnel = Tunnel::new(address, http);
        if let Some(secret) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(secret.clone());
        }
        Ok(Line { stream: tunnel.call(to).await?, is_forwarded: false })
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
            let proxied = self.clone();
            return Box::pin(async move {
                let line = proxied.through(&proxy, to).await;
                line.map_err(|cause| Obstructed { proxy: proxy.uri().clone(), cause }.into())
            });
        }
        let connecting = self.http.call(to);
        Box::pin(async move { Ok(Line { stream: connecting.await?, is_forwarded: false }) })
    }
}

/// The proxy, and not the server, is why there is no connection.
#[derive(Debug)]
struct Obstructed {
    proxy: Uri,
    cause: BoxError,
}

impl fmt::Display for Obstructed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy {} of the environment", self.proxy)
    }
}

impl std::error::Error for Obstructed {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.cause)
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
