//! HTTP as a transport: every message a request of its own, and one queue for all that comes back.

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

use super::address::{Address, InvalidUrl};
use super::connector;
use super::exchange::Exchange;
use super::fetch::{Body, BoxError, By, Fetch};
use super::limits::HttpClientLimits;
use super::shared::Shared;

/// Messages that wait to be read; whoever brings more waits, and so does the server.
const QUEUE: usize = 16;

/// Requests of which we do not ask whether they have ended.
const FEW: usize = 16;

/// Who we are, for those who read logs of servers; some refuse requests that do not say.
const OURSELVES: HeaderValue =
    HeaderValue::from_static(concat!("bowline/", env!("CARGO_PKG_VERSION")));

/// A server that is spoken to over HTTP: Streamable HTTP in every revision, and the transport that
/// 2024-11-05 had, if the server knows nothing else.
///
/// Nothing is sent before [`connect`](bowline_transport::connect::connect). Secrets in headers are
/// sent to the origin of the address only.
pub struct HttpTransport {
    address: Address,
    headers: HeaderMap,
    limits: HttpClientLimits,
    fetch: Option<Arc<dyn Fetch>>,
}

impl HttpTransport {
    /// A server at an address, reached by a client of our own: HTTP/1.1 and HTTP/2, connections
    /// used again, through the proxy that the environment names. `https` needs the feature `tls`.
    ///
    /// # Errors
    ///
    /// If the URL cannot be the address of a server.
    pub fn new(url: &str) -> Result<Self, InvalidUrl> {
        let address = Address::parse(url)?;
        connector::check(&address)?;
        Ok(Self::at(address, None))
    }

    /// A server at an address, reached by an HTTP client of the caller's: any tower service. It
    /// should not follow redirects by itself, for it might take secrets elsewhere.
    ///
    /// # Errors
    ///
    /// If the URL cannot be the address of a server.
    pub fn with_service<S, B>(url: &str, service: S) -> Result<Self, InvalidUrl>
    where
        S: Service<Request<Body>, Response = Response<B>> + Clone + Send + Sync + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: http_body::Body + Send + 'static,
        B::Error: Into<BoxError>,
    {
        Ok(Self::at(Address::parse(url)?, Some(Arc::new(By(service)))))
    }

    fn at(address: Address, fetch: Option<Arc<dyn Fetch>>) -> Self {
        let headers = HeaderMap::from_iter([(USER_AGENT, OURSELVES)]);
        Self { address, headers, limits: HttpClientLimits::default(), fetch }
    }

    /// Sends a header with every request, such as `Authorization`. Headers of the protocol itself
    /// cannot be set.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, mut value: HeaderValue) -> Self {
        value.set_sensitive(true);
        self.headers.insert(name, value);
        self
    }

    /// Sets the bounds.
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
            told: JoinSet::new(),
            session: None,
            is_closed: false,
        };
        (HttpReader { received, has_ended: false }, writer)
    }
}

/// The receiving half: whatever comes back, of any request.
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

/// The sending half: a task for every message under way.
pub struct HttpWriter {
    shared: Arc<Shared>,
    /// Requests that await their answers, and some that have ended since they were last looked at.
    running: HashMap<ExchangeId, JoinHandle<()>, CountedKeys>,
    /// The same of no exchange, or of one that has gone on with another request.
    others: Vec<JoinHandle<()>>,
    /// With how many of both it is time to look which have ended.
    full: usize,
    /// Messages that await none.
    told: JoinSet<()>,
    /// The end of the handshake, and the server's own stream after it.
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
        let Self { shared, running, others, told, .. } = self;
        // Whatever is still awaited is given up; what was said goes out before the session ends.
        let end = async {
            for exchange in running.drain().map(|(_, it)| it).chain(others.drain(..)) {
                // Fails, because it is given up.
                let _ = exchange.await;
            }
            while told.join_next().await.is_some() {}
            shared.delete().await;
        };
        let _ = timeout(shared.limits.close, end).await;
        told.abort_all();
    }
}

impl HttpWriter {
    fn start(&mut self, transmit: Transmit) {
        let Transmit { route, role, frame: message, mirror } = transmit;
        let none = || Mirror { id: None, method: None, revision: None, name: None, params: vec![] };
        let mirror = mirror.map_or_else(none, |mirror| *mirror);
        let is_modern = mirror.revision.is_some_and(Revision::is_modern);
        let method = mirror.method;
        let exchange = Exchange { shared: self.shared.clone(), mirror, message };
        match (role, method) {
            (Role::Opens, method) => {
                if method == Some(Method::Initialize) {
                    self.forget_session();
                }
                self.ask(route, exchange);
            }
            (Role::Cancels, _) => {
                self.give_up(route);
                // Where hanging up says it, nothing else does.
                if !is_modern {
                    self.told.spawn(exchange.tell());
                }
            }
            (Role::Within | Role::Ends, Some(Method::Initialized)) => {
                let session = tokio::spawn(exchange.begin(self.shared.current()));
                self.session = Some(session.abort_handle());
                self.others.push(session);
            }
            (Role::Within | Role::Ends, _) => {
                self.told.spawn(exchange.tell());
            }
        }
    }

    fn ask(&mut self, route: Route, exchange: Exchange) {
        // Boxed, because a task moves what it holds about a dozen times.
        let exchange = tokio::spawn(Box::pin(async move { exchange.ask().await }));
        let other = match route {
            // An exchange that goes on after a question bears the same number.
            Route::Exchange(number) => self.running.insert(number, exchange),
            Route::Standalone => Some(exchange),
        };
        self.others.extend(other);
    }

    fn exchanges(&self) -> impl Iterator<Item = &JoinHandle<()>> {
        self.running.values().chain(&self.others)
    }

    fn give_up(&mut self, route: Route) {
        if let Route::Exchange(number) = route
            && let Some(exchange) = self.running.remove(&number)
        {
            exchange.abort();
        }
    }

    /// A new handshake begins.
    fn forget_session(&mut self) {
        if let Some(session) = self.session.take() {
            session.abort();
        }
        self.shared.shake_hands();
    }

    /// Lets go of what has ended, once there may be about as much of that as of what has not.
    fn forget_ended(&mut self) {
        if self.running.len() + self.others.len() >= self.full {
            self.running.retain(|_, exchange| !exchange.is_finished());
            self.others.retain(|exchange| !exchange.is_finished());
            self.full = FEW.max(2 * (self.running.len() + self.others.len()));
        }
        while self.told.try_join_next().is_some() {}
    }
}

/// What [`close`](Writer::close) does, without the wait.
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
