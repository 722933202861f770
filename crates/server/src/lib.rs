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
//! # async fn run() -> Result<(), bowline_server::ServeError> {
//! let add = Tool::new("add", add).describe("Add two numbers").read_only();
//! Server::new("calculator", "1.0.0").tool(add).run().await
//! # }
//! ```
//!
//! In reading order: a [`Server`] is described by value and built once into a [`Service`], which
//! any transport drives. Each request goes through the server's [`layer`]s to what serves its
//! method. A [`Tool`], a [`Prompt`] or a [`Resource`] is a [`Handler`]: a function whose parameters
//! are [`extract`]ors and whose result is one of those in [`respond`]. Another handler can complete
//! its arguments while the user types. The [`Registry`] changes the features while the server runs,
//! and [`Notify`] notifies clients of changes.
//!
//! A handler does not depend on the revision or the transport of its caller. A cancelled call is
//! dropped, unless its handler takes [`Cancel`]. The model gets the error of a tool; see [`Error`].

mod disabled;
mod discover;
#[cfg(feature = "http")]
pub mod http;
mod mount;
mod notify;
mod registry;
mod router;
mod serve;
mod server;
mod service;

mod call;
mod chain;
mod error;
pub mod extract;
mod feature;
mod handler;
pub mod layer;
pub mod respond;
mod shared;

#[cfg(feature = "tracing")]
mod polled;
mod schema;
mod seal;
mod secret;
mod states;
mod sync;
mod text_arguments;
mod tool_validator;
#[cfg(feature = "tracing")]
pub mod trace;
mod uri;

pub use bowline_proto::limits::Limits;
pub use bowline_proto::request::Owner;
pub use call::Call;
pub use error::{BoxError, Error, HandlerError, Result};
pub use extract::{
    Args, Ask, AskError, Cancel, Context, Elicited, Log, Progress, State, Typed, Uri,
};
pub use feature::{
    Definition, Feature, IntoFeature, Prompt, PromptFn, Resource, ResourceFn, Tool, ToolFn,
};
pub use handler::{Handler, HandlerSignature, TemplateHandler};
pub use notify::Notify;
pub use registry::Registry;
pub use respond::{
    IntoCompletion, IntoPromptResult, IntoResourceResult, IntoToolResult, Json, resembling,
    starting_with,
};
pub use router::ListKind;
pub use seal::StateKey;
pub use serve::ServeError;
pub use server::{BuildError, Server};
pub use service::{ResponseFuture, Service};
