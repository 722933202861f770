//! The items that most programs need, for `use bowline::prelude::*`.
//!
//! `Result`, `Error` and `test` are not here, because most programs have items of these names.

#[cfg(feature = "server")]
pub use crate::{
    Args, Ask, Cancel, Content, Context, Elicited, Json, Log, Progress, Prompt, Resource, Server,
    State, Tool,
};

#[cfg(feature = "client")]
pub use crate::{Client, Command};

#[cfg(all(feature = "macros", feature = "server"))]
pub use crate::{prompt, prompts, resource, resources, tool, tools};
