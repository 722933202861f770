//! Extractors: what a handler can take as parameters.
//!
//! | parameter | what it is |
//! |---|---|
//! | [`Args<T>`](Args) | the arguments, decoded and checked |
//! | [`State<T>`](State) | what the server was given with `.state(..)` |
//! | [`Context`] | everything else about the call: revision, client, `_meta`, owner, extensions |
//! | [`Progress`] | tells the caller how far the call has come |
//! | [`Log`] | sends the caller log messages |
//! | [`Ask`] | asks the user for input |
//! | [`Cancel`] | lets the handler clean up after a cancellation, instead of being dropped |
//!
//! A type of your own becomes one by implementing [`FromCall`].

use std::future::Future;

use crate::call::Call;
use crate::error::Result;
use crate::signature::Signature;

mod args;
mod ask;
mod cancel;
mod context;
mod log;
mod progress;
mod state;

pub use args::Args;
pub use ask::{Ask, AskError, Asking};
pub use cancel::Cancel;
pub use context::Context;
pub use log::Log;
pub use progress::{Amount, Bar, Progress};
pub use state::State;

pub(crate) use ask::{Pause, Rounds};
pub(crate) use state::States;

/// A parameter of a handler.
///
/// ```
/// use bowline_server::{Call, Result, Signature, extract::FromCall};
///
/// /// The tenant that an outer layer found out.
/// #[derive(Clone)]
/// struct Tenant(String);
///
/// impl FromCall for Tenant {
///     async fn from_call(call: &Call) -> Result<Self> {
///         let tenant = call.parts().extensions.get::<Tenant>();
///         tenant.cloned().ok_or_else(|| "this call belongs to no tenant".into())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a handler",
    label = "not an extractor",
    note = "parameters are extractors: \
            `Args<T>`, `State<T>`, `Context`, `Progress`, `Log`, `Cancel`, `Ask`",
    note = "to take it from the arguments of the call, put it into a struct and take `Args<..>`, \
            or use `#[tool]`"
)]
pub trait FromCall: Sized + Send + 'static {
    /// Says what it means for a handler to have this parameter; by default nothing.
    fn describe(signature: &mut Signature) {
        _ = signature;
    }

    /// Takes the value out of a call.
    ///
    /// # Errors
    ///
    /// What fails here is answered as if the handler had failed with it.
    fn from_call(call: &Call) -> impl Future<Output = Result<Self>> + Send;
}
