//! The macros of [bowline], the Model Context Protocol in Rust.
//!
//! The macros are optional: everything that they write can be written with the builders of the
//! library. Use them through `bowline`, which re-exports them.
//!
//! Files in reading order: the words of an attribute (`attr`), the function under it (`function`),
//! its parameters (`param`) and doc comments (`docs`); the attributes (`tool`, `impl_block`,
//! `prompt`, `resource` with `template`), how their kinds differ (`kind`), and the code that is
//! written for all of them (`feature` with `param_names` and `input`, `list`). `test` is independent
//! of the others, and `check` collects mistakes.
//!
//! [bowline]: https://docs.rs/bowline

mod attr;
mod check;
mod docs;
mod feature;
mod function;
mod impl_block;
mod input;
mod kind;
mod list;
mod param;
mod param_names;
mod prompt;
mod resource;
mod template;
mod test;
mod tool;

use proc_macro::TokenStream;

use crate::kind::Kind;

/// Makes a tool of a function, or tools of methods.
///
/// The function itself does not change, and can be called and tested as before. The attribute adds a
/// type of the same name for the tool, which [`tools!`] uses.
///
/// ```
/// use bowline::{Server, tool, tools};
///
/// /// Add two numbers
/// #[tool]
/// async fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let server = Server::new("calculator", "1.0.0").tools(tools![add]);
/// ```
///
/// The doc comment is what the model reads about the tool. The function may be `async` or not; one
/// that is not must return quickly, because other calls wait for it.
///
/// # Options
///
/// `#[tool(read_only, title = "Search")]`
///
/// | option | meaning |
/// |---|---|
/// | `name = ".."` | what clients call it, if not by the function's name |
/// | `title = ".."` | what people see |
/// | `describe = ..` | what the model reads instead of the doc comment; any expression that is text |
/// | `require_scope = ".."` | only for callers with this scope (or these, with spaces between them) |
/// | `step_up_scope = ".."` | listed for all callers, but only callers with this scope may use it |
/// | `read_only` | changes nothing |
/// | `destructive` | may delete or overwrite; clients assume it of a tool without any of these options |
/// | `additive` | changes things, but only ever adds to them |
/// | `idempotent` | calling it again with the same arguments changes nothing more |
/// | `closed_world` | works on a closed set of things and does not reach out |
/// | `task` | runs as a task for clients that have tasks; `task = "required"`: only for them |
/// | `ui = "ui://.."` | the view that hosts with MCP Apps show for its results |
/// | `app_only`, `model_only` | only views may call it; only the model may call it |
///
/// # Arguments
///
/// Each parameter is an argument that the client sends by its name. Its type implements
/// `serde::Deserialize` and `schemars::JsonSchema`. A doc comment describes it to the model, and an
/// `Option` may be left out. `#[arg(..)]` has these options:
///
/// | option | meaning |
/// |---|---|
/// | `default`, `default = ..` | the value if the client sends none |
/// | `range = 1..=100` | the smallest and the largest number; others are refused before the call |
/// | `rename = ".."` | what clients call it |
/// | `describe = ..` | what the model reads instead of the doc comment |
///
/// ```
/// use bowline::tool;
///
/// /// Search the archive
/// #[tool(read_only)]
/// async fn search(
///     /// Words that must all occur
///     query: String,
///     /// How many results to give
///     #[arg(default = 20, range = 1..=100)]
///     limit: u32,
///     /// Only newer than this year
///     since: Option<u16>,
/// ) -> String {
///     format!("{limit} results for {query} since {since:?}")
/// }
/// ```
///
/// # Extractors
///
/// Parameters of the types `State<T>`, `Context`, `Progress`, `Cancel`, `Log`, `Ask`, `Elicited<T>`,
/// `Claims`, `Option<Claims>`, `Registry` and `Notify` come from the server. Mark a parameter of your own
/// extractor type with `#[ctx]`. The macro sees only the name of a type, so mark an argument whose type
/// happens to be called `Context` with `#[arg]`. `Args<T>` takes all arguments in one value; there can
/// be no other arguments then.
///
/// ```
/// use bowline::{Progress, State, tool};
///
/// #[derive(Clone)]
/// struct Archive;
///
/// /// Rebuild the index
/// #[tool(idempotent)]
/// async fn rebuild(State(archive): State<Archive>, progress: Progress, year: u16) {
///     // …
/// }
/// ```
///
/// # Methods
///
/// On an `impl`, the attribute makes tools of the methods that are marked as well. The method
/// `tools` is added, which turns a value into tools whose calls share it.
///
/// ```
/// use std::sync::Mutex;
///
/// use bowline::{Server, tool};
///
/// struct Notes(Mutex<Vec<String>>);
///
/// #[tool]
/// impl Notes {
///     /// Write something down
///     #[tool(additive)]
///     async fn note(&self, text: String) {
///         self.0.lock().unwrap().push(text);
///     }
///
///     /// Read everything that was written down
///     #[tool(read_only)]
///     async fn read(&self) -> String {
///         self.0.lock().unwrap().join("\n")
///     }
/// }
///
/// let notes = Notes(Mutex::default());
/// let server = Server::new("notes", "1.0.0").tools(notes.tools());
/// ```
///
/// # Layers and the rest of the builder
///
/// `name::tool()` is the [`Tool`] of a function, with `ToolFn` in scope. Its methods set what the options
/// above do not cover: layers, icons, which callers see it.
///
/// ```
/// use std::time::Duration;
///
/// use bowline::layer::Timeout;
/// use bowline::{Server, ToolFn, tool, tools};
///
/// /// Report on everything
/// #[tool]
/// async fn report() -> &'static str {
///     "all is well"
/// }
///
/// /// Search the archive
/// #[tool]
/// async fn search(query: String) -> String {
///     query
/// }
///
/// let slow = Timeout::new(Duration::from_secs(60));
/// let server = Server::new("api", "1.0.0")
///     .tool(report::tool().layer(slow))
///     .tools(tools![search].map(|tool| tool.layer(Timeout::new(Duration::from_secs(5)))));
/// # assert!(server.build().is_ok());
/// ```
///
/// # Limits
///
/// The function cannot be generic, but the type of an `impl` may be. There can be no module of the same
/// name. The crate must be reachable as `bowline`.
///
/// [`Tool`]: https://docs.rs/bowline/latest/bowline/struct.Tool.html
#[proc_macro_attribute]
pub fn tool(words: TokenStream, function: TokenStream) -> TokenStream {
    tool::expand(words.into(), function.into()).into()
}

/// Lists the tools of functions that are marked with [`#[tool]`](macro@tool), by their names.
///
/// ```
/// use bowline::{Server, tool, tools};
///
/// /// Say hello
/// #[tool]
/// fn hello(name: String) -> String {
///     format!("Hello, {name}!")
/// }
///
/// mod weather {
///     /// Forecast the weather
///     #[bowline::tool(read_only)]
///     pub async fn forecast(city: String) -> String {
///         format!("Sun in {city}")
///     }
/// }
///
/// let server = Server::new("greeter", "1.0.0").tools(tools![hello, weather::forecast]);
/// ```
///
/// `#[cfg(..)]` before a name is allowed. The compiler error "expected type, found function" means that
/// the function has no `#[tool]`.
#[proc_macro]
pub fn tools(names: TokenStream) -> TokenStream {
    list::expand(&Kind::TOOL, names.into()).into()
}

/// Makes a prompt of a function: messages that the user can choose.
///
/// The function itself does not change. The attribute adds a type of the same name for the prompt,
/// which [`prompts!`] uses.
///
/// ```
/// use bowline::{Server, Typed, prompt, prompts, starting_with};
///
/// /// Review code
/// #[prompt(title = "Code review")]
/// async fn review(
///     /// The language that it is written in
///     #[arg(complete = languages)]
///     language: String,
///     /// What to look for
///     focus: Option<String>,
/// ) -> String {
///     let focus = focus.unwrap_or("mistakes".into());
///     format!("Review this {language} code. Look for {focus}.")
/// }
///
/// async fn languages(typed: Typed) -> Vec<String> {
///     starting_with(typed, ["go", "python", "rust"])
/// }
///
/// let server = Server::new("reviewer", "1.0.0").prompts(prompts![review]);
/// # assert!(server.build().is_ok());
/// ```
///
/// It returns text or content, which become messages of the user, or messages of the user and the
/// assistant. The doc comment describes the prompt to the user.
///
/// # Options
///
/// | option | meaning |
/// |---|---|
/// | `name = ".."` | what clients call it, if not by the function's name |
/// | `title = ".."` | what people see |
/// | `describe = ..` | the description, instead of the doc comment; any expression that is text |
/// | `require_scope = ".."` | only for callers with this scope (or these, with spaces between them) |
/// | `step_up_scope = ".."` | listed for all callers, but only callers with this scope may use it |
///
/// # Arguments
///
/// Each parameter is an argument, unless it is an extractor, as with [`#[tool]`](macro@tool).
/// Clients send text, which is parsed as the type of the parameter: numbers, flags, names of an enum. A
/// doc comment describes an argument to the user, and an `Option` may be left out. `#[arg(..)]` has these
/// options:
///
/// | option | meaning |
/// |---|---|
/// | `complete = ..` | suggests values: an async function or closure of `Typed`, or any other handler |
/// | `default`, `default = ..` | the value if the user gives none |
/// | `range = 1..=100` | the smallest and the largest number; others are refused before the call |
/// | `rename = ".."` | what clients call it |
/// | `describe = ..` | what the user reads instead of the doc comment |
#[proc_macro_attribute]
pub fn prompt(words: TokenStream, function: TokenStream) -> TokenStream {
    prompt::expand(words.into(), function.into()).into()
}

/// Lists the prompts of functions that are marked with [`#[prompt]`](macro@prompt), by their names,
/// as [`tools!`] does with tools.
#[proc_macro]
pub fn prompts(names: TokenStream) -> TokenStream {
    list::expand(&Kind::PROMPT, names.into()).into()
}

/// Makes a resource of a function: something to read at a URI, or at all URIs of a template.
///
/// The function itself does not change. The attribute adds a type of the same name for the resource,
/// which [`resources!`] uses.
///
/// ```
/// use std::time::Duration;
///
/// use bowline::{Json, Server, resource, resources, starting_with};
/// use serde_json::{Value, json};
///
/// /// How the application is configured
/// #[resource("config://app", ttl = Duration::from_secs(60))]
/// async fn config() -> &'static str {
///     "log_level=info"
/// }
///
/// /// What is known of a user
/// #[resource("users://{user_id}/profile", private)]
/// async fn profile(
///     #[arg(complete = |typed| async move { starting_with(typed, ["1", "2", "42"]) })]
///     user_id: u64,
/// ) -> Option<Json<Value>> {
///     (user_id == 42).then(|| Json(json!({ "name": "Ada" })))
/// }
///
/// let server = Server::new("users", "1.0.0").resources(resources![config, profile]);
/// # assert!(server.build().is_ok());
/// ```
///
/// It returns text, bytes or `Json<T>`, each with its media type, or `ResourceContents` that set
/// everything themselves; `None` means that there is no such resource. A URI with names in braces is
/// a template (RFC 6570), and the variables are the function's parameters, by their names.
///
/// # Options
///
/// They follow the URI.
///
/// | option | meaning |
/// |---|---|
/// | `name = ".."` | its name for programs, if not that of the function |
/// | `title = ".."` | what people see |
/// | `describe = ..` | what the model reads instead of the doc comment; any expression that is text |
/// | `require_scope = ".."` | only for callers with this scope (or these, with spaces between them) |
/// | `step_up_scope = ".."` | listed for all callers, but only callers with this scope may use it |
/// | `mime = ".."` | the media type, if not that of what is returned |
/// | `size = ..` | how many bytes it holds; not for templates |
/// | `ttl = ..` | how long clients may cache the contents, a `Duration` |
/// | `private` | cached contents may only be shown to the caller that read them |
///
/// # Variables
///
/// Each parameter is a variable of the template, unless it is an extractor, as with
/// [`#[tool]`](macro@tool); `Uri` is an extractor here, too. A URI whose values cannot be read as the
/// types of the parameters does not exist. `#[arg(..)]` has these options:
///
/// | option | meaning |
/// |---|---|
/// | `complete = ..` | suggests values: an async function or closure of `Typed`, or any other handler |
/// | `default`, `default = ..` | the value where the URI has none |
/// | `range = 1..=100` | the smallest and the largest number; there are no resources with others |
/// | `rename = ".."` | what the template calls it |
#[proc_macro_attribute]
pub fn resource(words: TokenStream, function: TokenStream) -> TokenStream {
    resource::expand(words.into(), function.into()).into()
}

/// Lists the resources of functions that are marked with [`#[resource]`](macro@resource), by their
/// names, as [`tools!`] does with tools.
#[proc_macro]
pub fn resources(names: TokenStream) -> TokenStream {
    list::expand(&Kind::RESOURCE, names.into()).into()
}

/// Runs a test once for each era of the protocol and each transport.
///
/// The function takes the harness of the crate `bowline-testing`, which must be among the
/// dev-dependencies. Time is virtual: it stands still until everything waits for it.
///
/// ```text
/// #[bowline::test]
/// async fn asks_before_it_deploys(t: Harness) {
///     let client = t.connect(server()).answering(|question| question.accept(true)).await;
///     let answer = client.call("deploy", json!({ "env": "prod" })).await.unwrap();
///     assert_eq!(answer.text(), "Deployed to prod");
/// }
/// ```
///
/// The generated tests are called `asks_before_it_deploys::stdio::v2026_07_28` and so on, one for the
/// newest revision of each era. `#[bowline::test(every_revision)]` runs the function in all revisions; in
/// the two oldest ones a server cannot ask the user. `#[bowline::test(stateless)]` adds a server over HTTP
/// without sessions, which cannot ask older clients either.
#[proc_macro_attribute]
pub fn test(words: TokenStream, function: TokenStream) -> TokenStream {
    test::expand(words.into(), function.into()).into()
}
