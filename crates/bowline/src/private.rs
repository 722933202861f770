//! Items that the code of the macros uses beyond the public API. Only that code may use them.
//!
//! The traits give better compile errors for a wrong type in a signature. Each trait has two
//! implementations for every type, and one of them never applies. With a single implementation the
//! compiler would report its bounds one by one. With two it stops at the trait and shows the message
//! from here.

pub use schemars;
pub use serde;

use std::sync::Arc;

use bowline_server::extract::FromCall;
use bowline_server::{IntoPromptResult, IntoResourceResult, IntoToolResult};
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
    note = "a `Result<T, E>` is one if `T` is, and if `E` is text, `bowline::Error`, or a type that \
            implements `std::error::Error + Send + Sync`"
)]
pub trait ToolOutput<Kind>: IntoToolResult + 'static {}

#[diagnostic::do_not_recommend]
impl<T: IntoToolResult + 'static> ToolOutput<Fit> for T {}

#[diagnostic::do_not_recommend]
impl<T: IntoToolResult + Nothing> ToolOutput<Unfit> for T {}

/// A type that the result of a prompt can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a prompt",
    label = "cannot be sent to the client",
    note = "a result is text or `Content` (a message of the user), `Vec<Content>`, `PromptMessage` or \
            `Vec<PromptMessage>`",
    note = "a `Result<T, E>` is one if `T` is, and if `E` is text, `bowline::Error`, or a type that \
            implements `std::error::Error + Send + Sync`"
)]
pub trait PromptOutput<Kind>: IntoPromptResult + 'static {}

#[diagnostic::do_not_recommend]
impl<T: IntoPromptResult + 'static> PromptOutput<Fit> for T {}

#[diagnostic::do_not_recommend]
impl<T: IntoPromptResult + Nothing> PromptOutput<Unfit> for T {}

/// A type that the contents of a resource can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the contents of a resource",
    label = "cannot be sent to the client",
    note = "contents are text, bytes (`Vec<u8>`, `Bytes`), `ResourceContents` or a `Vec` of them, or \
            `Json<T>` for a type that implements `serde::Serialize`",
    note = "they may be in an `Option`, or the `Ok` of a `Result` whose error `?` turns into \
            `bowline::Error`"
)]
pub trait ResourceOutput<Kind>: IntoResourceResult + 'static {}

#[diagnostic::do_not_recommend]
impl<T: IntoResourceResult + 'static> ResourceOutput<Fit> for T {}

#[diagnostic::do_not_recommend]
impl<T: IntoResourceResult + Nothing> ResourceOutput<Unfit> for T {}

/// A type whose value many calls can use at the same time.
#[diagnostic::on_unimplemented(
    message = "calls cannot share a value of type `{Self}`",
    label = "cannot be used by several calls at the same time",
    note = "it is not `Send + Sync + 'static`: put what changes into a `Mutex` or an atomic, and own \
            the rest"
)]
pub trait Shared<Kind> {
    /// The shared form of the value, of which each call has a copy.
    type Handle;

    /// Turns the value into its shared form.
    fn share(self) -> Self::Handle;
}

#[diagnostic::do_not_recommend]
impl<T: Send + Sync + 'static> Shared<Fit> for T {
    type Handle = Arc<T>;

    fn share(self) -> Arc<T> {
        Arc::new(self)
    }
}

#[diagnostic::do_not_recommend]
impl<T: Nothing> Shared<Unfit> for T {
    type Handle = Arc<T>;

    fn share(self) -> Arc<T> {
        Arc::new(self)
    }
}

/// Turns a value into its shared form; see [`Shared`].
pub fn share<T: Shared<Kind>, Kind>(value: T) -> T::Handle {
    value.share()
}

/// Marks the implementation that applies.
#[derive(Debug)]
pub enum Fit {}

/// Marks the implementation that never applies.
#[derive(Debug)]
pub enum Unfit {}

/// Implemented by no type.
trait Nothing: Send + 'static {}
