//! The features of a server, and the servers that it mounts.

mod insert;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};

use bowline_proto::sync::{read, write};

use crate::call::Call;
use crate::error::{BuildError, Error, Result as HandlerResult};
use crate::extract::FromCall;
use crate::feature::set::{FeatureSet, Snapshot};
use crate::feature::{PromptEntry, ResourceEntry, TemplateEntry, ToolEntry};
use crate::mount::Mount;
use crate::notify::Notify;
use crate::signature::HandlerSignature;
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

/// A registry, if its server still exists.
#[cfg(feature = "skills")]
#[derive(Debug)]
pub(crate) struct WeakRegistry(std::sync::Weak<Inner>);

#[cfg(feature = "skills")]
impl WeakRegistry {
    pub(crate) fn upgrade(&self) -> Option<Registry> {
        self.0.upgrade().map(Registry)
    }
}

#[derive(Debug)]
struct Inner {
    sets: Sets,
    /// In the order in which they were mounted.
    mounts: RwLock<Arc<[Mount]>>,
    notify: Notify,
    /// What handlers may take, known once the server is built.
    states: RwLock<Option<States>>,
    /// Whether the server declares logging although no handler takes `Log`.
    logs: AtomicBool,
    /// Whether there has been a tool that runs as a task.
    has_had_tasks: AtomicBool,
}

impl FromCall for Registry {
    /// The same for every caller.
    fn describe(_: &mut HandlerSignature) {}

    async fn from_call(call: &Call) -> HandlerResult<Self> {
        call.handle().cloned().ok_or_else(|| Error::from("the server has no registry"))
    }
}

/// One set for each kind of feature that has a list.
#[derive(Debug)]
struct Sets {
    tools: FeatureSet<ToolEntry>,
    resources: FeatureSet<ResourceEntry>,
    templates: FeatureSet<TemplateEntry>,
    prompts: FeatureSet<PromptEntry>,
}

impl Registry {
    pub(crate) fn new() -> Self {
        Self::with(Sets {
            tools: FeatureSet::new(),
            resources: FeatureSet::new(),
            templates: FeatureSet::new(),
            prompts: FeatureSet::new(),
        })
    }

    fn with(sets: Sets) -> Self {
        let (mounts, states, logs, has_had_tasks) = Default::default();
        let notify = Notify::new();
        Self(Arc::new(Inner { sets, mounts, notify, states, logs, has_had_tasks }))
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
        *write(&fork.0.mounts) = self.mounts();
        fork.0.has_had_tasks.store(self.has_had_tasks(), Ordering::Relaxed);
        fork.0.logs.store(self.declares_logging(), Ordering::Relaxed);
        fork
    }

    #[cfg(feature = "skills")]
    pub(crate) fn downgrade(&self) -> WeakRegistry {
        WeakRegistry(Arc::downgrade(&self.0))
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

    /// Whether there has been a tool that runs as a task. If it was removed, its tasks go on.
    pub(crate) fn has_had_tasks(&self) -> bool {
        self.0.has_had_tasks.load(Ordering::Relaxed)
    }

    /// Declares logging, even if no handler takes `Log`.
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

    /// The mounted servers, in order.
    pub(crate) fn mounts(&self) -> Arc<[Mount]> {
        read(&self.0.mounts).clone()
    }

    pub(crate) fn notify(&self) -> &Notify {
        &self.0.notify
    }

    /// The first feature that cannot be offered over HTTP without authorization, and why.
    pub(crate) fn needs_authorization(&self) -> Option<String> {
        let tool = self.tools().iter().find_map(|entry| entry.needs_authorization());
        let resource = || self.resources().iter().find_map(|it| it.reader.needs_authorization());
        let template = || self.templates().iter().find_map(|it| it.reader.needs_authorization());
        let prompt = || self.prompts().iter().find_map(|entry| entry.needs_authorization());
        let mounted = || self.mounts().iter().find_map(Mount::needs_authorization);
        tool.or_else(resource).or_else(template).or_else(prompt).or_else(mounted)
    }

    /// Checks everything that is here, and will be, against the state that there is.
    ///
    /// # Errors
    ///
    /// Names the first feature that needs more.
    pub(crate) fn bind(&self, states: &States) -> Result<(), BuildError> {
        *write(&self.0.states) = Some(states.clone());
        self.tools().iter().try_for_each(|entry| entry.check_states(states))?;
        self.tools().iter().try_for_each(|entry| self.check_view(entry))?;
        self.resources().iter().try_for_each(|entry| entry.reader.check_states(states))?;
        self.templates().iter().try_for_each(|entry| entry.reader.check_states(states))?;
        self.prompts().iter().try_for_each(|entry| entry.check_states(states))
    }
}
