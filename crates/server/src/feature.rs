//! What a server offers: tools, resources and prompts, and the sets they are kept in.
//!
//! A [`Tool`], [`Resource`] or [`Prompt`] is a definition with a handler, as a program writes it.
//! Registering one checks it and turns it into an entry (`tool/entry.rs` and so on), which is what
//! the router finds and calls. `run` drives one call of any of them, `invoke` leads it through the
//! layers of the feature, and `set` keeps entries in order.

pub(crate) mod completion;
mod core;
mod notification;
mod prompt;
mod resource;
pub(crate) mod set;
mod tool;
mod uri;
pub(crate) mod visible;

pub(crate) use notification::NotificationHandler;
pub(crate) use prompt::PromptEntry;
pub use prompt::{Prompt, PromptFn};
pub(crate) use resource::{CheckedResource, ResourceEntry, ResourceReader, TemplateEntry, asked};
pub use resource::{Resource, ResourceFn};
pub(crate) use tool::{TaskNeed, ToolEntry};
pub use tool::{Tool, ToolFn};
pub use visible::Definition;

/// Anything that can be registered: a [`Tool`], a [`Resource`] or a [`Prompt`]. For registries that
/// change while the server runs, where the kind is known only then.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Feature {
    /// A tool.
    Tool(Tool),
    /// A resource, or a family of resources.
    Resource(Resource),
    /// A prompt.
    Prompt(Prompt),
}

impl From<Tool> for Feature {
    fn from(tool: Tool) -> Self {
        Self::Tool(tool)
    }
}

impl From<Resource> for Feature {
    fn from(resource: Resource) -> Self {
        Self::Resource(resource)
    }
}

impl From<Prompt> for Feature {
    fn from(prompt: Prompt) -> Self {
        Self::Prompt(prompt)
    }
}

/// A value that [`Server::tool`](crate::Server::tool), [`Server::prompt`](crate::Server::prompt) or
/// [`Server::resource`](crate::Server::resource) registers: a `T` itself.
///
/// It exists for the message that the compiler gives for a function.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `{T}`",
    label = "not a `{T}`",
    note = "a function with `#[tool]`, `#[prompt]` or `#[resource(\"..\")]` is registered by its name: \
            `.tools(tools![name])`, `.prompts(prompts![name])`, `.resources(resources![name])`",
    note = "a function without an attribute is wrapped first: `Tool::new(\"name\", function)`, \
            `Prompt::new(\"name\", function)`, `Resource::new(\"scheme://path\", function)`"
)]
pub trait IntoFeature<T> {
    /// The feature.
    fn into_feature(self) -> T;
}

impl IntoFeature<Tool> for Tool {
    fn into_feature(self) -> Tool {
        self
    }
}

impl IntoFeature<Prompt> for Prompt {
    fn into_feature(self) -> Prompt {
        self
    }
}

impl IntoFeature<Resource> for Resource {
    fn into_feature(self) -> Resource {
        self
    }
}
