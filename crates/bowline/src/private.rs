//! What the macros write, beyond the public API; nobody else should use it.
//!
//! The traits tell what is wrong with a type in a signature. Each has two implementations for every
//! type, one of which never applies: with a single one the compiler would look into it and complain
//! about its bounds one by one, with two it stops at the trait and shows the message that is here.

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
    note = "it may be the `Ok` of a `Result` whose error `?` turns into `bowline::Error`"
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
    note = "a result is text or `Content`, which the user says, `Vec<Content>`, `PromptMessage` or \
            `Vec<PromptMessage>`",
    note = "it may be the `Ok` of a `Result` whose error `?` turns into `bowline::Error`"
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
    /// What each call has of the value.
    type Handle;

    /// Makes the value one that calls can share.
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

/// Makes a value one that calls can share.
pub fn share<T: Shared<Kind>, Kind>(value: T) -> T::Handle {
    value.share()
}

/// Marks the implementation that applies.
#[derive(Debug)]
pub enum Fit {}

/// Marks the implementation that never does.
#[derive(Debug)]
pub enum Unfit {}

/// What no type is.
trait Nothing: Send + 'static {}
