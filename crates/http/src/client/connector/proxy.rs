//! Connections through the proxy of the environment, if there is one.
//!
//! The variables are those of curl: `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`. The
//! proxy forwards requests to an `http` server, and opens a tunnel to an `https` one (`CONNECT`),
//! of which it sees only the host.

use std::env;
use std::fmt;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::future::BoxFuture;
use http::Uri;
use http::uri::Scheme;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::legacy::connect::{Connected, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::super::address::Address;
use super::super::fetch::BoxError;
use super::resolve::HostResolver;
use super::stream::DescribedStream;

/// Reads the proxy settings of the environment. A server on this machine is reached without a proxy:
/// a remote proxy could not reach it, and would see the request with its headers.
///
/// # Errors
///
/// Names the variable that cannot be parsed.
pub(super) fn of_environment(server: &Address) -> Result<Matcher, &'static str> {
    if server.is_loopback() {
        return Ok(Matcher::builder().build());
    }
    let matcher = Matcher::from_env();
    unread(&matcher, server.uri()).map_or(Ok(matcher), Err)
}

/// The variable that sets the proxy for a server, if its value cannot be parsed. The user may rely
/// on the proxy, so it is not bypassed.
fn unread(matcher: &Matcher, server: &Uri) -> Option<&'static str> {
    let names = match server.scheme() == Some(&Scheme::HTTPS) {
        true => ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"],
        // In a CGI script, a request header can set `HTTP_PROXY`, so it is ignored.
        false if env::var_os("REQUEST_METHOD").is_some() => return None,
        false => ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"],
    };
    let is_set = |name: &&str| env::var_os(name).is_some_and(|value| !value.is_empty());
    let name = names.into_iter().find(is_set)?;
    let excepted = env::var("NO_PROXY").or_else(|_| env::var("no_proxy")).unwrap_or_default();
    let others = Matcher::builder().all("http://proxy.invalid").no(excepted).build();
    (matcher.intercept(server).is_none() && others.intercept(server).is_some()).then_some(name)
}

/// Connects to a server, or to its proxy. A connector for the pool. Which of the three ways it
/// takes (direct, forwarded, tunnelled) is decided for each connection.
#[derive(Clone)]
pub(super) struct Proxied {
    /// To the server itself.
    pub(super) http: HttpConnector<HostResolver>,
    /// To a proxy.
    pub(super) to_proxy: HttpConnector<HostResolver>,
    pub(super) matcher: Arc<Matcher>,
}

impl Proxied {
    /// Connects through a proxy: `http` is forwarded, everything else is tunnelled. A proxy that is
    /// itself reached by TLS or SOCKS is refused, and the failure names the proxy.
    async fn through(self, proxy: &Intercept, to: Uri) -> Result<ProxiedStream, BoxError> {
        let address = proxy.uri().clone();
        if address.scheme() != Some(&Scheme::HTTP) {
            return Err("it is not an `http` one".into());
        }
        let mut http = self.to_proxy;
        if to.scheme() == Some(&Scheme::HTTP) {
            return Ok(ProxiedStream::new(http.call(address).await?, || {
                Connected::new().proxy(true)
            }));
        }
        let mut tunnel = Tunnel::new(address, http);
        if let Some(secret) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(secret.clone());
        }
        Ok(ProxiedStream::new(tunnel.call(to).await?, Connected::new))
    }
}

impl Service<Uri> for Proxied {
    type Response = ProxiedStream;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<ProxiedStream, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.http.poll_ready(cx).map_err(Into::into)
    }

    fn call(&mut self, to: Uri) -> Self::Future {
        if let Some(proxy) = self.matcher.intercept(&to) {
            let proxied = self.clone();
            return Box::pin(async move {
                let line = proxied.through(&proxy, to).await;
                line.map_err(|cause| ProxyError { proxy: proxy.uri().clone(), cause }.into())
            });
        }
        let connecting = self.http.call(to);
        Box::pin(async move { Ok(ProxiedStream::new(connecting.await?, Connected::new)) })
    }
}

/// The connection failed at the proxy, not at the server.
#[derive(Debug)]
struct ProxyError {
    proxy: Uri,
    cause: BoxError,
}

impl fmt::Display for ProxyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the proxy {} of the environment", self.proxy)
    }
}

impl std::error::Error for ProxyError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&*self.cause)
    }
}

/// A TCP stream that knows whether its peer is a forwarding proxy; a direct connection and a tunnel
/// have none. A forwarding proxy needs the whole URL in the request line, so the pool asks.
pub(super) type ProxiedStream = DescribedStream<TokioIo<TcpStream>>;
