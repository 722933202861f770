//! What the macros write, beyond the public API; nobody else should use it.
//!
//! The traits tell what is wrong with a type in a signature. Each has two implementations for every
//! type, one of which never applies: with a single one the compiler would look into it and complain
//! about its bounds one by one, with two it stops at the trait and shows the message that is here.

pub use schemars;
pub use serde;

use bowline_server::IntoToolResult;
use bowline_server::extract::FromCall;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// A type that an argument can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be an argument",
    label = "cannot be read from the arguments of a call",
    note = "an argument implements `serde::Deserialize` and `schemars::JsonSchema`: derive both",
    note = "if the server provides it, mark the parameter with `#[ctx]`"
)]
pub trait Argument<Kind>: DeserializeOwned + JsonSchema + Send + 'static {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Send + 'static> Argument<Fit> for T {}

#[diagnostic::do_not_recommend]
impl<T: DeserializeOwned + JsonSchema + Nothing> Argument<Unfit> for T {}

/// A type that an extractor can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an extractor",
    label = "cannot be taken from a call",
    note = "an extractor of your own implements `bowline::FromCall`",
    note = "if the client sends it, mark the parameter with `#[arg]`"
)]
pub trait Extractor<Kind>: FromCall {}

#[diagnostic::do_not_recommend]
impl<T: FromCall> Extractor<Fit> for T {}

#[diagnostic::do_not_recommend]
impl<T: FromCall + Nothing> Extractor<Unfit> for T {}

/// A type that the result of a tool can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "cannot be sent to the client",
    note = "a result is text, a number, `bool`, `()`, `Content`, `Vec<Content>`, or `Json<T>` for a \
            type that implements `serde::Serialize` and `schemars::JsonSchema`",
    note = "it may be the `Ok` of a `Result` whose error `?` turns into `bowline::Error`"
)]
pub trait ToolOutput<Kind>: IntoToolResult + 'static {}

#[diagnostic::do_not_recommend]
impl<T: IntoToolResult + 'static> ToolOutput<Fit> for T {}

#[diagnostic::do_not_recommend]
impl<T: IntoToolResult + Nothing> ToolOutput<Unfit> for T {}

/// Marks the implementation that applies.
#[derive(Debug)]
pub enum Fit {}

/// Marks the implementation that never does.
#[derive(Debug)]
pub enum Unfit {}

/// What no type is.
trait Nothing: Send + 'static {}
