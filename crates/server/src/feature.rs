//! What a server offers: tools, resources and prompts, and the sets they are kept in.

use std::time::Duration;

pub(crate) mod completion;
mod core;
pub(crate) mod invoke;
mod notification;
mod prompt;
mod resource;
pub(crate) mod run;
pub(crate) mod set;
mod tool;
pub(crate) mod visible;

pub(crate) use notification::NotificationHandler;
pub(crate) use prompt::PromptEntry;
pub use prompt::{Prompt, PromptFn};
pub(crate) use resource::{CheckedResource, ResourceEntry, ResourceReader, TemplateEntry, asked};
pub use resource::{Resource, ResourceFn};
pub(crate) use tool::ToolEntry;
pub use tool::{Tool, ToolFn};
pub use visible::Definition;

/// How long a handler that takes [`Cancel`](crate::Cancel) may go on after a cancellation, unless
/// it says otherwise.
const GRACE: Duration = Duration::from_secs(5);

/// Anything that can be registered: a [`Tool`], a [`Resource`] or a [`Prompt`].
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
