//! What a gateway can be given besides its configuration file.

use std::fmt;
use std::sync::Arc;

use bowline_server::StateKeys;

use crate::config::{ConfigError, ConfigVariables, Launch, ServerEntry};
use crate::dial::Dial;
use crate::health::{HealthReporter, UpstreamChange};
use crate::limits::GatewayLimits;
use crate::memory::AskingServers;
use crate::reporter::Reporter;

/// Decides how connections to a configured server are opened.
pub type Dialer = Arc<dyn Fn(&ServerEntry, Launch) -> Arc<dyn Dial> + Send + Sync>;

/// The options of a [`Gateway`](crate::Gateway).
///
/// ```
/// use bowline_gateway::config::ConfigVariables;
/// use bowline_gateway::{AskingServers, GatewayOptions};
///
/// let (memory, warning) = AskingServers::read("/home/me/.local/state/bowline/asking.json");
/// let options = GatewayOptions::new(ConfigVariables::of_process()).remembering(memory);
/// ```
#[derive(Clone)]
#[must_use]
pub struct GatewayOptions {
    pub(crate) variables: ConfigVariables,
    pub(crate) limits: GatewayLimits,
    pub(crate) dialer: Dialer,
    pub(crate) memory: Option<Arc<AskingServers>>,
    pub(crate) state_keys: Option<StateKeys>,
    pub(crate) reporter: Reporter,
    pub(crate) health: HealthReporter,
    pub(crate) has_one_caller: bool,
}

impl GatewayOptions {
    /// Values for the variables of the file; all else as usual.
    pub fn new(variables: ConfigVariables) -> Self {
        let dialer: Dialer = Arc::new(|_, launch| Arc::new(launch));
        Self {
            variables,
            limits: GatewayLimits::default(),
            dialer,
            memory: None,
            state_keys: None,
            reporter: Reporter::default(),
            health: HealthReporter::default(),
            has_one_caller: false,
        }
    }

    /// Sets the limits.
    pub fn limits(mut self, limits: GatewayLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Opens connections as `dialer` says: with credentials of a user, or to servers in this process.
    pub fn dialled_by(
        mut self,
        dialer: impl Fn(&ServerEntry, Launch) -> Arc<dyn Dial> + Send + Sync + 'static,
    ) -> Self {
        self.dialer = Arc::new(dialer);
        self
    }

    /// Remembers which servers ask questions.
    pub fn remembering(mut self, memory: Arc<AskingServers>) -> Self {
        self.memory = Some(memory);
        self
    }

    /// Reports what is found to be wrong with the configuration while the gateway runs: tools that are
    /// not offered, because the file gives their names to others; rules for tools that a server does
    /// not list; resources that two servers list. The function must return quickly.
    pub fn reporting(mut self, report: impl Fn(&ConfigError) + Send + Sync + 'static) -> Self {
        self.reporter = Reporter::new(report);
        self
    }

    /// Reports, by its name, a server that begins to fail, and one that works again. The function must
    /// return quickly. [`Gateway::failing`](crate::Gateway::failing) tells which servers fail now.
    pub fn watching(
        mut self,
        report: impl Fn(&str, UpstreamChange<'_>) + Send + Sync + 'static,
    ) -> Self {
        self.health = HealthReporter::new(report);
        self
    }

    /// Serves one caller only, such as the host that started it over stdio: the servers hear what that
    /// caller can do, and may ask for its roots.
    pub fn for_one_caller(mut self) -> Self {
        self.has_one_caller = true;
        self
    }

    /// Seals the state of calls that ask with these keys. Give the same to all gateways that serve
    /// the same callers, and to their [servers](bowline_server::Server::state_keys).
    pub fn state_keys(mut self, keys: impl Into<StateKeys>) -> Self {
        self.state_keys = Some(keys.into());
        self
    }
}

impl fmt::Debug for GatewayOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GatewayOptions").field("limits", &self.limits).finish_non_exhaustive()
    }
}
