//! HTTP as a transport: every message is an HTTP request, and all answers go into one queue.
//!
//! The writer starts a task for each message and never waits for a server, so one slow call delays
//! no other. What makes a message a request, a cancellation or a part of the handshake is its
//! [`Role`] and its method. The order of answers is the order in which they come; the state machine
//! matches them by id.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use bowline_proto::client::Delivery;
use bowline_proto::limits::Limits;
use bowline_proto::mirror::Mirror;
use bowline_proto::request::ExchangeId;
use bowline_proto::table::hash::CountedKeys;
use bowline_proto::transmit::{Role, Route, Transmit};
use bowline_transport::error::Error;
use bowline_transport::transport::{Destination, Reader, Transport, Writer};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use http::header::{HeaderMap, HeaderName, HeaderValue, USER_AGENT};
use http::{Request, Response};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinHandle, JoinSet};
use tokio::time::timeout;
use tower_service::Service;

use super::address::{Address, InvalidAddress};
use super::authorize::Authorize;
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
///
/// ```
/// use bowline_http::client::HttpTransport;
/// use http::{HeaderValue, header::AUTHORIZATION};
///
/// let secret = HeaderValue::from_static("Bearer abc");
/// let transport = HttpTransport::new("http://127.0.0.1:3000/mcp")?.with_header(AUTHORIZATION, secret);
/// assert!(HttpTransport::new("ftp://example.com").is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct HttpTransport {
    address: Address,
    headers: HeaderMap,
    limits: HttpClientLimits,
    /// `None` for the built-in client, which is made when it is needed.
    fetch: Option<Arc<dyn Fetch>>,
    authorize: Option<Arc<dyn Authorize>>,
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
        Self { address, headers, limits: HttpClientLimits::default(), fetch, authorize: None }
    }

    /// Adds a header to every request, such as `Authorization`. Headers of the protocol itself
    /// cannot be set. The value is marked as sensitive, so HTTP/2 does not index it and `Debug`
    /// does not show it.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.headers.insert(name, value);
        self
    }

    /// Authorizes every request, and decides what to do after the statuses 401 and 403.
    #[must_use]
    pub fn with_authorization(mut self, authorize: Arc<dyn Authorize>) -> Self {
        self.authorize = Some(authorize);
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

    fn destination(&self) -> Destination {
        self.address.destination()
    }

    fn split(self, limits: &Limits) -> (HttpReader, HttpWriter) {
        let (deliveries, received) = mpsc::channel(QUEUE);
        let Self { address, mut headers, limits: bounds, fetch, authorize } = self;
        let connect = || connector::connect(&address, &mut headers, &bounds);
        let fetch = fetch.unwrap_or_else(connect);
        let whom = (address, headers, fetch);
        let mut shared = Shared::new(whom, limits.clone(), bounds, deliveries);
        shared.authorize = authorize;
        let shared = Arc::new(shared);
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
///
/// Ends when the transport of 2024-11-05 loses its stream, or when the writer and all of its tasks
/// are gone. A broken connection of Streamable HTTP ends nothing: it fails single messages.
#[derive(Debug)]
pub struct HttpReader {
    received: mpsc::Receiver<Option<Delivery>>,
    /// Set after `None` was read, since the channel may live on.
    has_ended: bool,
}

impl Reader for HttpReader {
    type Item = Delivery;

    async fn read(&mut self) -> Result<Option<Delivery>, Error> {
        if self.has_ended {
            return Ok(None);
        }
        let delivery = self.received.recv().await.flatten();
        self.has_ended = delivery.is_none();
        Ok(delivery)
    }
}

/// The sending half: runs a task for every message.
///
/// [`close`](Writer::close) aborts what runs, sends what must still be sent, and ends the session.
/// Dropping it aborts everything, and ends the session in a task.
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
    /// Whether [`close`](Writer::close) has been called, so that `drop` has nothing left to do.
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
    /// Starts the task of one message, by what the message does:
    ///
    /// * A request gets a task that reads its answer. `initialize` forgets the old session first.
    /// * A cancellation aborts that task, which closes the connection. On 2026-07-28 this is the
    ///   cancellation; before, a disconnect cancels nothing (HTTP-27), so `notifications/cancelled`
    ///   is sent too.
    /// * `notifications/initialized` gets the task that reads the GET stream afterwards.
    /// * Everything else is posted, and only a failure is reported.
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

    /// Starts a request. Its task is found by the number of the exchange when the call is
    /// cancelled.
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

    /// Aborts the task of a request, which closes its connection.
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
