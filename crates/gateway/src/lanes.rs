//! The connections to one configured server, as one upstream.
//!
//! A lane is one connection, supervised. Callers of one owner share a lane, as long as the server
//! asks no questions. From its first question on, callers share a lane only if they have the same
//! capabilities, so that a server with a handshake asks for nothing that its caller cannot do, and
//! one after the other, so that each question has one caller. Callers that cannot answer anything go
//! on sharing one. Since 2026-07-28 each request states the capabilities of its caller, and one lane
//! is enough. All this is decided by a state machine without I/O (`table`), which `driver` serves.
//!
//! The upstream passes each call to the lane of its caller, and repeats a call once if it certainly
//! did not run (`pass`). Lists do not wait for a server that hangs (`late`).

mod asking_outbox;
mod choice;
mod connection;
mod cursor;
mod driver;
mod followed;
mod guards;
mod key;
mod late;
mod late_lists;
mod listen;
mod pass;
mod recall;
mod sessions;
mod table;

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

use self::driver::LaneDriver;
use self::guards::Lease;
use self::key::{LaneCaller, LaneSharing};
use self::late_lists::LateLists;
use self::sessions::Sessions;
use self::table::{Event, LanePurpose, LaneTable, NoLane};
use crate::asking::Asking;
use crate::config::ServerEntry;
use crate::dial::Dial;
use crate::health::Health;
use crate::limits::GatewayLimits;
use crate::refusal::{self, Keys};
use crate::server_description::ServerDescription;
use crate::unavailable::Unavailable;

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
    sharing: LaneSharing,
    discovery: Discovery,
    driver: Arc<LaneDriver>,
    met: Mutex<Option<Arc<ServerDescription>>>,
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
            driver: Arc::new(LaneDriver::new(dial.clone(), limits.clone())),
            dial,
            limits,
            sharing: LaneSharing::default(),
            discovery: Discovery::Assumed,
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
        key::every_question()
    }

    /// The upstream for an entry of a configuration file.
    pub fn of_entry(entry: &ServerEntry, dial: Arc<dyn Dial>, limits: GatewayLimits) -> Self {
        let lanes = Self::new(&entry.name, dial, limits);
        lanes.change(|inner| {
            (inner.sharing.sharing, inner.sharing.isolation) = (entry.share, entry.isolate);
            inner.driver_mut().set_asking(Asking::new(entry.asks == Some(true), None));
        })
    }

    /// The same with what is known about its questions.
    pub(crate) fn asking(self, asking: Asking) -> Self {
        self.change(|inner| inner.driver_mut().set_asking(asking))
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

    /// Describes itself as its server does, which is started for that. For a bridge to one server.
    #[must_use]
    pub fn described_by_server(self) -> Self {
        self.change(|inner| inner.discovery = Discovery::Asked)
    }

    /// Serves one caller only: it declares what that caller can do, and asks it all questions.
    #[must_use]
    pub fn for_one_caller(self) -> Self {
        self.change(|inner| inner.sharing.serves_one = true)
    }

    /// Knows what a connection to the server told, so that it need not be started for that.
    #[must_use]
    pub fn knowing(self, met: ServerDescription) -> Self {
        self.change(|inner| {
            inner.driver_mut().note_met(&met);
            *lock(&inner.met) = Some(Arc::new(met));
        })
    }

    fn change(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        let inner =
            Arc::get_mut(&mut self.0).expect("nothing shares an upstream that is being made");
        change(inner);
        let sharing = inner.sharing;
        inner.driver_mut().set_exact(sharing.is_own(), sharing.serves_one);
        self
    }

    /// Starts the server for callers without credentials, and returns what it tells about itself.
    ///
    /// # Errors
    ///
    /// If it cannot be started. The text is for the operator: it may hold addresses and output of the
    /// server.
    pub async fn start(&self) -> Result<ServerDescription, String> {
        let using = self.0.driver.take_now(LaneCaller::anonymous(), LanePurpose::Start);
        let using = using.map_err(|why| match why {
            NoLane::Closed => Unavailable::stopped().problem,
            NoLane::Full | NoLane::Held | NoLane::HeldByPeer => {
                "too many connections are open".to_owned()
            }
        });
        let lease = using?.connect().await.map_err(|why| why.problem)?;
        self.meet(&lease);
        Ok(ServerDescription::clone(lease.met()))
    }

    /// What the server told about itself, if it was started yet.
    pub fn met(&self) -> Option<ServerDescription> {
        lock(&self.0.met).as_deref().cloned()
    }

    /// Why the server does not run, if its last start failed.
    pub fn problem(&self) -> Option<String> {
        self.0.driver.problem().map(|why| why.problem)
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
        self.0.driver.look(LaneTable::is_over)
    }

    /// Whether it was closed.
    fn is_closed(&self) -> bool {
        self.0.driver.look(LaneTable::is_closed)
    }

    /// Lets running calls end, and closes each connection after its last one. Calls that wait, and later
    /// ones, go to another upstream for the same server.
    pub(crate) fn retire(&self, successor: Self) {
        // Set once.
        _ = self.0.successor.set(successor);
        self.0.driver.on(Event::Retire);
    }

    /// Stops all processes and sessions of the server, and waits until they have ended, also if they are
    /// being stopped already. A process that is being started is gone then, too.
    pub async fn close(&self) {
        self.0.driver.close().await;
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
        let is_known = !self.0.sharing.serves_one && lock(&self.0.met).is_some();
        if self.0.discovery == Discovery::Asked && !is_known {
            self.lease(parts).await?;
        }
        let mut result = DiscoverResult::new(Revision::ALL, self.capabilities());
        result.instructions = self.instructions();
        Success::complete(result, parts.revision)
    }

    async fn pass_if_running(&self, request: Request) -> Response {
        let lane = self.open_lane(&request.parts);
        match lane.and_then(|lane| self.0.driver.running(lane)) {
            Some(lease) => call(&lease, request).await,
            None => Ok(Success::empty()),
        }
    }

    /// Notes what the server told about itself.
    fn meet(&self, lease: &Lease) {
        *lock(&self.0.met) = Some(lease.met().clone());
    }
}

impl Inner {
    fn driver_mut(&mut self) -> &mut LaneDriver {
        Arc::get_mut(&mut self.driver).expect("nothing shares an upstream that is being made")
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
        let known = lock(&self.0.met).as_ref().map(|met| met.capabilities.clone());
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
