//! HTTP as a transport: every message is an HTTP request, and all answers go into one queue.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use bowline_proto::codec::Unit;
use bowline_proto::limits::Limits;
use bowline_proto::mirror::Mirror;
use bowline_proto::request::ExchangeId;
use bowline_proto::table::hash::CountedKeys;
use bowline_proto::transmit::{Role, Route, Transmit};
use bowline_transport::error::Error;
use bowline_transport::transport::{Reader, Transport, Writer};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use http::header::{HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Request, Response};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::timeout;
use tower_service::Service;

use super::address::{Address, InvalidAddress};
use super::connector;
use super::exchange::ClientExchange;
use super::fetch::{BoxError, Fetch, RequestBody, ServiceFetch};
use super::limits::HttpClientLimits;
use super::shared::Shared;

/// Messages that wait to be read. When it is full, exchanges wait, and with them the server.
const QUEUE: usize = 16;

/// Below this many tasks, finished ones are not looked for.
const FEW: usize = 16;

/// The `User-Agent`; some servers refuse requests without one.
const OWN_USER_AGENT: HeaderValue =
    HeaderValue::from_static(concat!("bowline/", env!("CARGO_PKG_VERSION")));

/// Connects to a server over HTTP: Streamable HTTP of every revision, or the HTTP+SSE transport of
/// 2024-11-05 if the server supports nothing else.
///
/// Nothing is sent before [`connect`](bowline_transport::connect::connect). Headers are sent to the
/// origin of the address only.
pub struct HttpTransport {
    address: Address,
    headers: HeaderMap,
    limits: HttpClientLimits,
    fetch: Option<Arc<dyn Fetch>>,
}

impl HttpTransport {
    /// A server at a URL, reached by the built-in HTTP client: HTTP/1.1 and HTTP/2, pooled
    /// connections, the proxy of the environment. `https` needs the feature `tls`.
    ///
    /// # Errors
    ///
    /// If the URL is not a valid address of a server.
    pub fn new(url: &str) -> Result<Self, InvalidAddress> {
        let address = Address::parse(url)?;
        connector::check(&address)?;
        Ok(Self::at(address, None))
    }

    /// A server at a URL, reached by an HTTP client of the caller: any tower service. It should not
    /// follow redirects by itself, because it might send secrets to another origin.
    ///
    /// # Errors
    ///
    /// If the URL is not a valid address of a server.
    pub fn with_service<S, B>(url: &str, service: S) -> Result<Self, InvalidAddress>
    where
        S: Service<Request<RequestBody>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Ok(Self::at(Address::parse(url)?, Some(Arc::new(ServiceFetch(service)))))
    }

    fn at(address: Address, fetch: Option<Arc<dyn Fetch>>) -> Self {
        let headers = HeaderMap::from_iter([(USER_AGENT, OWN_USER_AGENT)]);
        Self { address, headers, limits: HttpClientLimits::default(), fetch }
    }

    /// Adds a header to every request, such as `Authorization`. Headers of the protocol itself
    /// cannot be set.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.headers.insert(name, value);
        self
    }

    /// Sets the limits.
    #[must_use]
    pub fn with_limits(mut self, limits: HttpClientLimits) -> Self {
        self.limits = limits;
        self
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport")
            .field("address", &self.address.to_string())
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

impl Transport for HttpTransport {
    type Reader = HttpReader;
    type Writer = HttpWriter;

    const MIRRORS: bool = true;

    fn split(self, limits: &Limits) -> (HttpReader, HttpWriter) {
        let (units, received) = mpsc::channel(QUEUE);
        let Self { address, mut headers, limits: bounds, fetch } = self;
        let connect = || connector::connect(&address, &mut headers, &bounds);
        let fetch = fetch.unwrap_or_else(connect);
        let whom = (address, headers, fetch);
        let shared = Arc::new(Shared::new(whom, limits.clone(), bounds, units));
        let writer = HttpWriter {
            shared,
            running: HashMap::default(),
            others: Vec::new(),
            full: FEW,
            notifications: JoinSet::new(),
            session: None,
            is_closed: false,
        };
        (HttpReader { received, has_ended: false }, writer)
    }
}

/// The receiving half: the messages of all exchanges.
#[derive(Debug)]
pub struct HttpReader {
    received: mpsc::Receiver<Option<Unit>>,
    has_ended: bool,
}

impl Reader for HttpReader {
    async fn read(&mut self) -> Result<Option<Unit>, Error> {
        if self.has_ended {
            return Ok(None);
        }
        let unit = self.received.recv().await.flatten();
        self.has_ended = unit.is_none();
        Ok(unit)
    }
}

/// The sending half: runs a task for every message.
pub struct HttpWriter {
    shared: Arc<Shared>,
    /// The tasks of requests by exchange; some may have finished since the last check.
    running: HashMap<ExchangeId, JoinHandle<()>, CountedKeys>,
    /// The same for requests without an exchange, or whose exchange has sent another request since.
    others: Vec<JoinHandle<()>>,
    /// With this many tasks, finished ones are removed.
    full: usize,
    /// The tasks of messages that await no answer.
    notifications: JoinSet<()>,
    /// The task that ends the handshake and then reads the GET stream.
    session: Option<AbortHandle>,
    is_closed: bool,
}

impl Writer for HttpWriter {
    async fn write(&mut self, queue: &mut VecDeque<Transmit>) -> Result<(), Error> {
        self.forget_ended();
        for transmit in queue.drain(..) {
            self.start(transmit);
        }
        Ok(())
    }

    async fn close(&mut self) {
        if std::mem::replace(&mut self.is_closed, true) {
            return;
        }
        self.exchanges().for_each(JoinHandle::abort);
        let Self { shared, running, others, notifications, .. } = self;
        // Requests are aborted. Notifications are sent before the session ends.
        let end = async {
            for exchange in running.drain().map(|(_, it)| it).chain(others.drain(..)) {
                // Fails, because the task was aborted.
                let _ = exchange.await;
            }
            while notifications.join_next().await.is_some() {}
            shared.delete().await;
        };
        let _ = timeout(shared.limits.close, end).await;
        notifications.abort_all();
    }
}

impl HttpWriter {
    fn start(&mut self, transmit: Transmit) {
        let Transmit { route, role, frame: message, mirror } = transmit;
        let none = || Mirror { id: None, method: None, revision: None, name: None, params: vec![] };
        let mirror = mirror.map_or_else(none, |mirror| *mirror);
        let is_cancelled_by_closing = mirror.revision.is_some_and(Revision::cancels_by_closing);
        let method = mirror.method;
        let exchange = ClientExchange { shared: self.shared.clone(), mirror, message };
        match (role, method) {
            (Role::Opens, method) => {
                if method == Some(Method::Initialize) {
                    self.forget_session();
                }
                self.ask(route, exchange);
            }
            (Role::Cancels, _) => {
                self.abort(route);
                // In 2026-07-28 the closed connection is the cancellation.
                if !is_cancelled_by_closing {
                    self.notifications.spawn(exchange.notify());
                }
            }
            (Role::Within | Role::Ends, Some(Method::Initialized)) => {
                let session = tokio::spawn(exchange.begin(self.shared.current()));
                self.session = Some(session.abort_handle());
                self.others.push(session);
            }
            (Role::Within | Role::Ends, _) => {
                self.notifications.spawn(exchange.notify());
            }
        }
    }

    fn ask(&mut self, route: Route, exchange: ClientExchange) {
        // Boxed, because Tokio moves the future of a task about a dozen times.
        let exchange = tokio::spawn(Box::pin(async move { exchange.ask().await }));
        let other = match route {
            // An exchange that goes on after a question keeps its number.
            Route::Exchange(number) => self.running.insert(number, exchange),
            Route::Standalone => Some(exchange),
        };
        self.others.extend(other);
    }

    fn exchanges(&self) -> impl Iterator<Item = &JoinHandle<()>> {
        self.running.values().chain(&self.others)
    }

    fn abort(&mut self, route: Route) {
        if let Route::Exchange(number) = route
            && let Some(exchange) = self.running.remove(&number)
        {
            exchange.abort();
        }
    }

    /// Drops the session, because a new handshake begins.
    fn forget_session(&mut self) {
        if let Some(session) = self.session.take() {
            session.abort();
        }
        self.shared.begin_handshake();
    }

    /// Removes finished tasks, when there may be about as many of them as running ones.
    fn forget_ended(&mut self) {
        if self.running.len() + self.others.len() >= self.full {
            self.running.retain(|_, exchange| !exchange.is_finished());
            self.others.retain(|exchange| !exchange.is_finished());
            self.full = FEW.max(2 * (self.running.len() + self.others.len()));
        }
        while self.notifications.try_join_next().is_some() {}
    }
}

/// Does what [`close`](Writer::close) does, without waiting.
impl Drop for HttpWriter {
    fn drop(&mut self) {
        self.exchanges().for_each(JoinHandle::abort);
        if self.is_closed || self.shared.session_id().is_none() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let shared = self.shared.clone();
        runtime.spawn(async move { timeout(shared.limits.close, shared.delete()).await });
    }
}

impl fmt::Debug for HttpWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpWriter")
            .field("exchanges", &self.exchanges().count())
            .finish_non_exhaustive()
    }
}
