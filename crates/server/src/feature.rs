//! What a server offers: tools, and the sets they are kept in.

pub(crate) mod set;
mod tool;

pub(crate) use tool::{Invoked, ToolEntry};
pub use tool::{Tool, ToolFn};

/// Anything that can be registered.
///
/// Made from a [`Tool`]; what else there is to register will be made into one of these too.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Feature {
    /// A tool.
    Tool(Tool),
}

impl From<Tool> for Feature {
    fn from(tool: Tool) -> Self {
        Self::Tool(tool)
    }
}
