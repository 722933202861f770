//! Adds features and mounted servers to a registry.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bowline_proto::sync::{read, write};
use bowline_types::namespace::Namespace;

use super::Registry;
use crate::error::BuildError;
use crate::feature::set::{FeatureEntry, FeatureSet};
use crate::feature::{CheckedResource, Feature, Prompt, PromptEntry, Resource, Tool, ToolEntry};
use crate::mount::Mount;
use crate::states::States;

impl Registry {
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

    /// Mounts another server.
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
        let mounts: Arc<[Mount]> = mounts.iter().cloned().chain([mount]).collect();
        let is_free = |what, name: &str| check_free(&mounts, what, name);
        self.tools().iter().try_for_each(|entry| is_free("tool", entry.name()))?;
        self.prompts().iter().try_for_each(|entry| is_free("prompt", entry.name()))?;
        *write(&self.0.mounts) = mounts;
        Ok(())
    }

    /// Everything is checked before anything changes; clients are notified last.
    pub(crate) fn insert_tool(&self, tool: Tool) -> Result<(), BuildError> {
        let entry = ToolEntry::check(tool)?;
        check_free(&self.mounts(), "tool", entry.name())?;
        if entry.task_need().is_some() {
            self.0.has_had_tasks.store(true, Ordering::Relaxed);
        }
        self.check_states(|states| {
            entry.check_states(states)?;
            self.check_view(&entry)
        })?;
        add(&self.0.sets.tools, entry, |name| format!("two tools are named `{name}`"))?;
        self.0.notify.tools_changed();
        Ok(())
    }

    pub(crate) fn insert_resource(&self, resource: Resource) -> Result<(), BuildError> {
        match CheckedResource::new(resource)? {
            CheckedResource::Resource(entry) => {
                self.check_states(|states| entry.reader.check_states(states))?;
                let taken = |uri: &str| format!("two resources have the URI `{uri}`");
                add(&self.0.sets.resources, entry, taken)?;
            }
            CheckedResource::Template(entry) => {
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
        check_free(&self.mounts(), "prompt", entry.name())?;
        self.check_states(|states| entry.check_states(states))?;
        add(&self.0.sets.prompts, entry, |name| format!("two prompts are named `{name}`"))?;
        self.0.notify.prompts_changed();
        Ok(())
    }

    /// Checks that the view of a tool exists (APP-4). A mounted server may have it, which is known
    /// only when a client asks.
    ///
    /// # Errors
    ///
    /// Names the view that is missing.
    pub(super) fn check_view(&self, tool: &ToolEntry) -> Result<(), BuildError> {
        let Some(uri) = tool.ui().and_then(|ui| ui.resource_uri.as_deref()) else { return Ok(()) };
        let exists = self.resources().contains(uri)
            || self.templates().iter().any(|family| family.reader.is_at(uri));
        if exists || !self.mounts().is_empty() {
            return Ok(());
        }
        let name = tool.name();
        Err(BuildError::new(format!(
            "tool `{name}` has the view `{uri}`, but no resource has this URI; \
             add `.resource(Resource::ui(\"{uri}\", html))`"
        )))
    }

    /// Checks something against the state that there is, once that is known.
    fn check_states(
        &self,
        check: impl FnOnce(&States) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        match &*read(&self.0.states) {
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
}

/// Refuses a name that belongs to a mounted server. Otherwise a call of that name could mean two
/// things.
fn check_free(mounts: &[Mount], what: &str, name: &str) -> Result<(), BuildError> {
    let Some((namespace, _)) = Namespace::split(name) else { return Ok(()) };
    if !mounts.iter().any(|mount| mount.namespace.as_str() == namespace) {
        return Ok(());
    }
    Err(BuildError::duplicate(format!(
        "{what} `{name}` cannot have that name: it is one of the server mounted as `{namespace}`"
    )))
}

/// Adds an item to a set in which it has to be the only one of its name.
fn add<T: FeatureEntry>(
    set: &FeatureSet<T>,
    item: T,
    taken: impl FnOnce(&str) -> String,
) -> Result<(), BuildError> {
    let name = item.name().clone();
    if set.insert(item) { Ok(()) } else { Err(BuildError::duplicate(taken(&name))) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Server;

    #[test]
    fn a_server_whose_names_are_taken_is_not_mounted() {
        let registry = Registry::new();
        registry.insert(Tool::new("weather__rain", || async {})).unwrap();
        let mount =
            Mount::make("weather".to_owned(), Server::new("weather", "1"), |_| None).unwrap();
        let error = registry.mount(mount).unwrap_err().to_string();
        assert!(error.starts_with("tool `weather__rain` cannot have that name"), "{error}");
        assert!(registry.mounts().is_empty());
        registry.insert(Tool::new("weather__snow", || async {})).unwrap();
    }
}
