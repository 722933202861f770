//! Serves over HTTP: a service to mount, or a listener of our own.

mod auth;
mod page;
mod reload;
mod stop;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

pub use bowline_http::server::{
    Admit, CredentialRefusal, Endpoint, HttpLimits, Sessions, VerifiedCaller,
};
use bowline_http::server::{Body, Gate, HttpConfig, Listener};
use bowline_http::store::Backend;
pub use bowline_proto::request::{Owner, Peer};
use futures_core::future::BoxFuture;

use self::auth::ClaimsSource;
pub use self::auth::{Authorization, HttpMetadata};
use self::reload::reload_keys;
use self::stop::{StopSignal, stop_signal};
use crate::error::BuildError;
use crate::notify::Notify;
use crate::seal::StateKeys;
use crate::serve::ServeError;
use crate::server::Server;
use crate::service::Service;

/// The path under which [`Http::bind`] serves.
const PATH: &str = "/mcp";

/// How long a server that stops may take to publish its last changes.
const LAST_CHANGES: Duration = Duration::from_secs(1);

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
            config: Arc::new(HttpConfig::new().with_page(page::PAGE)),
            problem: None,
            open_to_all: false,
            public_url: None,
            claims: ClaimsSource::None,
            store: None,
            endpoint: Arc::default(),
        }
    }
}

/// A server over HTTP. By default it accepts only host names of this machine in `Host`, and only web
/// pages of this machine in `Origin`.
#[derive(Clone)]
pub struct Http {
    server: Server,
    /// Shared by all clones: frameworks clone their services for every request.
    config: Arc<HttpConfig>,
    /// A setting that cannot be used; reported when the server is built.
    problem: Option<String>,
    open_to_all: bool,
    /// The URL that clients call, if it is known.
    public_url: Option<String>,
    claims: ClaimsSource,
    /// The store that was set, if any.
    store: Option<Arc<dyn Backend>>,
    endpoint: Arc<OnceLock<Result<Endpoint, String>>>,
}

impl Http {
    /// Sets the public URL: accepts its host in the `Host` header, and web pages of its origin.
    #[must_use]
    pub fn public_url(mut self, url: &str) -> Self {
        self.public_url = Some(url.to_owned());
        self.gated(|gate| gate.with_public_url(url))
    }

    /// Accepts this host name in the `Host` header, too.
    #[must_use]
    pub fn host(self, host: &str) -> Self {
        self.gated(|gate| gate.with_host(host))
    }

    /// Lets web pages of this origin call, such as `https://app.example.com`: scheme, host and, if
    /// it is not the usual one, port. An extension of a browser is an origin too, such as
    /// `chrome-extension://<id>`. Can be called several times. Pages of this machine may call without
    /// it.
    ///
    /// The server sends the [CORS] headers for these origins: it answers preflights, and pages can
    /// read every response and the headers of the protocol. Browsers send no cookies; a page
    /// authenticates with an `Authorization` header. Pages of other origins get 403 and can read
    /// nothing.
    ///
    /// [CORS]: https://developer.mozilla.org/en-US/docs/Web/HTTP/Guides/CORS
    #[must_use]
    pub fn origin(self, origin: &str) -> Self {
        self.gated(|gate| gate.with_origin(origin))
    }

    /// Sets the limits of the HTTP endpoint.
    #[must_use]
    pub fn limits(self, limits: HttpLimits) -> Self {
        self.changed(|config| config.with_limits(limits))
    }

    /// Sets whether clients that send `initialize` get a session.
    #[must_use]
    pub fn sessions(self, sessions: Sessions) -> Self {
        self.changed(|config| config.with_sessions(sessions))
    }

    /// Also serves the two endpoints of 2024-11-05 (HTTP+SSE), for clients that speak nothing else.
    #[must_use]
    pub fn sse2024(self) -> Self {
        self.changed(HttpConfig::with_sse2024)
    }

    /// Speaks HTTP/2 beside HTTP/1.1 on the listener of [`bind`](Self::bind), without TLS: for proxies
    /// and meshes that speak HTTP/2 to the servers behind them.
    #[cfg(feature = "http2")]
    #[must_use]
    pub fn http2(self) -> Self {
        self.changed(HttpConfig::with_http2)
    }

    /// Sets the store for sessions and the events of streams, and for tasks unless the server has
    /// [one](Server::store) for them. Processes with the same store can serve each request of the
    /// same clients, and with a durable store sessions survive a restart.
    #[must_use]
    pub fn store(mut self, store: impl Backend) -> Self {
        let store: Arc<dyn Backend> = Arc::new(store);
        self.store = Some(store.clone());
        self.changed(|config| config.with_store(store))
    }

    /// Allows [`bind`](Self::bind) to an address that other machines can reach, although the server
    /// checks no credentials: every client that reaches the address may call. With
    /// [`auth`](Self::auth) this is not needed.
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

    /// Changes the settings. Clones keep the endpoint that they have built already.
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
        if let Some(store) = &self.store {
            service.offer_store(store.clone());
            self.server.notify().share(store);
        }
        service.begin();
        let mut config = HttpConfig::clone(&self.config);
        if self.store.is_some() {
            config = config.with_shared_changes();
        }
        if let Some(url) = &self.public_url {
            config = config.with_shown_url(url);
        }
        let config = self.claims.configure(config, &service, self.public_url.as_deref())?;
        Ok(Endpoint::new(service, Arc::new(self.server.config()), config))
    }

    /// Serves on an address, with the endpoint at `/mcp`, until the process gets SIGINT (Ctrl-C) or
    /// SIGTERM. Then it accepts no more calls and lets running calls end; a second signal ends it at
    /// once.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or the address cannot be listened on.
    pub async fn bind(self, address: impl ToSocketAddrs) -> Result<(), ServeError> {
        self.listen(address).await?.serve().await;
        Ok(())
    }

    /// Listens on an address without serving yet, so that its port is known.
    ///
    /// # Errors
    ///
    /// If the server cannot be built, or the address cannot be listened on.
    pub async fn listen(self, address: impl ToSocketAddrs) -> Result<Bound, ServeError> {
        let address = resolve(address)?;
        if !address.ip().is_loopback()
            && let Some(why) = self.claims.refuses_network(self.open_to_all)
        {
            let refusal = format!("{address} can be reached from the network, and {why}");
            return Err(ServeError::address(refusal));
        }
        let gate = self.config.gate().clone().at(address);
        let mut http = self.changed(|config| config.with_gate(gate));
        let needs_url = http.claims.is_verified() && http.public_url.is_none();
        if !needs_url {
            http.build()?;
        }
        let listener = Listener::bind(address, PATH).await.map_err(ServeError::bind)?;
        if needs_url && address.ip().is_loopback() {
            // With the port that the system chose.
            let bound = listener.address().unwrap_or(address);
            http.public_url = Some(format!("http://{bound}{PATH}"));
        }
        let endpoint = http.build()?;
        let (service, keys) = (http.server.build()?, http.server.shared_keys());
        let drain = http.config.limits().drain;
        let notify = http.server.notify();
        Ok(Bound { listener, endpoint, service, notify, drain, keys })
    }
}

/// A server that listens on an address.
pub struct Bound {
    listener: Listener,
    endpoint: Endpoint,
    service: Service,
    notify: Notify,
    /// How long calls and tasks may run on when the server stops.
    drain: Duration,
    /// The keys that were set, if any.
    keys: Option<StateKeys>,
}

impl Bound {
    /// The address that is listened on.
    ///
    /// # Errors
    ///
    /// If the operating system cannot report it.
    pub fn address(&self) -> std::io::Result<SocketAddr> {
        self.listener.address()
    }

    /// The endpoint that is served.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Serves until the process gets SIGINT (Ctrl-C) or SIGTERM, as [`Http::bind`] does. At SIGHUP it
    /// reads the file of its [state keys](Server::state_keys) again, if they come from one.
    pub async fn serve(self) {
        let stopped_twice = async {
            stop_signal().await;
            stop_signal().await;
        };
        let endpoint = self.endpoint.clone();
        let stop = async move {
            if stop_signal().await == StopSignal::Interrupt {
                // No lame duck: a user waits.
                endpoint.stop();
            }
        };
        tokio::select! {
            () = reload_keys(self.keys.clone()) => {}
            () = self.serve_until(stop) => {}
            () = stopped_twice => {}
        }
    }

    /// Serves until `stop` resolves, then lets running calls end. With a shared store it first serves
    /// on for [`HttpLimits::lame_duck`], unless
    /// [`Endpoint::stop`] was called, and tasks may run on as long as calls: clients ask other
    /// processes for their results.
    pub async fn serve_until(self, stop: impl Future<Output = ()>) {
        let Self { listener, endpoint, service, notify, drain, .. } = self;
        let stopped = endpoint.stopped();
        let tasks = async {
            stopped.await;
            _ = tokio::time::timeout(drain, service.tasks_ended()).await;
        };
        tokio::join!(listener.serve(endpoint, stop), tasks);
        // The last calls may have changed something just now.
        _ = tokio::time::timeout(LAST_CHANGES, notify.publish_now()).await;
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
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

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
mod tests;
