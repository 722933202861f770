//! The macros of [bowline], the Model Context Protocol in Rust.
//!
//! Nothing here is needed: whatever a macro writes, people can write with the builders of the
//! library. Use it through `bowline`, which re-exports everything.
//!
//! In reading order: an attribute's words (`attr`), the function it stands on (`function`), its
//! parameters (`param`) and comments (`docs`), then what is written for them (`tool` with `slot` and
//! `input`, `test`, `list`). Mistakes are collected in `check`.
//!
//! [bowline]: https://docs.rs/bowline

mod attr;
mod check;
mod docs;
mod function;
mod input;
mod list;
mod param;
mod slot;
mod test;
mod tool;

use proc_macro::TokenStream;

/// Makes a tool of a function.
///
/// The function stays what it was and can be called and tested as before. Beside it, under the same
/// name, stands the tool: [`tools!`] lists it.
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
/// # Words
///
/// `#[tool(read_only, title = "Search")]`
///
/// | word | meaning |
/// |---|---|
/// | `name = ".."` | what clients call it, if not by the function's name |
/// | `title = ".."` | what people see |
/// | `describe = ..` | what the model reads instead of the doc comment; any expression that is text |
/// | `read_only` | changes nothing |
/// | `destructive` | may delete or overwrite; what clients believe if nothing is said |
/// | `additive` | changes things, but only ever adds to them |
/// | `idempotent` | calling it again with the same arguments changes nothing more |
/// | `closed_world` | works on a closed set of things and does not reach out |
///
/// # Arguments
///
/// Each parameter is an argument that the client sends by its name. Its type implements
/// `serde::Deserialize` and `schemars::JsonSchema`. A doc comment describes it to the model, and an
/// `Option` may be left out. `#[arg(..)]` says more:
///
/// | word | meaning |
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
/// Parameters of the types `State<T>`, `Context`, `Progress`, `Cancel`, `Log`, `Ask` and `Claims`
/// come from the server. So do those of your own extractor types if they are marked `#[ctx]`. The
/// names decide, so an argument whose type happens to be called `Context` is marked `#[arg]`.
/// `Args<T>` takes all arguments in one value, and then it is the only argument.
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
/// # Limits
///
/// The function stands on its own, not in an `impl`, and is not generic. A module of the same name
/// cannot stand beside it. The crate must be reachable as `bowline`.
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
/// A name may stand under a `#[cfg(..)]`. "Expected type, found function" means that the function
/// has no `#[tool]`.
#[proc_macro]
pub fn tools(names: TokenStream) -> TokenStream {
    list::expand_tools(names.into()).into()
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
/// The tests of this one are called `asks_before_it_deploys::modern_stdio` and so on.
#[proc_macro_attribute]
pub fn test(words: TokenStream, function: TokenStream) -> TokenStream {
    test::expand(words.into(), function.into()).into()
}
