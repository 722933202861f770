//! A server and its builder methods: name, features, state, layers, limits.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bowline_proto::limits::Limits;
use bowline_proto::request::{Request, Response};
use bowline_proto::server::ServerConfig;
use bowline_proto::upstream::IntoUpstream;
use bowline_store::Backend;
use bowline_types::cache::CacheScope;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::implementation::{Icon, Implementation};
use bowline_types::revision::Revision;
use tower_layer::Layer;

use crate::call::ServerShared;
use crate::discover::ResourceSubscriptions;
use crate::error::{BoxError, BuildError};
use crate::extension::Extensions;
use crate::feature::NotificationHandler;
use crate::feature::visible::VisibilityFilter;
use crate::layer::{ErasedService, Fault, Layers};
use crate::notify::Notify;
use crate::registry::Registry;
use crate::router::{ListCaching, Profile, Router};
use crate::seal::{Sealer, StateKey, StateKeys};
use crate::service::Service;
use crate::states::States;
use crate::task::{ServerTasks, TaskLimits};

mod extensions;
mod offer;
mod session;
#[cfg(feature = "skills")]
mod skills;
mod tasks;
mod ticket;

/// Items per page of a list, unless [`Server::page_size`] sets another number.
const PAGE_SIZE: usize = 100;

/// How long a client may take to answer a question, unless [`Server::state_expiry`] sets another time.
const STATE_EXPIRY: Duration = Duration::from_secs(15 * 60);

/// A server, made by value and served over any transport to any number of clients.
///
/// Cloning is cheap, and a clone is the same server: it shares the [`registry`](Self::registry). A
/// method that changes a server which has clones, or serves already, makes a new one and leaves
/// those alone.
///
/// ```
/// use bowline_server::{Server, Tool};
///
/// async fn greet() -> &'static str {
///     "Good morning"
/// }
///
/// let server = Server::new("greeter", "1.0.0")
///     .instructions("Greet the user once a day")
///     .tool(Tool::new("greet", greet).describe("Greet the user").read_only());
/// assert!(server.build().is_ok());
/// ```
#[derive(Clone)]
pub struct Server(Arc<Inner>);

struct Inner {
    info: Implementation,
    instructions: Option<String>,
    revisions: Vec<Revision>,
    limits: Limits,
    caching: ListCaching,
    page_size: usize,
    filter: VisibilityFilter,
    subscriptions: ResourceSubscriptions,
    states: States,
    layers: Layers,
    needs_authorization: Option<String>,
    state_keys: Option<StateKeys>,
    state_expiry: Duration,
    log_level: LoggingLevel,
    roots_changed: Option<Arc<NotificationHandler>>,
    task_limits: TaskLimits,
    store: Option<Arc<dyn Backend>>,
    extensions: Extensions,
    #[cfg(feature = "skills")]
    skills: Option<bowline_skills::Skills>,
    registry: Registry,
    /// The first problem that a builder method found; [`Server::build`] reports it.
    problem: Option<BuildError>,
    built: OnceLock<Result<Service, BuildError>>,
}

impl Server {
    /// A server with a name and a version of its own.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            info: Implementation::new(name, version),
            instructions: None,
            revisions: Revision::ALL.to_vec(),
            limits: Limits::default(),
            caching: ListCaching::new(),
            page_size: PAGE_SIZE,
            filter: VisibilityFilter::default(),
            subscriptions: ResourceSubscriptions::Offered,
            states: States::default(),
            layers: Layers::default(),
            needs_authorization: None,
            state_keys: None,
            state_expiry: STATE_EXPIRY,
            log_level: LoggingLevel::Info,
            roots_changed: None,
            task_limits: TaskLimits::default(),
            store: None,
            extensions: Extensions::default(),
            #[cfg(feature = "skills")]
            skills: None,
            registry: Registry::new(),
            problem: None,
            built: OnceLock::new(),
        }))
    }

    /// Adds a value that handlers can take as [`State<T>`](crate::State). There is one value per type;
    /// a second call with the same type replaces the first.
    #[must_use]
    pub fn state<T: Clone + Send + Sync + 'static>(self, value: T) -> Self {
        self.edit(|inner| inner.states.insert(value))
    }

    /// Wraps a tower layer around all requests; the last one added is the outermost. An error of
    /// the layer is sent to the client as an internal error.
    #[must_use]
    pub fn layer<L>(self, layer: L) -> Self
    where
        L: Layer<ErasedService> + Send + Sync + 'static,
        L::Service:
            tower_service::Service<Request, Response = Response> + Clone + Send + Sync + 'static,
        <L::Service as tower_service::Service<Request>>::Error: Into<BoxError>,
        <L::Service as tower_service::Service<Request>>::Future: Send + 'static,
    {
        self.edit(|inner| inner.layers.add(layer))
    }

    /// Refuses to be offered over HTTP without authorization, for this reason: a
    /// [layer](Self::layer) needs to know its callers.
    #[must_use]
    pub fn requires_authorization(self, why: impl Into<String>) -> Self {
        self.edit(|inner| inner.needs_authorization = Some(why.into()))
    }

    /// Tells models how to use the server, beyond the descriptions of its tools.
    #[must_use]
    pub fn instructions(self, text: impl Into<String>) -> Self {
        self.edit(|inner| inner.instructions = Some(text.into()))
    }

    /// Names the server for people.
    #[must_use]
    pub fn title(self, text: impl Into<String>) -> Self {
        self.edit(|inner| inner.info.title = Some(text.into()))
    }

    /// Sets the description of the server, for people.
    #[must_use]
    pub fn description(self, text: impl Into<String>) -> Self {
        self.edit(|inner| inner.info.description = Some(text.into()))
    }

    /// Sets the URL of a page about the server.
    #[must_use]
    pub fn website(self, url: impl Into<String>) -> Self {
        self.edit(|inner| inner.info.website_url = Some(url.into()))
    }

    /// Adds a picture to show for the server.
    #[must_use]
    pub fn icon(self, icon: Icon) -> Self {
        self.edit(|inner| inner.info.icons.push(icon))
    }

    /// Sets the limits on what clients may make the server store, run at the same time, and wait for.
    #[must_use]
    pub fn limits(self, limits: Limits) -> Self {
        self.edit(|inner| inner.limits = limits)
    }

    /// Sets the keys that seal the state of calls which ask the user (2026-07-28): the first seals,
    /// all of them open. By default a server has a key that only this process knows; give the same
    /// keys to all replicas, so that any of them can go on with a call. [`StateKeys::file`] reads them
    /// from a file, and a server that serves HTTP reads it again at SIGHUP.
    #[must_use]
    pub fn state_keys(self, keys: impl Into<StateKeys>) -> Self {
        let keys = keys.into();
        self.edit(|inner| inner.state_keys = Some(keys))
    }

    /// Sets how long the state of a call which asks the user can be used (2026-07-28): fifteen
    /// minutes by default.
    #[must_use]
    pub fn state_expiry(self, duration: Duration) -> Self {
        self.edit(|inner| inner.state_expiry = duration)
    }

    /// Speaks only these revisions of the protocol. An empty list changes nothing.
    #[must_use]
    pub fn revisions(self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        let revisions: Vec<_> = revisions.into_iter().collect();
        self.edit(|inner| {
            if !revisions.is_empty() {
                inner.revisions = revisions;
            }
        })
    }

    /// The features of the server, to be changed while it serves.
    pub fn registry(&self) -> Registry {
        self.0.registry.clone()
    }

    /// Notifies clients of changes that the registry does not see, such as the contents of a resource.
    pub fn notify(&self) -> Notify {
        self.0.registry.notify().clone()
    }

    /// The settings that a connection needs: name, revisions, limits, log level.
    pub fn config(&self) -> ServerConfig {
        ServerConfig::new(self.0.info.clone())
            .with_revisions(self.0.revisions.iter().copied())
            .with_limits(self.0.limits.clone())
            .with_log_level(self.0.log_level)
    }

    /// Checks everything, and makes the service that transports drive. The first call builds it; later
    /// calls return the same service.
    ///
    /// # Errors
    ///
    /// Says what is wrong: state that was never given, a name that is taken or breaks the rules, a
    /// schema that cannot be used.
    pub fn build(&self) -> Result<Service, BuildError> {
        self.0.built.get_or_init(|| self.0.build(&self.config())).clone()
    }

    /// The keys that were set, if any.
    #[cfg(feature = "http")]
    pub(crate) fn shared_keys(&self) -> Option<StateKeys> {
        self.0.state_keys.clone()
    }

    /// Changes the server in place if there is no clone of it, or else a copy of it.
    fn edit(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        let is_served = self.0.built.get().is_some_and(Result::is_ok);
        match Arc::get_mut(&mut self.0).filter(|_| !is_served) {
            Some(inner) => {
                inner.built = OnceLock::new();
                change(inner);
            }
            None => {
                let mut inner = self.0.fork();
                change(&mut inner);
                self.0 = Arc::new(inner);
            }
        }
        self
    }
}

impl Inner {
    /// A server of its own that is like this one.
    fn fork(&self) -> Self {
        Self {
            info: self.info.clone(),
            instructions: self.instructions.clone(),
            revisions: self.revisions.clone(),
            limits: self.limits.clone(),
            caching: self.caching.clone(),
            page_size: self.page_size,
            filter: self.filter.clone(),
            subscriptions: self.subscriptions,
            states: self.states.clone(),
            layers: self.layers.clone(),
            needs_authorization: self.needs_authorization.clone(),
            state_keys: self.state_keys.clone(),
            state_expiry: self.state_expiry,
            log_level: self.log_level,
            roots_changed: self.roots_changed.clone(),
            task_limits: self.task_limits.clone(),
            store: self.store.clone(),
            extensions: self.extensions.clone(),
            #[cfg(feature = "skills")]
            skills: self.skills.clone(),
            registry: self.registry.fork(),
            problem: self.problem.clone(),
            built: OnceLock::new(),
        }
    }

    fn build(&self, config: &ServerConfig) -> Result<Service, BuildError> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        self.registry.bind(&self.states)?;
        self.roots_changed.iter().try_for_each(|handler| handler.check(&self.states))?;
        #[cfg(feature = "skills")]
        let extensions = self.extensions_with_skills()?.build(&self.states)?;
        #[cfg(not(feature = "skills"))]
        let extensions = self.extensions.build(&self.states)?;
        self.check_mounted(&extensions)?;
        let shared = Arc::new(ServerShared {
            states: self.states.clone(),
            sealer: Arc::new(Sealer::new(self.keys()?, self.state_expiry)),
            limits: self.limits.clone(),
            is_private: self.caching.general.scope == CacheScope::Private
                || self.filter.is_limited(),
            handles: self.handles(),
        });
        let tasks = ServerTasks::new(self.task_limits.clone(), self.store.clone(), shared.clone());
        let tasks = Arc::new(tasks);
        let profile = Profile {
            revisions: config.revisions().to_vec(),
            instructions: self.instructions.clone(),
            caching: self.caching.clone(),
            page_size: self.page_size,
            filter: self.filter.clone(),
            subscriptions: self.subscriptions,
            roots_changed: self.roots_changed.clone(),
            extensions,
            needs_authorization: self.needs_authorization.clone(),
        };
        let router = Router::new(self.registry.clone(), tasks.clone(), profile);
        _ = tasks.recorded_call_runner.set(router.recaller());
        let layered = self.layers.around(|| ErasedService::new(router.clone(), Fault::Server));
        Ok(Service::new(router, layered, &shared))
    }

    /// What handlers can take of the server itself.
    fn handles(&self) -> States {
        let mut handles = States::default();
        handles.insert(self.registry.clone());
        handles.insert(self.registry.notify().clone());
        handles
    }

    fn keys(&self) -> Result<StateKeys, BuildError> {
        match &self.state_keys {
            Some(keys) if keys.is_empty() => {
                Err(BuildError::new("`.state_keys(..)` was given no keys; give at least one"))
            }
            Some(keys) => Ok(keys.clone()),
            None => {
                let key = StateKey::random().map_err(|error| {
                    BuildError::new(format!("the system gives no randomness for a key: {error}"))
                })?;
                Ok([key].into())
            }
        }
    }
}

/// A server is mounted as it is built: features that are registered later are offered, too.
impl IntoUpstream for Server {
    type Upstream = Service;
    type Error = BuildError;

    fn into_upstream(self) -> Result<Service, BuildError> {
        self.build()
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("info", &self.0.info).finish_non_exhaustive()
    }
}
