//! What most programs need, for `use bowline::prelude::*`.
//!
//! `Result`, `Error` and `test` are not here, because everybody has their own.

#[cfg(feature = "server")]
pub use crate::{Args, Ask, Cancel, Content, Context, Json, Log, Progress, Server, State, Tool};

#[cfg(feature = "client")]
pub use crate::{Client, Command};

#[cfg(all(feature = "macros", feature = "server"))]
pub use crate::{tool, tools};
