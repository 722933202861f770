//! What a server offers now.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use bowline_types::namespace::Namespace;

use crate::call::Call;
use crate::error::{Error, Result as HandlerResult};
use crate::events::Notify;
use crate::extract::FromCall;
use crate::feature::set::{Item, Set, Snapshot};
use crate::feature::{
    Checked, Feature, Prompt, PromptEntry, Resource, ResourceEntry, TemplateEntry, Tool, ToolEntry,
};
use crate::mount::Mount;
use crate::server::BuildError;
use crate::signature::Signature;
use crate::states::States;

/// The features of a server, to be changed while it serves. Cheap to clone.
///
/// Get it from [`Server::registry`](crate::Server::registry), or take it as a parameter of a
/// handler. Clients that asked for it are notified of each change.
///
/// ```
/// use bowline_server::{Server, Tool};
///
/// let server = Server::new("plugins", "1.0.0").tools([]);
/// let registry = server.registry();
/// registry.insert(Tool::new("greet", || async { "Good morning" })).unwrap();
/// assert!(registry.remove_tool("greet"));
/// ```
///
/// A tool that adds another one:
///
/// ```
/// use bowline_server::{Registry, Result, Server, Tool};
///
/// async fn learn(registry: Registry) -> Result {
///     Ok(registry.insert(Tool::new("greet", || async { "Good morning" }))?)
/// }
///
/// let server = Server::new("plugins", "1.0.0").tool(Tool::new("learn", learn));
/// # assert!(server.build().is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct Registry(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    sets: Sets,
    /// In the order in which they were mounted.
    mounts: RwLock<Arc<[Mount]>>,
    notify: Notify,
    /// What handlers may take, known once the server is built.
    states: RwLock<Option<States>>,
    /// Something logs beside the handlers that say so.
    logs: AtomicBool,
}

impl FromCall for Registry {
    /// The same for every caller.
    fn describe(_: &mut Signature) {}

    async fn from_call(call: &Call) -> HandlerResult<Self> {
        call.handle().cloned().ok_or_else(|| Error::from("the server has no registry"))
    }
}

/// One set for each kind of feature that has a list.
#[derive(Debug)]
struct Sets {
    tools: Set<ToolEntry>,
    resources: Set<ResourceEntry>,
    templates: Set<TemplateEntry>,
    prompts: Set<PromptEntry>,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self::with(Sets {
            tools: Set::new(),
            resources: Set::new(),
            templates: Set::new(),
            prompts: Set::new(),
        })
    }

    fn with(sets: Sets) -> Self {
        let (mounts, states, logs) = Default::default();
        Self(Arc::new(Inner { sets, mounts, notify: Notify::new(), states, logs }))
    }

    /// A registry of the same features that changes by itself.
    pub(crate) fn fork(&self) -> Self {
        let Sets { tools, resources, templates, prompts } = &self.0.sets;
        let fork = Self::with(Sets {
            tools: tools.fork(),
            resources: resources.fork(),
            templates: templates.fork(),
            prompts: prompts.fork(),
        });
        *fork.0.mounts.write().unwrap_or_else(PoisonError::into_inner) = self.mounts();
        fork.0.logs.store(self.declares_logging(), Ordering::Relaxed);
        fork
    }

    /// Adds a feature.
    ///
    /// # Errors
    ///
    /// If something is wrong with it, its name or URI is taken, or it needs state that the server
    /// does not have.
    pub fn insert(&self, feature: impl Into<Feature>) -> Result<(), BuildError> {
        match feature.into() {
            Feature::Tool(tool) => self.insert_tool(tool),
            Feature::Resource(resource) => self.insert_resource(resource),
            Feature::Prompt(prompt) => self.insert_prompt(prompt),
        }
    }

    /// Removes a tool; `false` if there is none of that name. Calls that run go on.
    pub fn remove_tool(&self, name: &str) -> bool {
        let removed = self.0.sets.tools.remove(name);
        if removed {
            self.0.notify.tools_changed();
        }
        removed
    }

    /// Removes the resource of a URI, or the family of a template; `false` if there is none. Reads
    /// that run go on.
    pub fn remove_resource(&self, uri: &str) -> bool {
        let removed = self.0.sets.resources.remove(uri) || self.0.sets.templates.remove(uri);
        if removed {
            self.0.notify.resources_changed();
        }
        removed
    }

    /// Removes a prompt; `false` if there is none of that name. Calls that run go on.
    pub fn remove_prompt(&self, name: &str) -> bool {
        let removed = self.0.sets.prompts.remove(name);
        if removed {
            self.0.notify.prompts_changed();
        }
        removed
    }

    /// Stands for another server.
    ///
    /// # Errors
    ///
    /// If a name is taken.
    pub(crate) fn mount(&self, mount: Mount) -> Result<(), BuildError> {
        let namespace = &mount.namespace;
        let mounts = self.mounts();
        if mounts.iter().any(|other| other.namespace == *namespace) {
            let message = format!("two servers are mounted as `{namespace}`");
            return Err(BuildError::duplicate(message));
        }
        let mounts: Vec<_> = mounts.iter().cloned().chain([mount]).collect();
        *self.0.mounts.write().unwrap_or_else(PoisonError::into_inner) = mounts.into();
        self.tools().iter().try_for_each(|entry| self.check_free("tool", entry.name()))?;
        self.prompts().iter().try_for_each(|entry| self.check_free("prompt", entry.name()))
    }

    /// Refuses a name that belongs to a mounted server.
    fn check_free(&self, what: &str, name: &str) -> Result<(), BuildError> {
        let Some((namespace, _)) = Namespace::split(name) else { return Ok(()) };
        if !self.mounts().iter().any(|mount| mount.namespace.as_str() == namespace) {
            return Ok(());
        }
        Err(BuildError::duplicate(format!(
            "{what} `{name}` cannot have that name: it is one of the server mounted as `{namespace}`"
        )))
    }

    pub(crate) fn insert_tool(&self, tool: Tool) -> Result<(), BuildError> {
        let entry = ToolEntry::check(tool)?;
        self.check_free("tool", entry.name())?;
        self.check_states(|states| entry.check_states(states))?;
        add(&self.0.sets.tools, entry, |name| format!("two tools are named `{name}`"))?;
        self.0.notify.tools_changed();
        Ok(())
    }

    pub(crate) fn insert_resource(&self, resource: Resource) -> Result<(), BuildError> {
        match Checked::new(resource)? {
            Checked::Resource(entry) => {
                self.check_states(|states| entry.reader.check_states(states))?;
                let taken = |uri: &str| format!("two resources have the URI `{uri}`");
                add(&self.0.sets.resources, entry, taken)?;
            }
            Checked::Template(entry) => {
                self.check_states(|states| entry.reader.check_states(states))?;
                let taken = |text: &str| format!("two resources have the template `{text}`");
                add(&self.0.sets.templates, *entry, taken)?;
            }
        }
        self.0.notify.resources_changed();
        Ok(())
    }

    pub(crate) fn insert_prompt(&self, prompt: Prompt) -> Result<(), BuildError> {
        let entry = PromptEntry::check(prompt)?;
        self.check_free("prompt", entry.name())?;
        self.check_states(|states| entry.check_states(states))?;
        add(&self.0.sets.prompts, entry, |name| format!("two prompts are named `{name}`"))?;
        self.0.notify.prompts_changed();
        Ok(())
    }

    /// Checks something against the state that there is, once that is known.
    fn check_states(
        &self,
        check: impl FnOnce(&States) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        match &*self.0.states.read().unwrap_or_else(PoisonError::into_inner) {
            Some(states) => check(states),
            None => Ok(()),
        }
    }

    /// Declares that there are tools, even while there are none.
    pub(crate) fn offer_tools(&self) {
        self.0.sets.tools.offer();
    }

    /// Declares that there are resources, even while there are none.
    pub(crate) fn offer_resources(&self) {
        self.0.sets.resources.offer();
    }

    /// Declares that there are prompts, even while there are none.
    pub(crate) fn offer_prompts(&self) {
        self.0.sets.prompts.offer();
    }

    /// Declares that something logs, whether a handler says so or not.
    pub(crate) fn declare_logging(&self) {
        self.0.logs.store(true, Ordering::Relaxed);
    }

    /// Whether both belong to the same server.
    #[cfg(feature = "tracing")]
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn declares_logging(&self) -> bool {
        self.0.logs.load(Ordering::Relaxed)
    }

    pub(crate) fn tools(&self) -> Arc<Snapshot<ToolEntry>> {
        self.0.sets.tools.snapshot()
    }

    pub(crate) fn resources(&self) -> Arc<Snapshot<ResourceEntry>> {
        self.0.sets.resources.snapshot()
    }

    pub(crate) fn templates(&self) -> Arc<Snapshot<TemplateEntry>> {
        self.0.sets.templates.snapshot()
    }

    pub(crate) fn prompts(&self) -> Arc<Snapshot<PromptEntry>> {
        self.0.sets.prompts.snapshot()
    }

    /// The servers that this one stands for, in order.
    pub(crate) fn mounts(&self) -> Arc<[Mount]> {
        self.0.mounts.read().unwrap_or_else(PoisonError::into_inner).clone()
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
        self.tools().iter().try_for_each(|entry| entry.check_states(states))?;
        self.resources().iter().try_for_each(|entry| entry.reader.check_states(states))?;
        self.templates().iter().try_for_each(|entry| entry.reader.check_states(states))?;
        self.prompts().iter().try_for_each(|entry| entry.check_states(states))
    }
}

/// Adds an item to a set in which it has to be the only one of its name.
fn add<T: Item>(
    set: &Set<T>,
    item: T,
    taken: impl FnOnce(&str) -> String,
) -> Result<(), BuildError> {
    let name = item.name().clone();
    if set.insert(item) { Ok(()) } else { Err(BuildError::duplicate(taken(&name))) }
}
