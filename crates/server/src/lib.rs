//! Write Model Context Protocol servers: functions are tools.
//!
//! ```
//! use bowline_server::{Args, Server, Tool};
//! use schemars::JsonSchema;
//! use serde::Deserialize;
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! async fn add(Args(Add { a, b }): Args<Add>) -> i64 {
//!     a + b
//! }
//!
//! # async fn run() -> bowline_server::Result {
//! let add = Tool::new("add", add).describe("Add two numbers").read_only();
//! Server::new("calculator", "1.0.0").tool(add).run().await
//! # }
//! ```
//!
//! In reading order: a [`Server`] is described by value and built once into a [`Service`], which
//! any transport drives. Each request goes through the server's [`layer`]s to what serves its
//! method. A [`Tool`] is a [`Handler`], a function whose parameters are [`extract`]ors and whose
//! result is one of those in [`respond`]. The [`Registry`] and [`Notify`] change what is offered and
//! tell clients so while the server runs.
//!
//! Handlers cannot tell which revision of the protocol or which transport called them. A call that
//! is cancelled is dropped, unless its handler takes [`Cancel`]. Whatever fails inside of a tool is
//! told to the model; see [`Error`].

mod discover;
mod events;
mod registry;
mod router;
mod serve;
mod server;
mod service;

mod call;
mod error;
pub mod extract;
mod feature;
mod handler;
pub mod layer;
pub mod respond;
mod signature;

mod contract;
mod panic;
mod schema;
mod seal;
mod sync;

pub use call::Call;
pub use error::{BoxError, Error, Result};
pub use events::Notify;
pub use extract::{Args, Ask, AskError, Cancel, Context, Log, Progress, State};
pub use feature::{Feature, Tool, ToolFn};
pub use handler::Handler;
pub use registry::Registry;
pub use respond::{IntoToolResult, Json};
pub use seal::StateKey;
pub use serve::ServeError;
pub use server::{BuildError, Server};
pub use service::{Answer, Service};
pub use signature::Signature;
