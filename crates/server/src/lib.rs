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
//! For readers of the source. The modules are listed in layers, from what a program calls down to
//! what everything needs. A module uses modules of its own layer and of those after it, never of
//! those before it. `feature` is the centre: what is before it finds the feature that a request is
//! for, and what is after it runs the function of the user.

// Serving: a built server behind a transport.
mod disabled; // methods of cargo features that are off
#[cfg(feature = "http")]
pub mod http; // over HTTP
mod serve; // over stdin and stdout or another transport, in one line
#[cfg(feature = "tracing")]
pub mod trace; // events of `tracing` as log messages

// The server: from builder methods to the service that transports drive.
mod server; // a server and its builder methods
mod service; // a built server
#[cfg(feature = "skills")]
mod skills; // folders of skills, as resources and an extension

// Requests: from a method and a name to what serves it.
mod discover; // the capabilities and instructions of a server
mod router; // to a feature, a mounted server, a task or an extension

// What a server keeps while it runs.
mod mount; // servers in a namespace of another server
mod notify; // subscriptions, and the changes to notify them of
mod registry; // the features, which may change
mod task; // calls that go on after their first answer

// What a program offers, checked and ready to be called.
mod extension; // methods outside of the specification
mod feature; // tools, resources and prompts

// Running one call: through the layers around it to the function.
mod handler; // functions as handlers
pub mod layer; // code around calls
mod run; // drives a call until its handler has ended or asks

// The function: what it may take and return.
pub mod extract; // what it takes
pub mod respond; // what it returns
mod signature; // what the types of both declare, when it is registered

// One call, and how it fails.
mod call; // all that extractors take their values from
mod error; // what handlers fail with, and what a server cannot be built with

// What these need.
mod schema; // Rust types as the schemas that clients see
pub mod seal; // encrypts the state that a client keeps between rounds
mod secret; // names of secrets, which forms must not ask for
mod states; // the values that a server was given with `.state(..)`
mod sync; // a signal that several tasks wait for
mod text_arguments; // arguments that are strings, read as the types of parameters
mod tool_response; // the answer that every tool result goes through
mod tool_validator; // checks arguments and results of a tool against its schemas

pub use bowline_proto::limits::Limits;
pub use bowline_proto::request::{Access, Claims, Owner};
#[cfg(feature = "skills")]
pub use bowline_skills::{SkillError, SkillLimits, Skills};
pub use bowline_types::ext::apps::ResourceUi;
pub use bowline_types::tool::TaskSupport;
pub use call::Call;
pub use error::{BoxError, BuildError, Error, HandlerError, Result};
pub use extension::Extension;
pub use extract::{
    Args, Ask, AskError, Cancel, Context, Elicited, Log, Params, Progress, State, Typed, Uri,
};
pub use feature::{
    Definition, Feature, IntoFeature, Prompt, PromptFn, Resource, ResourceFn, Tool, ToolFn,
};
pub use handler::{Handler, TemplateHandler};
pub use notify::Notify;
pub use registry::Registry;
pub use respond::{
    IntoCompletion, IntoMethodResult, IntoPromptResult, IntoResourceResult, IntoToolResult, Json,
    resembling, starting_with,
};
pub use router::ListKind;
pub use seal::{StateKey, StateKeys, StateKeysError};
pub use serve::ServeError;
pub use server::Server;
pub use service::{ResponseFuture, Service};
pub use signature::HandlerSignature;
pub use task::TaskLimits;
