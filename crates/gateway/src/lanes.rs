//! The connections to one configured server, as one upstream.
//!
//! A lane is one connection, supervised. Callers of one owner share a lane, as long as the server
//! asks no questions. From its first question on, callers share a lane only if they have the same
//! capabilities, so that a server with a handshake asks for nothing that its caller cannot do, and
//! one after the other, so that each question has one caller (`pool`). Callers that cannot answer
//! anything go on sharing one. Since 2026-07-28 each request states the capabilities of its caller,
//! and one lane is enough.
//!
//! The upstream passes each call to the lane of its caller, and repeats a call once if it certainly
//! did not run (`pass`). Lists do not wait for a server that hangs (`late`).

mod asking_outbox;
mod choice;
mod cursor;
mod followed;
mod key;
mod late;
mod late_lists;
mod listen;
mod pass;
mod pool;
mod recall;
mod sessions;

use std::convert::Infallible;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll};

use bowline_proto::request::{Parts, Request, Response, Success};
use bowline_proto::sync::lock;
use bowline_proto::upstream::Upstream;
use bowline_types::capability::{ClientCapabilities, ServerCapabilities};
use bowline_types::discover::DiscoverResult;
use bowline_types::implementation::Implementation;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use tower_service::Service;

use self::key::LaneKey;
use self::late_lists::LateLists;
use self::pool::{LanePool, LanePurpose, NoLane, Wanted};
use self::sessions::Sessions;
use crate::asking::Asking;
use crate::config::{Isolation, ServerEntry, Sharing};
use crate::dial::Dial;
use crate::health::Health;
use crate::limits::GatewayLimits;
use crate::met::MetServer;
use crate::refusal::{self, Keys};
use crate::supervise::{Audience, Lease, Supervised, Unavailable};

/// A configured server as an upstream: started by the first list or call, stopped when idle,
/// restarted after a failure. Cheap to clone.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use bowline_gateway::config::{ConfigVariables, ServerEntry};
/// use bowline_gateway::{GatewayLimits, Lanes};
/// use bowline_server::Server;
///
/// # async fn example(entry: &ServerEntry) -> Result<(), Box<dyn std::error::Error>> {
/// let launch = entry.resolve(&ConfigVariables::of_process())?;
/// let git = Lanes::new("git", Arc::new(launch), GatewayLimits::default());
/// let gateway = Server::new("gateway", "1.0.0").mount("git", git.clone());
/// git.close().await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Lanes(Arc<Inner>);

struct Inner {
    name: String,
    dial: Arc<dyn Dial>,
    limits: GatewayLimits,
    sharing: Sharing,
    isolation: Isolation,
    discovery: Discovery,
    audience: Audience,
    asking: Arc<Asking>,
    pool: Arc<LanePool>,
    met: Mutex<Option<MetServer>>,
    sessions: Arc<Sessions>,
    late: Arc<LateLists>,
    /// Whether there is no other server beside it. May change with each load of the file.
    is_alone: AtomicBool,
    /// The upstream for the same server after a reload that changed settings of the gateway.
    successor: OnceLock<Lanes>,
    /// Where lists are noted that end when no caller waits for them any more.
    health: Option<Health>,
}

/// What an upstream says about itself before its server was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Discovery {
    /// It offers every list, perhaps empty: so a gateway need not start all its servers.
    Assumed,
    /// It starts the server and asks.
    Asked,
}

impl Lanes {
    /// The upstream for one server among others: its server is not started to describe it.
    pub fn new(name: impl Into<String>, dial: Arc<dyn Dial>, limits: GatewayLimits) -> Self {
        Self(Arc::new(Inner {
            name: name.into(),
            dial,
            limits,
            sharing: Sharing::default(),
            isolation: Isolation::default(),
            discovery: Discovery::Assumed,
            audience: Audience::Many,
            asking: Arc::default(),
            pool: Arc::default(),
            met: Mutex::default(),
            sessions: Arc::default(),
            late: Arc::default(),
            is_alone: AtomicBool::new(false),
            successor: OnceLock::new(),
            health: None,
        }))
    }

    /// The capabilities that connections to servers declare that have asked no questions yet: every
    /// question, and views, which callers without them can ignore.
    pub fn every_question() -> ClientCapabilities {
        let mut every = ClientCapabilities::new()
            .with_form_elicitation()
            .with_url_elicitation()
            .with_sampling()
            .with_sampling_tools();
        choice::declare_views(&mut every);
        every
    }

    /// The upstream for an entry of a configuration file.
    pub fn of_entry(entry: &ServerEntry, dial: Arc<dyn Dial>, limits: GatewayLimits) -> Self {
        let lanes = Self::new(&entry.name, dial, limits);
        lanes.change(|inner| {
            inner.sharing = entry.share;
            inner.isolation = entry.isolate;
            inner.asking = Arc::new(Asking::new(entry.asks == Some(true), None));
        })
    }

    /// The same with what is known about its questions.
    pub(crate) fn asking(self, asking: Asking) -> Self {
        self.change(|inner| inner.asking = Arc::new(asking))
    }

    /// The same with where the end of late lists is noted.
    pub(crate) fn watched_by(self, health: Health) -> Self {
        self.change(|inner| inner.health = Some(health))
    }

    /// Notes whether there are other servers beside it, which its lists would hold up.
    pub(crate) fn set_alone(&self, is_alone: bool) {
        self.0.is_alone.store(is_alone, Ordering::Relaxed);
    }

    /// What to name in errors about limits: the keys of the configuration file, if there is one.
    fn keys(&self) -> Keys {
        if self.0.health.is_some() { Keys::OF_GATEWAY } else { Keys::default() }
    }

    fn is_alone(&self) -> bool {
        self.0.is_alone.load(Ordering::Relaxed)
    }

    /// The same for a changed entry: its sessions go on following the resources that they followed at
    /// the server of the earlier entry.
    pub(crate) fn taking_over(self, earlier: &Self) -> Self {
        let sessions = Sessions::taking_over(&earlier.0.sessions);
        self.change(|inner| inner.sessions = Arc::new(sessions))
    }

    /// Lets calls that come after the close go to another upstream for the same server. Set once.
    pub(crate) fn set_successor(&self, next: Self) {
        _ = self.0.successor.set(next);
    }

    /// Describes itself as its server does, which is started for that. For a bridge to one server.
    #[must_use]
    pub fn described_by_server(self) -> Self {
        self.change(|inner| inner.discovery = Discovery::Asked)
    }

    /// Serves one caller only: it declares what that caller can do, and asks it all questions.
    #[must_use]
    pub fn for_one_caller(self) -> Self {
        self.change(|inner| inner.audience = Audience::One)
    }

    /// Knows what a connection to the server told, so that it need not be started for that.
    #[must_use]
    pub fn knowing(self, met: MetServer) -> Self {
        *lock(&self.0.met) = Some(met);
        self
    }

    fn change(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        let inner =
            Arc::get_mut(&mut self.0).expect("nothing shares an upstream that is being made");
        change(inner);
        self
    }

    /// Starts the server for callers without credentials, and returns what it tells about itself.
    ///
    /// # Errors
    ///
    /// If it cannot be started. The text is for the operator: it may hold addresses and output of the
    /// server.
    pub async fn start(&self) -> Result<MetServer, String> {
        let (key, purpose) = (LaneKey::anonymous(), LanePurpose::Start);
        let wanted = Wanted { key, session: None, peer: None, is_exclusive: false, purpose };
        let lane = self.take(&wanted, Self::every_question());
        let lane = lane.map_err(|why| match why {
            NoLane::Closed => Unavailable::stopped().problem,
            NoLane::Full | NoLane::Held | NoLane::HeldByPeer => {
                "too many connections are open".to_owned()
            }
        });
        let lane = lane?;
        let lease = lane.supervised.lease().await.map_err(|unavailable| unavailable.problem)?;
        Ok(self.meet(&lease))
    }

    /// What the server told about itself, if it was started yet.
    pub fn met(&self) -> Option<MetServer> {
        lock(&self.0.met).clone()
    }

    /// Why the server does not run, if its last start failed.
    pub fn problem(&self) -> Option<String> {
        let lanes = self.0.pool.all();
        lanes.iter().filter(|lane| lane.has_failed()).find_map(Supervised::problem)
    }

    /// Whether both share their connections.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Whether these are its limits.
    pub(crate) fn has_limits(&self, limits: &GatewayLimits) -> bool {
        self.0.limits == *limits
    }

    /// Whether it was closed, and its connections have ended.
    pub(crate) fn is_over(&self) -> bool {
        self.0.pool.is_over()
    }

    /// Whether it was closed.
    fn is_closed(&self) -> bool {
        self.0.pool.is_closed()
    }

    /// Waits until no call uses the server.
    pub(crate) async fn drained(&self) {
        self.0.pool.drained().await;
    }

    /// Stops all processes and sessions of the server, and waits until they have ended, also if they are
    /// being stopped already. A process that is being started gets the end of its input, and ends soon
    /// after that; this does not wait for it.
    pub async fn close(&self) {
        let pool = &self.0.pool;
        let ending = pool.endings().begin();
        for lane in pool.close() {
            tokio::spawn(lane.close());
        }
        drop(ending);
        pool.endings().over().await;
    }

    async fn answer(self, request: Request) -> Response {
        match request.parts.method {
            Method::ServerDiscover => self.discover(&request.parts).await,
            Method::SubscriptionsListen => self.listen(request).await,
            Method::ResourcesSubscribe => self.follow(request).await,
            Method::ResourcesUnsubscribe => self.unfollow(request).await,
            Method::RootsListChanged => self.pass_if_running(request).await,
            method if refusal::is_list(method) => self.list(request).await,
            _ => self.pass(request).await,
        }
    }

    async fn discover(&self, parts: &Parts) -> Response {
        // What one caller declares may change what the server offers, so it is asked for that caller.
        let is_known = self.0.audience == Audience::Many && self.met().is_some();
        if self.0.discovery == Discovery::Asked && !is_known {
            self.lease(parts).await?;
        }
        let mut result = DiscoverResult::new(Revision::ALL, self.capabilities());
        result.instructions = self.instructions();
        Success::complete(result, parts.revision)
    }

    async fn pass_if_running(&self, request: Request) -> Response {
        let lane = self.open_lane(&request.parts);
        match lane.and_then(|lane| lane.running()) {
            Some(lease) => call(&lease, request).await,
            None => Ok(Success::empty()),
        }
    }

    fn meet(&self, lease: &Lease) -> MetServer {
        let met = lease.met();
        let before = lock(&self.0.met).replace(met.clone());
        let states_them = |met: &MetServer| met.revision.has_input_requests();
        if states_them(&met) && !before.as_ref().is_some_and(states_them) {
            self.0.pool.share_between_capabilities();
        }
        met
    }
}

/// Makes a call on a connection.
async fn call(lease: &Lease, request: Request) -> Response {
    let mut relay = lease.relay();
    let Ok(response) = relay.call(request).await;
    response
}

impl Service<Request> for Lanes {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let lanes = self.clone();
        Box::pin(async move { Ok(lanes.answer(request).await) })
    }
}

impl Upstream for Lanes {
    fn capabilities(&self) -> ServerCapabilities {
        let known = self.met().map(|met| met.capabilities);
        match self.0.discovery {
            Discovery::Asked => known.unwrap_or_default(),
            Discovery::Assumed => with_changes(known.unwrap_or_else(everything)),
        }
    }

    fn instructions(&self) -> Option<String> {
        lock(&self.0.met).as_ref()?.instructions.clone()
    }

    fn info(&self) -> Option<Implementation> {
        lock(&self.0.met).as_ref()?.info.clone()
    }
}

/// What a server may offer that was not met yet.
fn everything() -> ServerCapabilities {
    ServerCapabilities::new()
        .with_tools()
        .with_prompts()
        .with_resources()
        .with_resources_subscribe()
        .with_completions()
        .with_logging()
}

/// A gateway reports changes of lists itself when a server starts or fails.
fn with_changes(mut capabilities: ServerCapabilities) -> ServerCapabilities {
    if capabilities.supports_tools() {
        capabilities = capabilities.with_tools_list_changed();
    }
    if capabilities.supports_prompts() {
        capabilities = capabilities.with_prompts_list_changed();
    }
    if capabilities.supports_resources() {
        capabilities = capabilities.with_resources_list_changed();
    }
    capabilities
}

impl fmt::Debug for Lanes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lanes").field("name", &self.0.name).finish_non_exhaustive()
    }
}
