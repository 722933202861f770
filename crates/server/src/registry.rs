//! What a server offers now.

use std::sync::{Arc, PoisonError, RwLock};

use crate::events::Notify;
use crate::extract::States;
use crate::feature::set::{Item, Set, Snapshot};
use crate::feature::{Feature, ToolEntry};
use crate::server::BuildError;

/// The features of a server, to be changed while it serves; see
/// [`Server::registry`](crate::Server::registry). Cheap to clone.
///
/// Every client that wants to know is told of each change.
///
/// ```
/// use bowline_server::{Server, Tool};
///
/// let server = Server::new("plugins", "1.0.0").tools([]);
/// let registry = server.registry();
/// registry.insert(Tool::new("greet", || async { "Good morning" })).unwrap();
/// assert!(registry.remove_tool("greet"));
/// ```
#[derive(Clone, Debug)]
pub struct Registry(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    tools: Set<ToolEntry>,
    notify: Notify,
    /// What handlers may take, known once the server is built.
    states: RwLock<Option<States>>,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self::with_tools(Set::new())
    }

    fn with_tools(tools: Set<ToolEntry>) -> Self {
        Self(Arc::new(Inner { tools, notify: Notify::new(), states: RwLock::default() }))
    }

    /// A registry of the same features that changes by itself.
    pub(crate) fn fork(&self) -> Self {
        Self::with_tools(self.0.tools.fork())
    }

    /// Adds a feature.
    ///
    /// # Errors
    ///
    /// If something is wrong with it, its name is taken, or it needs state that the server does not
    /// have.
    pub fn insert(&self, feature: impl Into<Feature>) -> Result<(), BuildError> {
        let Feature::Tool(tool) = feature.into();
        let entry = ToolEntry::check(tool)?;
        if let Some(states) = &*self.0.states.read().unwrap_or_else(PoisonError::into_inner) {
            entry.check_states(states)?;
        }
        let duplicate = BuildError::duplicate("tool", entry.name());
        if !self.0.tools.insert(entry) {
            return Err(duplicate);
        }
        self.0.notify.tools_changed();
        Ok(())
    }

    /// Removes a tool; `false` if there is none of that name. Calls that run go on.
    pub fn remove_tool(&self, name: &str) -> bool {
        let removed = self.0.tools.remove(name);
        if removed {
            self.0.notify.tools_changed();
        }
        removed
    }

    /// Declares that there are tools, even while there are none.
    pub(crate) fn offer_tools(&self) {
        self.0.tools.offer();
    }

    pub(crate) fn tools(&self) -> Arc<Snapshot<ToolEntry>> {
        self.0.tools.snapshot()
    }

    pub(crate) fn notify(&self) -> &Notify {
        &self.0.notify
    }

    /// Checks everything that is here, and will be, against the state that there is.
    ///
    /// # Errors
    ///
    /// Names the first feature that needs more.
    pub(crate) fn bind(&self, states: &States) -> Result<(), BuildError> {
        *self.0.states.write().unwrap_or_else(PoisonError::into_inner) = Some(states.clone());
        self.tools().iter().try_for_each(|entry| entry.check_states(states))
    }
}
