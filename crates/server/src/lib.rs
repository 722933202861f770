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
//! A [`Server`] is described by value and built once into a [`Service`], which any transport
//! drives. Each request goes through the server's [`layer`]s to what serves its method. A [`Tool`],
//! a [`Prompt`] or a [`Resource`] is a [`Handler`]: a function whose parameters are [`extract`]ors
//! and whose result is one of those in [`respond`]. Another handler can complete its arguments while
//! the user types. The [`Registry`] changes the features while the server runs, and [`Notify`]
//! notifies clients of changes.
//!
//! A handler does not depend on the revision or the transport of its caller. A cancelled call is
//! dropped, unless its handler takes [`Cancel`]. The model gets the error of a tool; see [`Error`].
//!
//! # Reading order
//!
//! For readers of the source. From the server to the feature:
//!
//! * `server`: a server and its builder methods.
//! * `service`: a built server, as the service that transports drive.
//! * `shared`: what a built server shares with all of its calls.
//! * `serve`: serves over a transport, in one line.
//! * `http`: serves over HTTP; `disabled`: methods of features that are off.
//! * `router`: routes a request by its method to the feature that serves it.
//! * `discover`: the capabilities and instructions of a server.
//! * `registry`: the features of a server, which may change while it runs.
//! * `notify`: notifies clients of changes.
//! * `mount`: servers in a namespace of another server.
//! * [`layer`]: code around calls.
//!
//! From the feature to the user's function, and back:
//!
//! * `feature`: tools, resources and prompts; `feature/run.rs` runs a call.
//! * `extension`: methods outside of the specification that a program adds.
//! * `skills`: folders of skills, as resources and an extension.
//! * `task`: calls that go on after their first answer.
//! * `call`: one call, as extractors see it.
//! * `handler`: functions as handlers.
//! * [`extract`]: what a handler can take as parameters.
//! * [`respond`]: what a handler can return.
//! * `error`: what a handler fails with; `chain`: an error with its causes, in one line.
//! * `tool_response`: the answer that every tool result of this crate goes through.
//!
//! What these need:
//!
//! * `schema`: Rust types as the schemas that clients see.
//! * `tool_validator`: checks arguments and results of a tool against its schemas.
//! * `text_arguments`: arguments that are strings, read as the types of parameters.
//! * `uri`: checks URIs of resources.
//! * `states`: the values that a server was given with `.state(..)`.
//! * `seal`: encrypts the state that a client keeps between rounds.
//! * `secret`: names of secrets, which forms must not ask for.
//! * `sync`: a signal that several tasks wait for.
//! * `together`: futures that run side by side.
//! * `trace`: events of `tracing` as log messages; `polled`: the call that they belong to.

// One group per group of the reading order above; the formatter sorts within a group.

mod disabled;
mod discover;
#[cfg(feature = "http")]
pub mod http;
pub mod layer;
mod mount;
mod notify;
mod registry;
mod router;
mod serve;
mod server;
mod service;
mod shared;

mod call;
mod chain;
mod error;
mod extension;
pub mod extract;
mod feature;
mod handler;
pub mod respond;
#[cfg(feature = "skills")]
mod skills;
mod task;
mod together;
mod tool_response;

#[cfg(feature = "tracing")]
mod polled;
mod schema;
pub mod seal;
mod secret;
mod states;
mod sync;
mod text_arguments;
mod tool_validator;
#[cfg(feature = "tracing")]
pub mod trace;
mod uri;

pub use bowline_proto::limits::Limits;
pub use bowline_proto::request::{Access, Claims, Owner};
#[cfg(feature = "skills")]
pub use bowline_skills::{SkillError, SkillLimits, Skills};
pub use bowline_types::ext::apps::ResourceUi;
pub use call::Call;
pub use error::{BoxError, Error, HandlerError, Result};
pub use extension::Extension;
pub use extract::{
    Args, Ask, AskError, Cancel, Context, Elicited, Log, Params, Progress, State, Typed, Uri,
};
pub use feature::{
    Definition, Feature, IntoFeature, Prompt, PromptFn, Resource, ResourceFn, Tool, ToolFn,
};
pub use handler::{Handler, HandlerSignature, TemplateHandler};
pub use notify::Notify;
pub use registry::Registry;
pub use respond::{
    IntoCompletion, IntoMethodResult, IntoPromptResult, IntoResourceResult, IntoToolResult, Json,
    resembling, starting_with,
};
pub use router::ListKind;
pub use seal::{StateKey, StateKeys, StateKeysError};
pub use serve::ServeError;
pub use server::{BuildError, Server};
pub use service::{ResponseFuture, Service};
pub use task::{TaskLimits, TaskSupport};
