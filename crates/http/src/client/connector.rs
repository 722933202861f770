//! The default HTTP client: HTTP/1.1 and HTTP/2, pooled, through the proxy of the environment.

mod proxy;

use std::sync::Arc;
use std::time::Duration;

use http::header::{HOST, HeaderMap, PROXY_AUTHORIZATION};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::{Connect, HttpConnector};
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use hyper_util::rt::{TokioExecutor, TokioTimer};

use self::proxy::Proxied;
use super::address::{Address, InvalidUrl};
use super::fetch::{Body, By, Fetch};
use super::limits::HttpClientLimits;

/// How long a connection without requests is kept. Shorter than what servers allow, so that they
/// rarely close one at the moment that it is used again.
const POOLED: Duration = Duration::from_secs(30);

/// How often a silent connection is asked for a sign of life.
const KEEP_ALIVE: Duration = Duration::from_secs(20);

/// Headers of one answer that hyper has room for without being told.
const HEADERS: usize = 100;

/// Whether the default client can reach an address.
#[cfg(feature = "tls")]
pub(super) fn check(_: &Address) -> Result<(), InvalidUrl> {
    Ok(())
}

/// Whether the default client can reach an address.
#[cfg(not(feature = "tls"))]
pub(super) fn check(address: &Address) -> Result<(), InvalidUrl> {
    match address.is_secure() {
        true => Err(InvalidUrl::new(address, "`https` needs the feature `tls`")),
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
    let matcher = Arc::new(Matcher::from_env());
    if !address.is_secure() {
        introduce(address, &matcher, headers);
    }
    let proxied = Proxied::new(http, matcher);
    #[cfg(feature = "tls")]
    {
        let provider = rustls::crypto::ring::default_provider();
        let builder = hyper_rustls::HttpsConnectorBuilder::new();
        // A system without certificates can still be used for `http`.
        if let Ok(builder) = builder.with_provider_and_native_roots(provider) {
            let secure = builder.https_or_http().enable_all_versions().wrap_connector(proxied);
            return pooled(secure, limits);
        }
    }
    pooled(proxied, limits)
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

fn pooled<C>(connector: C, limits: &HttpClientLimits) -> Arc<dyn Fetch>
where
    C: Connect + Clone + Send + Sync + 'static,
{
    let mut builder = Client::builder(TokioExecutor::new());
    // Told only if need be, because hyper then clears the room for them before every answer.
    if limits.headers != HEADERS {
        builder.http1_max_headers(limits.headers);
    }
    let client: Client<C, Body> = builder
        .timer(TokioTimer::new())
        .pool_timer(TokioTimer::new())
        .pool_idle_timeout(POOLED)
        .http1_max_buf_size(limits.head.max(8192))
        .http2_max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX))
        .http2_keep_alive_interval(KEEP_ALIVE)
        .http2_keep_alive_timeout(KEEP_ALIVE)
        .build(connector);
    Arc::new(By(client))
}
