//! The default HTTP client: HTTP/1.1 and HTTP/2, pooled, through the proxy of the environment.

mod pool;
mod proxy;

use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use bowline_transport::BoxFuture;
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
use super::address::{Address, InvalidUrl};
use super::fetch::{Body, BoxError, Fetch, Incoming};
use super::limits::HttpClientLimits;

/// How often a silent connection is asked for a sign of life.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Headers of one answer that hyper has room for without being told.
const HEADERS: usize = 100;

#[cfg(not(feature = "tls"))]
const NO_TLS: &str = "`https` needs the feature `tls`";

/// Whether the default client can reach an address.
#[cfg(feature = "tls")]
pub(super) fn check(_: &Address) -> Result<(), InvalidUrl> {
    Ok(())
}

/// Whether the default client can reach an address.
#[cfg(not(feature = "tls"))]
pub(super) fn check(address: &Address) -> Result<(), InvalidUrl> {
    match address.is_secure() {
        true => Err(InvalidUrl::new(address, NO_TLS)),
        false => Ok(()),
    }
}

/// The default client, for requests to the origin of an address that bear these headers; what it
/// has to say itself is added to them.
pub(super) fn connect(
    address: &Address,
    headers: &mut HeaderMap,
    limits: &HttpClientLimits,
) -> Arc<dyn Fetch> {
    let mut http = HttpConnector::new();
    http.enforce_http(false);
    http.set_nodelay(true);
    http.set_connect_timeout(Some(limits.connect));
    http.set_keepalive(Some(KEEP_ALIVE));
    http.set_keepalive_interval(Some(KEEP_ALIVE));
    http.set_keepalive_retries(Some(3));
    let matcher = match proxy::of_environment(address) {
        Ok(matcher) => Arc::new(matcher),
        Err(variable) => {
            return Arc::new(Barred(format!(
                "the environment's `{variable}` is not the address of a proxy; write it like \
                 `http://proxy.example:3128`, or except the server in `NO_PROXY`"
            )));
        }
    };
    if address.is_secure() {
        return secured(Proxied::new(http, matcher), address, limits);
    }
    introduce(address, &matcher, headers);
    pooled(Proxied::new(http, matcher), address, limits)
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
        Err(error) => Arc::new(Barred(format!(
            "no certificate to trust was found ({error}); install those of the system, such as \
             the package `ca-certificates`, or name a file with `SSL_CERT_FILE`"
        ))),
    }
}

#[cfg(not(feature = "tls"))]
fn secured(_: Proxied, _: &Address, _: &HttpClientLimits) -> Arc<dyn Fetch> {
    Arc::new(Barred(NO_TLS.to_owned()))
}

/// Why nothing can be sent the way that was asked for; so nothing is.
struct Barred(String);

impl Fetch for Barred {
    fn fetch(self: Arc<Self>, _: Request<Body>) -> BoxFuture<Result<Response<Incoming>, BoxError>> {
        let unreachable = Unreachable(self.0.clone().into());
        Box::pin(ready(Err(unreachable.into())))
    }
}

/// Adds what every request over plain HTTP says, to the server or to a proxy that forwards it.
/// Tunnels have their own head, and HTTP/2 names the host elsewhere.
fn introduce(address: &Address, matcher: &Matcher, headers: &mut HeaderMap) {
    if let Some(host) = address.host_header() {
        headers.entry(HOST).or_insert(host);
    }
    let proxy = matcher.intercept(address.uri());
    if let Some(secret) = proxy.as_ref().and_then(Intercept::basic_auth) {
        headers.insert(PROXY_AUTHORIZATION, secret.clone());
    }
}

fn pooled<C>(connector: C, address: &Address, limits: &HttpClientLimits) -> Arc<dyn Fetch>
where
    C: Service<Uri, Error = BoxError> + Clone + Send + Sync + 'static,
    C::Response: Connection + Read + Write + Unpin + Send + 'static,
    C::Future: Send,
{
    let mut http1 = http1::Builder::new();
    http1.max_buf_size(limits.head.max(8192));
    // Told only if need be, because hyper then clears the room for them before every answer.
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
