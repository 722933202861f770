//! The Model Context Protocol in Rust: servers and clients for every revision.
//!
//! The [protocol](https://modelcontextprotocol.io) lets language models use programs. A program
//! offers *tools*, a model calls them, and an application with a model in it stands between the
//! two. With this crate tools are functions.
//!
//! # A server in ten lines
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
//! It speaks over standard input and output, which is how most applications start servers, and it
//! speaks all revisions of the protocol, from 2024-11-05 to 2026-07-28: which one is the client's
//! choice, and no handler can tell. [`tool`](macro@tool) says all about arguments and their
//! descriptions. The `manual`, a module of this crate, has a chapter on everything.
//!
//! # State and errors
//!
//! What all calls share is given to the server once and taken as [`State`]. If it is missing, the
//! server does not start. Whatever leaves a tool by `?` is told to the model, which can then do
//! better; [`Error::rpc`] is for the rare errors that are the client's.
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
//! /// Find the phone number of somebody
//! #[tool(read_only)]
//! async fn phone(State(phones): State<Phones>, name: String) -> bowline::Result<String> {
//!     let number = phones.0.get(&name);
//!     Ok(number.cloned().ok_or_else(|| format!("nobody is called {name}; ask for the full name"))?)
//! }
//!
//! /// List everybody whose number is known
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
//! [`Json`] is a result for programs: it has a schema, and it is sent as text too. [`respond`]
//! lists what else a tool may return.
//!
//! # Resources and prompts
//!
//! Tools are for models. [`Resource`]s are for the application to read, one by one or as families
//! of URIs, and [`Prompt`]s for the user to choose. Both are functions as well, and what users fill in
//! can be completed while they type.
//!
//! ```
//! use bowline::{Json, Server, prompt, prompts, resource, resources, starting_with};
//! use serde_json::{Value, json};
//!
//! /// What is known of a user
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
//! Other parameters let a tool talk to its caller: [`Progress`] tells how far it has come, [`Ask`]
//! asks the user, [`Log`] and [`Context`] do what they say. A call that is cancelled is dropped; who
//! needs to clean up takes [`Cancel`]. Prompts and resources can take all of these too.
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
//! `#[tool]` writes nothing that you could not. A handler is any async function of extractors, and
//! [`Args`] is the one that holds the arguments:
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
//! Every request passes the server's tower layers, every call of a tool that tool's own. Both take
//! any [`tower`](https://docs.rs/tower) layer; [`layer`] has some, and makes one of a function.
//!
//! ```
//! use std::time::Duration;
//!
//! use bowline::layer::{self, Next, Timeout};
//! use bowline::proto::request::{Request, Response};
//! use bowline::{Server, Tool};
//! use tower::limit::ConcurrencyLimitLayer;
//!
//! async fn audit(request: Request, next: Next) -> Response {
//!     eprintln!("{}", request.parts.method);
//!     next.run(request).await
//! }
//!
//! let report = Tool::new("report", || async { "all is well" }).describe("Report on everything");
//! let server = Server::new("api", "1.0.0")
//!     .tool(report.layer(ConcurrencyLimitLayer::new(4)))
//!     .layer(Timeout::new(Duration::from_secs(30)))
//!     .layer(layer::from_fn(audit));
//! ```
//!
//! # A client
//!
//! With the feature `client`, a `Client` starts a server, or takes any other transport, and finds
//! out by itself which revision it speaks. Dropping a call cancels it.
//!
//! ```no_run
//! # #[cfg(feature = "client")]
//! # async fn example() -> bowline::client::Result<()> {
//! use std::time::Duration;
//!
//! use bowline::{Client, Command};
//! use serde_json::json;
//!
//! let git = Client::connect(Command::new("uvx").arg("mcp-server-git")).await?;
//! for tool in git.tools().all().await? {
//!     println!("{}", tool.display_name());
//! }
//! let status = git.call("git_status", json!({ "repo_path": "." }));
//! println!("{}", status.timeout(Duration::from_secs(30)).await?.text());
//! git.close().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Several servers
//!
//! A server stands for others: [`Server::mount`] takes another server, or a `Client` that is
//! connected to one. What is a tool `forecast` there is `weather__forecast` here.
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
//! `bowline-testing` connects a client to a server, and [`test`](macro@test) runs such a test once
//! for each era of the protocol and each transport.
//!
//! # Features
//!
//! * `server` (default): write servers.
//! * `macros` (default): [`tool`](macro@tool), [`resource`](macro@resource), [`prompt`](macro@prompt),
//!   the lists of them, and [`test`](macro@test).
//! * `client`: write clients, and start servers as child processes.
//! * `tracing`: send what handlers log by `tracing` to clients.
//!
//! # Crates
//!
//! This crate only re-exports others: [`types`] has the words of the protocol, [`proto`] its rules
//! without any I/O, [`transport`] carries messages. What servers and clients are written with is at
//! the root here.

#[doc(inline)]
pub use {bowline_proto as proto, bowline_transport as transport, bowline_types as types};

pub mod prelude;

#[cfg(all(feature = "server", feature = "client", feature = "macros"))]
pub mod manual;

#[cfg(feature = "server")]
#[doc(inline)]
pub use {
    bowline_server::extract::FromCall,
    bowline_server::{
        Answer, Args, Ask, AskError, BoxError, BuildError, Call, Cancel, Context, Definition,
        Elicited, Error, Feature, Handler, IntoCompletion, IntoPromptResult, IntoResourceResult,
        IntoToolResult, Json, List, Log, Notify, Progress, Prompt, PromptFn, Registry, Resource,
        ResourceFn, Result, ServeError, Server, Service, Signature, State, StateKey,
        TemplateHandler, Tool, ToolFn, Typed, Uri, extract, layer, resembling, respond,
        starting_with,
    },
    bowline_types::content::Content,
};

#[cfg(feature = "http")]
#[doc(inline)]
pub use bowline_server::http;

#[cfg(feature = "tracing")]
#[doc(inline)]
pub use bowline_server::trace;

#[cfg(feature = "client")]
#[doc(inline)]
pub use {
    bowline_client as client,
    bowline_client::{Client, Command, Question, Restart},
};

#[cfg(feature = "macros")]
#[doc(inline)]
pub use bowline_macros::test;

#[cfg(all(feature = "macros", feature = "server"))]
#[doc(inline)]
pub use bowline_macros::{prompt, prompts, resource, resources, tool, tools};

#[cfg(all(feature = "macros", feature = "server"))]
#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
