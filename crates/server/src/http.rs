//! Serves over HTTP: a service to mount, or a listener of our own.

mod stop;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::{SocketAddr, ToSocketAddrs};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use bowline_http::server::{Body, Endpoint, Gate, HttpConfig, Listener};
pub use bowline_http::server::{HttpLimits, Sessions};
use bowline_http::store::Backend;
pub use bowline_proto::request::{Owner, Peer};

use self::stop::told_to_stop;
use crate::serve::ServeError;
use crate::server::{BuildError, Server};

/// The path under which [`Http::bind`] serves.
const PATH: &str = "/mcp";

impl Server {
    /// This server over HTTP, every revision on one endpoint: a tower service to mount in axum or
    /// hyper, or, with [`bind`](Http::bind), a listener of its own.
    ///
    /// ```no_run
    /// # async fn example() -> Result<(), bowline_server::ServeError> {
    /// let server = bowline_server::Server::new("api", "1.0.0");
    /// server.http().public_url("https://mcp.example.com/mcp").bind("127.0.0.1:3000").await
    /// # }
    /// ```
    pub fn http(&self) -> Http {
        Http {
            server: self.clone(),
            config: Arc::new(HttpConfig::new()),
            problem: None,
            open_to_all: false,
            endpoint: Arc::default(),
        }
    }
}

/// A server over HTTP. The defaults are safe: it answers only to names of this machine, and only
/// to pages from there.
#[derive(Clone)]
pub struct Http {
    server: Server,
    /// Shared by all clones: frameworks clone their services for every request.
    config: Arc<HttpConfig>,
    /// A setting that made no sense; told when the server is built.
    problem: Option<String>,
    open_to_all: bool,
    endpoint: Arc<OnceLock<Result<Endpoint, String>>>,
}

impl Http {
    /// Answers to the address that clients outside know, and to web pages from there.
    #[must_use]
    pub fn public_url(self, url: &str) -> Self {
        self.gated(|gate| gate.with_public_url(url))
    }

    /// Answers also to this host name.
    #[must_use]
    pub fn host(self, host: &str) -> Self {
        self.gated(|gate| gate.with_host(host))
    }

    /// Lets web pages of this origin call, such as `https://app.example.com`: scheme, host and, if
    /// it is not the usual one, port. An extension of a browser is an origin too, such as
    /// `chrome-extension://<id>`. Can be called several times. Pages of this machine may call without
    /// it.
    ///
    /// Browsers are told so by the headers of [CORS]: preflights are answered, and pages can read
    /// every answer and the headers of the protocol. Cookies are not sent; a page authenticates with
    /// an `Authorization` header of its own. Pages of other origins are answered 403 and can read
    /// nothing.
    ///
    /// [CORS]: https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CORS
    #[must_use]
    pub fn origin(self, origin: &str) -> Self {
        self.gated(|gate| gate.with_origin(origin))
    }

    /// Sets the bounds.
    #[must_use]
    pub fn limits(self, limits: HttpLimits) -> Self {
        self.changed(|config| config.with_limits(limits))
    }

    /// Sets what becomes of clients that shake hands.
    #[must_use]
    pub fn sessions(self, sessions: Sessions) -> Self {
        self.changed(|config| config.with_sessions(sessions))
    }

    /// Serves the two endpoints of 2024-11-05 beside, for clients that know nothing else.
    #[must_use]
    pub fn sse2024(self) -> Self {
        self.changed(HttpConfig::with_sse2024)
    }

    /// Speaks HTTP/2 beside HTTP/1.1 on a listener of ours, without TLS: for proxies and meshes that
    /// talk so to what stands behind them.
    #[cfg(feature = "http2")]
    #[must_use]
    pub fn http2(self) -> Self {
        self.changed(HttpConfig::with_http2)
    }

    /// Sets where sessions and what streams said are kept, so that several processes with the same
    /// store serve the same clients, whichever of them a request comes to.
    #[must_use]
    pub fn store(self, store: Arc<dyn Backend>) -> Self {
        self.changed(|config| config.with_store(store))
    }

    /// Lets anybody on the network call who reaches the address, without credentials. Needed to
    /// bind to anything but this machine as long as nobody checks credentials.
    #[must_use]
    pub fn allow_unauthenticated_network(mut self) -> Self {
        self.open_to_all = true;
        self
    }

    fn gated<E: fmt::Display>(mut self, change: impl FnOnce(Gate) -> Result<Gate, E>) -> Self {
        match change(self.config.gate().clone()) {
            Ok(gate) => self.changed(|config| config.with_gate(gate)),
            Err(error) => {
                self.problem = Some(error.to_string());
                self.changed(|config| config)
            }
        }
    }

    /// With other settings: an endpoint that clones have built already is theirs, not ours.
    fn changed(mut self, change: impl FnOnce(HttpConfig) -> HttpConfig) -> Self {
        self.config = Arc::new(change(Arc::unwrap_or_clone(self.config)));
        self.endpoint = Arc::default();
        self
    }

    /// The endpoint, built once for all clones.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or a setting makes no sense.
    pub fn build(&self) -> Result<Endpoint, BuildError> {
        let built = self.endpoint.get_or_init(|| self.make().map_err(|error| error.to_string()));
        built.clone().map_err(BuildError::new)
    }

    fn make(&self) -> Result<Endpoint, BuildError> {
        if let Some(problem) = &self.problem {
            return Err(BuildError::new(problem.clone()));
        }
        let service = self.server.build()?;
        Ok(Endpoint::new(service, Arc::new(self.server.config()), HttpConfig::clone(&self.config)))
    }

    /// Serves on an address until the process is told to stop, then lets calls come to an end,
    /// unless it is told again. The endpoint is `/mcp`.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or the address cannot be listened on.
    pub async fn bind(self, address: impl ToSocketAddrs) -> Result<(), ServeError> {
        let listener = self.listen(address).await?;
        let told_twice = async {
            told_to_stop().await;
            told_to_stop().await;
        };
        tokio::select! {
            () = listener.serve_until(told_to_stop()) => {}
            () = told_twice => {}
        }
        Ok(())
    }

    /// Listens on an address without serving yet, so that its port is known.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or the address cannot be listened on.
    pub async fn listen(self, address: impl ToSocketAddrs) -> Result<Bound, ServeError> {
        let address = resolve(address)?;
        if !address.ip().is_loopback() && !self.open_to_all {
            return Err(ServeError::address(format!(
                "{address} can be reached from the network, and nobody checks credentials: bind to 127.0.0.1 behind a proxy, or call `allow_unauthenticated_network()`"
            )));
        }
        let gate = self.config.gate().clone().at(address);
        let endpoint = self.changed(|config| config.with_gate(gate)).build()?;
        let listener = Listener::bind(address, PATH).await.map_err(ServeError::bind)?;
        Ok(Bound { listener, endpoint })
    }
}

/// A server that listens on an address.
pub struct Bound {
    listener: Listener,
    endpoint: Endpoint,
}

impl Bound {
    /// The address that is listened on.
    ///
    /// # Errors
    ///
    /// If the system does not say.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.address()
    }

    /// The endpoint that is served.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Serves until `stop` says so, then lets calls come to an end.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) {
        self.listener.serve(self.endpoint, stop).await;
    }
}

fn resolve(address: impl ToSocketAddrs) -> Result<SocketAddr, ServeError> {
    let mut addresses = address.to_socket_addrs().map_err(ServeError::unresolved)?;
    let none = || ServeError::address("the address names no place to listen on");
    addresses.next().ok_or_else(none)
}

impl<B> tower_service::Service<http::Request<B>> for Http
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: fmt::Display,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        match self.build() {
            Ok(mut endpoint) => tower_service::Service::call(&mut endpoint, request),
            Err(error) => {
                let response = bowline_http::server::failed(&error.to_string());
                Box::pin(async move { Ok(response) })
            }
        }
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http").field("server", &self.server).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_counts_after_a_clone_was_built() {
        let http = Server::new("api", "1.0.0").http();
        assert!(http.build().is_ok());
        assert!(http.clone().host("not a host").build().is_err());
        assert!(http.build().is_ok());
    }
}
