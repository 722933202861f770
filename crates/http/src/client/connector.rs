//! The default HTTP client: HTTP/1.1 and HTTP/2, pooled connections, the proxy of the environment.
//!
//! Made when the transport is split into reader and writer. Nothing is connected before the first
//! request. What cannot work (a malformed proxy variable, no certificates) is not an error here:
//! the client is then one whose every request fails with that reason, so the user reads it where a
//! connection fails.

mod pool;
mod proxy;
mod resolve;
mod stream;

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_core::future::BoxFuture;
use http::header::{HOST, HeaderMap, PROXY_AUTHORIZATION};
use http::{Request, Response, Uri};
use hyper::client::conn::{http1, http2};
use hyper::rt::{Read, Write};
use hyper_util::client::legacy::connect::{Connection, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::{TokioExecutor, TokioTimer};
use tower_service::Service;

pub(super) use self::pool::{CutOff, Unreachable};
use self::pool::{Idle, Pool};
use self::proxy::Proxied;
use self::resolve::HostResolver;
pub(super) use self::resolve::{ResolveHost, SystemResolver};
use super::address::{Address, InvalidAddress};
#[cfg(feature = "tls")]
use super::connect_failure::NoRoots;
use super::fetch::{BoxError, Fetch, Incoming, RequestBody};
use super::limits::HttpClientLimits;

/// The interval of keep-alive probes on a silent connection.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// hyper's default for the number of headers of a response.
const HEADERS: usize = 100;

#[cfg(not(feature = "tls"))]
const NO_TLS: &str = "`https` needs the feature `tls`";

/// Whether the default client can reach an address.
#[cfg(feature = "tls")]
pub(super) fn check(_: &Address) -> Result<(), InvalidAddress> {
    Ok(())
}

/// Whether the default client can reach an address.
#[cfg(not(feature = "tls"))]
pub(super) fn check(address: &Address) -> Result<(), InvalidAddress> {
    match address.is_secure() {
        true => Err(InvalidAddress::new(address, NO_TLS)),
        false => Ok(()),
    }
}

/// Makes the default client for the origin of an address, and adds the headers that it needs to
/// `headers`.
pub(super) fn connect(
    address: &Address,
    headers: &mut HeaderMap,
    limits: &HttpClientLimits,
) -> Arc<dyn Fetch> {
    connect_resolved((address, Arc::new(SystemResolver)), headers, limits)
}

/// The same, where the addresses of the server are found by a resolver. The resolver is not asked
/// about a literal address, nor about a proxy, nor about a server behind one.
pub(super) fn connect_resolved(
    (address, resolver): (&Address, Arc<dyn ResolveHost>),
    headers: &mut HeaderMap,
    limits: &HttpClientLimits,
) -> Arc<dyn Fetch> {
    let http = tcp(resolver, limits);
    let to_proxy = tcp(Arc::new(SystemResolver), limits);
    let matcher = match proxy::of_environment(address) {
        Ok(matcher) => Arc::new(matcher),
        Err(variable) => {
            return Arc::new(Unavailable(format!(
                "the environment's `{variable}` is not the address of a proxy; write it like \
                 `http://proxy.example:3128`, or except the server in `NO_PROXY`"
            )));
        }
    };
    let proxied = Proxied { http, to_proxy, matcher };
    if address.is_secure() {
        return secured(proxied, address, limits);
    }
    add_plain_headers(address, &proxied.matcher, headers);
    pooled(proxied, address, limits)
}

/// Opens TCP connections.
fn tcp(resolver: Arc<dyn ResolveHost>, limits: &HttpClientLimits) -> HttpConnector<HostResolver> {
    let mut http = HttpConnector::new_with_resolver(HostResolver(resolver));
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(limits.connect));
    http.set_keepalive(Some(KEEP_ALIVE));
    http.set_keepalive_interval(Some(KEEP_ALIVE));
    http.set_keepalive_retries(Some(3));
    http
}

#[cfg(feature = "tls")]
fn secured(proxied: Proxied, address: &Address, limits: &HttpClientLimits) -> Arc<dyn Fetch> {
    let provider = rustls::crypto::ring::default_provider();
    let builder = hyper_rustls::HttpsConnectorBuilder::new();
    match builder.with_provider_and_native_roots(provider) {
        Ok(builder) => {
            let secure = builder.https_only().enable_all_versions().wrap_connector(proxied);
            pooled(secure, address, limits)
        }
        Err(error) => Arc::new(Unavailable(NoRoots(format!(
            "no certificate to trust was found ({error}); install those of the system, such as \
             the package `ca-certificates`, or name a file with `SSL_CERT_FILE`"
        )))),
    }
}

#[cfg(not(feature = "tls"))]
fn secured(_: Proxied, _: &Address, _: &HttpClientLimits) -> Arc<dyn Fetch> {
    Arc::new(Unavailable(NO_TLS.to_owned()))
}

/// A client that cannot be used: every request fails with this reason. Nothing is sent, so callers
/// may repeat their requests once the cause is mended.
struct Unavailable<E>(E);

impl<E: Into<BoxError> + Clone + Send + Sync + 'static> Fetch for Unavailable<E> {
    fn fetch(
        self: Arc<Self>,
        _: Request<RequestBody>,
    ) -> BoxFuture<'static, Result<Response<Incoming>, BoxError>> {
        let unreachable = Unreachable(self.0.clone().into());
        Box::pin(ready(Err(unreachable.into())))
    }
}

/// Adds `Host` and `Proxy-Authorization` for requests over plain HTTP. Tunnels send their own
/// `Proxy-Authorization`, and HTTP/2 has `:authority` instead of `Host`.
fn add_plain_headers(address: &Address, matcher: &Matcher, headers: &mut HeaderMap) {
    if let Some(host) = address.host_header() {
        headers.entry(HOST).or_insert(host);
    }
    let proxy = matcher.intercept(address.uri());
    if let Some(secret) = proxy.as_ref().and_then(Intercept::basic_auth) {
        let mut secret = secret.clone();
        secret.set_sensitive(true);
        headers.insert(PROXY_AUTHORIZATION, secret);
    }
}

/// Sets the bounds of both protocols. HTTP/2 is spoken if TLS negotiates it.
fn pooled<C>(connector: C, address: &Address, limits: &HttpClientLimits) -> Arc<dyn Fetch>
where
    C: Service<Uri, Error = BoxError> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Unpin + Send + 'static,
    C::Future: Send,
{
    let mut http1 = http1::Builder::new();
    http1.max_buf_size(limits.head.max(8192));
    // Set only if it differs: with a limit set, hyper allocates and clears the space per response.
    if limits.headers != HEADERS {
        http1.max_headers(limits.headers);
    }
    let mut http2 = http2::Builder::new(TokioExecutor::new());
    http2
        .timer(TokioTimer::new())
        .max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX))
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(KEEP_ALIVE);
    let (server, host) = (address.uri().clone(), address.host_header());
    let (patience, idle) = (limits.connect, Arc::new(Idle::new(limits)));
    Arc::new(Pool { connector, server, host, patience, http1, http2, idle })
}
