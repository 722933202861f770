//! What every request of an endpoint needs, with or without a session.
//!
//! One `Core` exists for each [`Endpoint`](super::Endpoint), shared by its clones, its sessions and
//! its calls. Nothing in it changes after `new` except the counters and the phase of the shutdown.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use bowline_proto::rate_share::RateShare;
use bowline_proto::request::{ExchangeId, Request, Response as Outcome};
use bowline_proto::server::ServerConfig;
use bowline_store::outages::Outages;
use bowline_transport::BoxFuture;
use tokio::sync::watch;

use super::bodies::Bodies;
use super::callers::Callers;
use super::config::{HttpConfig, Sessions};
use super::heartbeat::Heartbeat;
use super::limits::HttpLimits;
use super::random_id;
use super::slots::Slots;

/// Clones the service for a call, waits until it is ready, and calls it.
pub(super) type Serve = Box<dyn Fn(Request) -> BoxFuture<Outcome> + Send + Sync>;

/// The service, the settings and the counters of an endpoint. Lives until the last call has ended,
/// even if the endpoint is dropped before.
pub(super) struct Core {
    serve: Serve,
    /// The revisions and limits of messages. With `Sessions::None`, a copy that says so.
    pub(super) server: Arc<ServerConfig>,
    pub(super) config: HttpConfig,
    /// Calls under way.
    pub(super) calls: Slots,
    /// Open subscriptions (`subscriptions/listen`).
    pub(super) streams: Slots,
    /// What each caller has under way, and its pace.
    pub(super) callers: Callers,
    /// The memory that request bodies share.
    pub(super) bodies: Arc<Bodies>,
    /// The id of this endpoint's lease in a shared store.
    pub(super) replica: String,
    /// When the store failed, if others may have the same one.
    pub(super) outages: Option<Arc<Outages>>,
    /// The part of a caller's rates that this endpoint grants, if others may have the same store.
    share: Option<RateShare>,
    /// Counts the others. Begins with the first request.
    heartbeat: OnceLock<Option<Heartbeat>>,
    /// How many streams of sessions are open that wait for changes.
    pub(super) session_streams: AtomicUsize,
    /// How many requests were answered with an HTTP status of 400 or above.
    pub(super) refused: Arc<AtomicU64>,
    /// The number of the last exchange that belongs to no session.
    last: AtomicU64,
    /// Calls and streams wait on it to learn that they have to end.
    phase: watch::Sender<Phase>,
}

/// How far the shutdown of an endpoint has come. It only ever moves forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Phase {
    /// Requests are served.
    Serving,
    /// Requests are served, and balancers are asked to send no more of them.
    Leaving,
    /// Subscriptions and streams of sessions end; calls may finish.
    Stopping,
    /// Calls that still run are answered with an error.
    Over,
}

impl Core {
    /// A core whose calls `serve` starts.
    pub(super) fn new(serve: Serve, server: Arc<ServerConfig>, mut config: HttpConfig) -> Self {
        let mut outages = None;
        if config.is_shared {
            let (store, watched) = Outages::watch(config.store, super::clock::now);
            (config.store, outages) = (store, Some(watched));
        }
        let server = match config.sessions {
            Sessions::Kept => server,
            Sessions::None => Arc::new(ServerConfig::clone(&server).without_sessions()),
        };
        Self {
            serve,
            calls: Slots::new(config.limits().calls),
            streams: Slots::new(config.limits().streams),
            callers: Callers::new(server.limits(), config.limits()),
            server,
            bodies: Bodies::new(config.limits()),
            outages,
            share: config.is_shared.then(RateShare::default),
            heartbeat: OnceLock::new(),
            config,
            // Without randomness no session is opened either.
            replica: random_id::new_id().unwrap_or_default(),
            session_streams: AtomicUsize::new(0),
            refused: Arc::default(),
            last: AtomicU64::new(0),
            phase: watch::channel(Phase::Serving).0,
        }
    }

    /// Moves to a later phase and wakes everything that waits for it. An earlier phase is ignored,
    /// so `stop` and `give_up` may be called in any order and more than once.
    pub(super) fn enter(&self, next: Phase) {
        self.phase.send_if_modified(|phase| {
            let is_later = *phase < next;
            *phase = next.max(*phase);
            is_later
        });
    }

    /// Starts a call. The service does nothing before the future is polled.
    pub(super) fn call(&self, mut request: Request) -> BoxFuture<Outcome> {
        if let Some(share) = &self.share {
            request.parts.extensions.insert(share.clone());
        }
        (self.serve)(request)
    }

    /// The part of a caller's rates that this endpoint grants, if others may have the same store.
    pub(super) fn share(&self) -> Option<&RateShare> {
        let share = self.share.as_ref()?;
        let begin = || Heartbeat::begin(self.config.store.clone(), &self.replica, share.clone());
        self.heartbeat.get_or_init(begin);
        Some(share)
    }

    /// A number for an exchange that belongs to no session. Sessions number their exchanges
    /// themselves; these numbers are for modern calls, whose exchange is alone on its HTTP answer.
    pub(super) fn number(&self) -> ExchangeId {
        ExchangeId(self.last.fetch_add(1, Ordering::Relaxed) + 1)
    }

    pub(super) fn limits(&self) -> &HttpLimits {
        self.config.limits()
    }

    /// Whether clients that send `initialize` get a session.
    pub(super) fn keeps_sessions(&self) -> bool {
        self.config.sessions == Sessions::Kept && self.server.newest_legacy().is_some()
    }

    /// Whether balancers may send requests.
    pub(super) fn is_ready(&self) -> bool {
        *self.phase.borrow() == Phase::Serving
    }

    /// Whether the endpoint opens no more sessions.
    pub(super) fn is_stopping(&self) -> bool {
        *self.phase.borrow() >= Phase::Stopping
    }

    /// Resolves when subscriptions and streams of sessions have to end.
    pub(super) fn stopped(&self) -> BoxFuture<()> {
        self.reached(Phase::Stopping)
    }

    /// Resolves when calls have to end too.
    pub(super) fn given_up(&self) -> BoxFuture<()> {
        self.reached(Phase::Over)
    }

    /// Holds no reference to the core, so a waiting call does not keep the endpoint alive.
    fn reached(&self, wanted: Phase) -> BoxFuture<()> {
        let mut phase = self.phase.subscribe();
        Box::pin(async move {
            // An error means that the endpoint is gone, which is past every phase.
            let _ = phase.wait_for(|phase| *phase >= wanted).await;
        })
    }
}
