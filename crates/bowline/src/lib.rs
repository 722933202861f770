//! The Model Context Protocol in Rust: servers and clients for every revision.
//!
//! The [protocol](https://modelcontextprotocol.io) (MCP) lets language models use programs. A server
//! offers *tools*, a model calls them, and the host, an application with a model in it, connects the
//! two. With this crate a tool is a function.
//!
//! * [A server](#a-server) over stdio, [over HTTP](#over-http), [a client](#a-client) over both
//! * [State and errors](#state-and-errors), [resources and prompts](#resources-and-prompts),
//!   [while a tool runs](#while-a-tool-runs), [without macros](#without-macros), [layers](#layers),
//!   [several servers](#several-servers), [tests](#tests)
//! * [Cargo features](#cargo-features), [crates](#crates)
//! * The [manual](manual/index.html): a chapter for each concept, and one for readers [coming from
//!   rmcp](manual/_20_coming_from_rmcp/index.html)
//!
//! # A server
//!
//! ```toml
//! [dependencies]
//! bowline = { version = "0.1", features = ["http"] }
//! tokio = { version = "1", features = ["macros", "rt-multi-thread"] }
//! ```
//!
//! ```no_run
//! use bowline::{Server, tool, tools};
//!
//! /// Add two numbers
//! #[tool]
//! async fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), bowline::ServeError> {
//!     Server::new("calculator", "1.0.0").tools(tools![add]).run().await
//! }
//! ```
//!
//! `run` serves standard input and output, which is how most hosts start servers. With the feature
//! `http`, the option `--http 127.0.0.1:3000` makes the same program serve
//! `http://127.0.0.1:3000/mcp`. It speaks all revisions of the protocol, from 2024-11-05 to 2026-07-28.
//! The client chooses the revision, and handlers work the same in all of them.
//! [`tool`](macro@tool) documents arguments and their descriptions.
//!
//! # Over HTTP
//!
//! `server.http()` needs the feature `http`. `bind` listens by itself:
//!
//! ```no_run
//! # #[cfg(feature = "http")]
//! # mod http {
//! use bowline::{Server, tool, tools};
//!
//! /// Add two numbers
//! #[tool]
//! async fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), bowline::ServeError> {
//!     let server = Server::new("calculator", "1.0.0").tools(tools![add]);
//!     server.http().bind("127.0.0.1:3000").await
//! }
//! # }
//! # fn main() {}
//! ```
//!
//! It is also a tower service: `axum::Router::new().nest_service("/mcp", server.http())` mounts it
//! beside other routes. Middleware around it authenticates callers, and handlers read headers and
//! values that the middleware inserted from [`Context`]. The chapters [over
//! HTTP](manual/_14_over_http/index.html) and [who is calling](manual/_09_who_is_calling/index.html)
//! show both. [Protecting a server](manual/_21_protecting_a_server/index.html) is about access tokens.
//!
//! # A client
//!
//! With the feature `client`, a `Client` starts a server as a child process. With the feature
//! `http-client`, it connects to a URL. It detects the revision that the server speaks. Dropping a call
//! cancels it. A call fails after 60 seconds without an answer or progress, unless it has a timeout of
//! its own.
//!
//! ```no_run
//! # #[cfg(feature = "http-client")]
//! # async fn example() -> bowline::client::Result<()> {
//! use std::time::Duration;
//!
//! use bowline::{Client, Command};
//! use serde_json::json;
//!
//! // A child process, over stdio.
//! let git = Client::connect(Command::new("uvx").arg("mcp-server-git")).await?;
//! for tool in git.tools().all().await? {
//!     println!("{}", tool.display_name());
//! }
//! let status = git.call("git_status", json!({ "repo_path": "." }));
//! println!("{}", status.timeout(Duration::from_secs(30)).await?.text());
//! git.close().await;
//!
//! // A URL, over HTTP.
//! let calculator = Client::http("http://127.0.0.1:3000/mcp").connect().await?;
//! println!("{}", calculator.call("add", json!({ "a": 40, "b": 2 })).await?.text());
//! # Ok(())
//! # }
//! ```
//!
//! # State and errors
//!
//! `server.state(value)` gives the server a value that all calls share, and handlers take it as
//! [`State`]. If it is missing, the server does not start. An error that a tool returns with `?`
//! becomes a result that the model reads, so it can try again. [`Error::rpc`] is for the rare errors
//! that the client has to handle.
//!
//! ```
//! use std::collections::BTreeMap;
//! use std::sync::Arc;
//!
//! use bowline::{Json, Server, State, tool, tools};
//!
//! #[derive(Clone)]
//! struct Phones(Arc<BTreeMap<String, String>>);
//!
//! /// Find the phone number of a person
//! #[tool(read_only)]
//! async fn phone(State(phones): State<Phones>, name: String) -> bowline::Result<String> {
//!     let number = phones.0.get(&name);
//!     Ok(number.cloned().ok_or_else(|| format!("there is no {name}; ask for the full name"))?)
//! }
//!
//! /// List all people whose number is known
//! #[tool(read_only)]
//! fn names(State(phones): State<Phones>) -> Json<Vec<String>> {
//!     Json(phones.0.keys().cloned().collect())
//! }
//!
//! # fn main() -> Result<(), bowline::BuildError> {
//! let phones = Phones(Arc::new([("Ada".into(), "1815".into())].into()));
//! let server = Server::new("phones", "1.0.0").state(phones).tools(tools![phone, names]);
//! # server.build()?;
//! # Ok(())
//! # }
//! ```
//!
//! [`Json`] is structured output: it has an output schema, and it is sent as text too. [`respond`] lists
//! everything that a tool may return. Types of your own in arguments derive `serde::Deserialize` and
//! `schemars::JsonSchema`, so add `serde` and `schemars` to your dependencies.
//!
//! # Resources and prompts
//!
//! The model calls tools. The host reads [`Resource`]s, one by one or by a URI template. The user
//! chooses [`Prompt`]s. Both are functions too, and arguments can be completed while the user types.
//!
//! ```
//! use bowline::{Json, Server, prompt, prompts, resource, resources, starting_with};
//! use serde_json::{Value, json};
//!
//! /// The profile of a user
//! #[resource("users://{user_id}/profile")]
//! async fn profile(
//!     #[arg(complete = |typed| async move { starting_with(typed, ["1", "2", "42"]) })]
//!     user_id: u64,
//! ) -> Option<Json<Value>> {
//!     (user_id == 42).then(|| Json(json!({ "name": "Ada" })))
//! }
//!
//! /// Review code
//! #[prompt]
//! async fn review(language: String, focus: Option<String>) -> String {
//!     format!("Review this {language} code for {}", focus.unwrap_or("mistakes".into()))
//! }
//!
//! let server =
//!     Server::new("users", "1.0.0").resources(resources![profile]).prompts(prompts![review]);
//! # assert!(server.build().is_ok());
//! ```
//!
//! # While a tool runs
//!
//! More parameters let a tool talk to its caller: [`Progress`] reports how far the call has come,
//! [`Ask`] asks the user, [`Log`] sends log messages, [`Context`] says who is calling. A cancelled call
//! is dropped; a tool that has to clean up takes [`Cancel`]. Prompts and resources can take all of
//! these too, and [`extract`] lists them.
//!
//! ```
//! use bowline::{Ask, Progress, tool};
//!
//! /// Delete files for good
//! #[tool(destructive)]
//! async fn shred(ask: Ask, progress: Progress, files: Vec<String>) -> bowline::Result<String> {
//!     if !ask.confirm(format!("Delete {} files?", files.len())).await? {
//!         return Ok("Nothing was deleted".into());
//!     }
//!     let mut bar = progress.total(files.len());
//!     for file in &files {
//!         std::fs::remove_file(file)?;
//!         bar.inc(file);
//!     }
//!     Ok(format!("Deleted {} files", files.len()))
//! }
//! ```
//!
//! # Without macros
//!
//! The macros are optional. A handler is any async function of extractors, and [`Args`] is the
//! extractor for the arguments:
//!
//! ```no_run
//! use bowline::{Args, Json, Server, Tool};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Add {
//!     a: i64,
//!     b: i64,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Sum {
//!     sum: i64,
//! }
//!
//! async fn add(Args(add): Args<Add>) -> Json<Sum> {
//!     Json(Sum { sum: add.a + add.b })
//! }
//!
//! #[tokio::main]
//! async fn main() -> Result<(), bowline::ServeError> {
//!     let add = Tool::new("add", add).describe("Add two numbers").read_only();
//!     Server::new("calculator", "1.0.0").tool(add).run().await
//! }
//! ```
//!
//! # Layers
//!
//! Layers run code around every request of a server, or around the calls of one tool. Both take any
//! [`tower`](https://docs.rs/tower) layer. The module [`layer`] has layers for limits, timeouts and
//! audit, and makes a layer from a function.
//!
//! ```
//! use std::time::Duration;
//!
//! use bowline::layer::{self, Next, Request, Response, Timeout};
//! use bowline::{Server, ToolFn, tool};
//! use tower::limit::ConcurrencyLimitLayer;
//!
//! async fn audit(request: Request, next: Next) -> Response {
//!     eprintln!("{}", request.parts.method);
//!     next.run(request).await
//! }
//!
//! /// Report on everything
//! #[tool(read_only)]
//! async fn report() -> &'static str {
//!     "all is well"
//! }
//!
//! let server = Server::new("api", "1.0.0")
//!     .tool(report::tool().layer(ConcurrencyLimitLayer::new(4)))
//!     .layer(Timeout::new(Duration::from_secs(30)))
//!     .layer(layer::from_fn(audit));
//! ```
//!
//! # Several servers
//!
//! [`Server::mount`] adds the features of another server, or of a connected `Client`, under a prefix:
//! the tool `forecast` of `weather` becomes `weather__forecast`. The chapter on
//! [composition](manual/_10_composition/index.html) has the rules.
//!
//! ```
//! use bowline::{Server, tool, tools};
//!
//! /// Forecast the weather
//! #[tool(read_only)]
//! async fn forecast(city: String) -> String {
//!     format!("{city}: rain")
//! }
//!
//! let weather = Server::new("weather", "1.0.0").tools(tools![forecast]);
//! let hub = Server::new("hub", "1.0.0").mount("weather", weather);
//! ```
//!
//! # Tests
//!
//! A tool is a function, so most tests just call it. To test what clients see, the crate
//! `bowline-testing` connects a client to a server, and [`test`](macro@test) runs such a test once for
//! each era of the protocol and each transport.
//!
//! # Cargo features
//!
//! | feature | default | what it adds |
//! |---|---|---|
//! | `server` | yes | [`Server`], [`Tool`], [`Resource`], [`Prompt`], extractors, layers; stdio, sockets, memory |
//! | `macros` | yes | [`tool`](macro@tool), [`resource`](macro@resource), [`prompt`](macro@prompt), their lists, [`test`](macro@test) |
//! | `client` | no | `Client`; servers as child processes |
//! | `http` | no | `Server::http`, the module `http`, `--http` on the command line of `Server::run`; includes `server` |
//! | `http-client` | no | `Client::http`, for `http` and `https` URLs; includes `client` |
//! | `auth-client` | no | clients that log in (OAuth): the module `auth`, `Client::logout`; includes `http-client` |
//! | `auth-server` | no | servers that verify access tokens (OAuth): the module `auth`; includes `http` |
//! | `http2` | no | `Http::http2`: a listener that also speaks HTTP/2 without TLS; includes `http` |
//! | `sqlite` | no | `store::SqliteBackend`: sessions over HTTP that survive a restart, in a file; includes `http` |
//! | `redis` | no | `store::Redis`: sessions over HTTP that many servers share, in Redis or Valkey; includes `http` |
//! | `skills` | no | Agent Skills: `Server::skills`, `Client::skills`, the module `skills` |
//! | `otel` | no | traces and metrics with OpenTelemetry: the module `otel`, with layers for servers and clients |
//! | `tracing` | no | `Server::trace_layer`: `tracing` events of handlers as log messages; includes `server` |
//!
//! A call of a method whose feature is off does not compile; the compiler error names the feature.
//!
//! # Crates
//!
//! This crate re-exports the parts of other crates that servers and clients need; [what 1.0
//! promises](manual/_19_stability/index.html) are these parts. Most programs need only the items at the
//! root. [`types`] has the messages of the protocol, and [`transport`] the transports. The crates
//! `bowline-types`, `bowline-proto` (the protocol as a state machine without I/O) and
//! `bowline-transport` are for programs that need lower layers, and may change in any minor version.

// What every program may need.

pub mod transport;
pub mod types;

#[doc(inline)]
pub use bowline_proto::limits::Limits;

#[cfg(feature = "macros")]
#[doc(inline)]
pub use bowline_macros::test;

// Servers: features and their macros, what handlers take and return, code around them.

#[cfg(feature = "server")]
#[doc(inline)]
pub use {
    bowline_proto::request::{Access, Claims, Owner},
    bowline_server::extract::FromCall,
    bowline_server::{
        Args, Ask, AskError, BoxError, BuildError, Call, Cancel, Context, Definition, Elicited,
        Error, Extension, Feature, Handler, HandlerError, HandlerSignature, IntoFeature, Json,
        ListKind, Log, Notify, Params, Progress, Prompt, PromptFn, Registry, Resource, ResourceFn,
        ResourceUi, ResponseFuture, Result, ServeError, Server, Service, State, StateKey,
        StateKeys, StateKeysError, TaskLimits, TaskSupport, TemplateHandler, Tool, ToolFn, Typed,
        Uri, extract, layer, resembling, respond, starting_with,
    },
    bowline_types::content::Content,
};

#[cfg(all(feature = "macros", feature = "server"))]
#[doc(inline)]
pub use bowline_macros::{prompt, prompts, resource, resources, tool, tools};

#[cfg(feature = "http")]
#[doc(inline)]
pub use bowline_server::http;

#[cfg(feature = "http")]
pub mod store;

#[cfg(feature = "tracing")]
#[doc(inline)]
pub use bowline_server::trace;

// Clients.

#[cfg(feature = "client")]
pub mod client;

#[cfg(feature = "client")]
#[doc(inline)]
pub use bowline_client::{Client, ClientExtension, Command, Question, Restart};

// Both.

#[cfg(any(feature = "auth-client", feature = "auth-server"))]
pub mod auth;

#[cfg(feature = "otel")]
#[doc(inline)]
pub use bowline_otel as otel;

#[cfg(feature = "skills")]
pub mod skills;

#[cfg(feature = "skills")]
#[doc(inline)]
pub use bowline_skills::Skills;

#[cfg(all(feature = "macros", feature = "http", feature = "http-client"))]
pub mod manual;

#[cfg(all(feature = "macros", feature = "server"))]
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
