//! The listener for metrics and health: `/metrics`, `/livez`, `/readyz`.
//!
//! It listens on this machine only, and only if the user asks for it. Web pages can send requests
//! to this machine, under a name that they made to point to it. So the `Host` has to be this
//! machine.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bowline_types::host::is_this_machine;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, HOST, HeaderValue};
use http::{Method, Request, Response, StatusCode};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use prometheus::{Registry, TEXT_FORMAT, TextEncoder};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use super::upstreams::{self, Failing};
use crate::exit::{Exit, Failure};
use crate::print::text;

/// The most connections at once.
const MOST_CONNECTIONS: usize = 16;
/// How long a connection may stay open.
const LONGEST_CONNECTION: Duration = Duration::from_secs(10);
/// The pause after a connection could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The listener. Dropping it closes the port.
pub(super) struct Admin {
    url: String,
    pages: Arc<Pages>,
    _serving: JoinSet<()>,
}

impl Admin {
    /// Listens at an address of this machine.
    ///
    /// # Errors
    ///
    /// If other machines would reach the address, or it cannot be used.
    pub(super) async fn listen(address: SocketAddr, registry: Registry) -> Result<Self, Failure> {
        if !address.ip().to_canonical().is_loopback() {
            let text = text!("`--admin {address}` would show metrics to other machines");
            return Err(Failure::usage(text).hint("name an address such as `127.0.0.1:9464`"));
        }
        let unusable = |error: std::io::Error| {
            let text = text!("cannot serve metrics at {address}: {error}");
            Failure::new(Exit::Unreachable, text).hint("`--admin` names another address")
        };
        let listener = TcpListener::bind(address).await.map_err(unusable)?;
        let url = format!("http://{}", listener.local_addr().map_err(unusable)?);
        let is_ready = AtomicBool::new(false);
        let pages = Arc::new(Pages { registry, is_ready, failing: OnceLock::new() });
        let mut serving = JoinSet::new();
        serving.spawn(serve(listener, pages.clone()));
        Ok(Self { url, pages, _serving: serving })
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Shows in `/readyz` which servers behind this process fail.
    pub(super) fn watch(&self, failing: Failing) {
        // It is set once, by the command.
        let _ = self.pages.failing.set(failing);
    }

    pub(super) fn set_ready(&self, is_ready: bool) {
        self.pages.is_ready.store(is_ready, Ordering::Relaxed);
    }
}

/// Accepts connections until it is dropped.
async fn serve(listener: TcpListener, pages: Arc<Pages>) {
    let places = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        // Fails only if the semaphore is closed, which never happens.
        let Ok(place) = places.clone().acquire_owned().await else { return };
        let Ok((stream, _)) = listener.accept().await else {
            sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let pages = pages.clone();
        connections.spawn(async move {
            let _ = timeout(LONGEST_CONNECTION, answer(stream, pages)).await;
            drop(place);
        });
        while connections.try_join_next().is_some() {}
    }
}

/// Answers the requests of one connection.
async fn answer(stream: TcpStream, pages: Arc<Pages>) {
    let service = service_fn(move |request| {
        let response = pages.answer(&request);
        async move { Ok::<_, Infallible>(response) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(LONGEST_CONNECTION).max_buf_size(16 * 1024);
    // An error means that the client closed the connection, or sent no HTTP.
    let _ = http.serve_connection(TokioIo::new(stream), service).await;
}

/// What is served.
struct Pages {
    registry: Registry,
    is_ready: AtomicBool,
    failing: OnceLock<Failing>,
}

impl Pages {
    fn answer<B>(&self, request: &Request<B>) -> Response<String> {
        if !is_for_this_machine(request) {
            return page(StatusCode::FORBIDDEN, "the host is not this machine\n");
        }
        if request.method() != Method::GET && request.method() != Method::HEAD {
            return page(StatusCode::METHOD_NOT_ALLOWED, "only GET is served\n");
        }
        match request.uri().path() {
            "/livez" => page(StatusCode::OK, "ok\n"),
            "/readyz" if self.is_ready.load(Ordering::Relaxed) => {
                // The others are served, and a restart would not mend those that fail.
                let failing = self.failing.get().map(upstreams::shown).unwrap_or_default();
                page(StatusCode::OK, format!("ok\n{failing}"))
            }
            "/readyz" => page(StatusCode::SERVICE_UNAVAILABLE, "not serving\n"),
            "/metrics" => self.metrics(),
            _ => page(StatusCode::NOT_FOUND, "there are /metrics, /livez and /readyz\n"),
        }
    }

    fn metrics(&self) -> Response<String> {
        match TextEncoder::new().encode_to_string(&self.registry.gather()) {
            Ok(text) => {
                let mut response = page(StatusCode::OK, text);
                let format = HeaderValue::from_static(TEXT_FORMAT);
                response.headers_mut().insert(CONTENT_TYPE, format);
                response
            }
            Err(error) => page(StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n")),
        }
    }
}

/// Whether the `Host` of a request is this machine.
fn is_for_this_machine<B>(request: &Request<B>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    let (Some(host), None) = (hosts.next(), hosts.next()) else { return false };
    let Ok(authority) = http::uri::Authority::try_from(host.as_bytes()) else { return false };
    is_this_machine(authority.host())
}

fn page(status: StatusCode, text: impl Into<String>) -> Response<String> {
    let mut response = Response::new(text.into());
    *response.status_mut() = status;
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(method: Method, path: &str, host: &str) -> u16 {
        let (registry, is_ready) = (Registry::new(), AtomicBool::new(true));
        let pages = Pages { registry, is_ready, failing: OnceLock::new() };
        let request = Request::builder().method(method).uri(path).header(HOST, host).body(());
        pages.answer(&request.unwrap()).status().as_u16()
    }

    #[test]
    fn only_requests_to_this_machine_are_answered() {
        for host in ["127.0.0.1:9464", "localhost", "LOCALHOST:1", "[::1]:9464", "127.1.2.3"] {
            assert_eq!(status(Method::GET, "/metrics", host), 200, "{host}");
        }
        for host in ["evil.example", "evil.example:9464", "10.0.0.1", "", "localhost.evil.example"]
        {
            assert_eq!(status(Method::GET, "/metrics", host), 403, "{host}");
        }
        assert_eq!(status(Method::GET, "/mcp", "localhost"), 404);
        assert_eq!(status(Method::POST, "/metrics", "localhost"), 405);
    }
}
