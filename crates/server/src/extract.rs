//! Extractors: what a handler can take as parameters.
//!
//! | parameter | what it is |
//! |---|---|
//! | [`Args<T>`](Args) | the arguments, decoded and checked |
//! | [`State<T>`](State) | what the server was given with `.state(..)` |
//! | [`Context`] | everything else about the call: revision, client, `_meta`, owner, extensions |
//! | [`Progress`] | sends the caller progress notifications |
//! | [`Log`] | sends the caller log messages |
//! | [`Ask`] | asks the user, the client's model, or for its roots |
//! | [`Elicited<T>`](Elicited) | what the user was asked before the handler ran |
//! | [`Cancel`] | lets the handler clean up after a cancellation, instead of being dropped |
//! | [`Claims`] | what the caller's verified credential says; `Option<Claims>` where there may be none |
//! | [`Registry`](crate::Registry) | the features of the server, to be changed |
//! | [`Notify`](crate::Notify) | notifies clients of what changed |
//! | [`Uri`] | the URI of the resource that is read |
//! | [`Typed`] | what the user has typed of an argument that is to be completed |
//! | [`Params<T>`](Params) | the params of a method or notification of an extension |
//!
//! A type of your own becomes one by implementing [`FromCall`].

use std::future::Future;

use crate::call::Call;
use crate::error::Result;
use crate::signature::HandlerSignature;

mod args;
mod ask;
mod cancel;
mod claims;
mod context;
mod elicited;
mod log;
mod parameters;
mod params;
mod progress;
mod state;
mod typed;
mod uri;
mod variable;

pub use args::Args;
pub use ask::{Ask, Asking, Sample, Sampled};
pub use cancel::Cancel;
pub use context::Context;
pub use elicited::Elicited;
pub use log::Log;
pub use parameters::{HandlerFn, Parameters};
pub use params::Params;
pub use progress::{Amount, Bar, Progress};
pub use state::State;
pub use typed::Typed;
pub use uri::Uri;
pub use variable::{Extracted, FromTemplate, Placed, Variable};

pub use bowline_proto::request::Claims;
pub use http::{HeaderMap, HeaderName, HeaderValue};

pub use crate::call::Roots;
pub use crate::error::{AskError, Unsupported, Visit};

pub(crate) use ask::{form, require_visits, ticket_admits};
pub(crate) use typed::CompletionInput;

/// A parameter of a handler.
///
/// ```
/// use bowline_server::{Call, Result, HandlerSignature, extract::FromCall};
///
/// /// The tenant that a layer around the HTTP endpoint found out.
/// #[derive(Clone)]
/// struct Tenant(String);
///
/// impl FromCall for Tenant {
///     async fn from_call(call: &Call) -> Result<Self> {
///         let tenant = call.extension::<Tenant>();
///         tenant.cloned().ok_or_else(|| "this call belongs to no tenant".into())
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a parameter of a handler",
    label = "not an extractor",
    note = "parameters are extractors: \
            `Args<T>`, `State<T>`, `Context`, `Progress`, `Log`, `Cancel`, `Ask`, `Claims`, \
            `Registry`, `Notify`",
    note = "to take it from the arguments of the call, put it into a struct and take `Args<..>`, \
            or use `#[tool]`"
)]
pub trait FromCall: Sized + Send + 'static {
    /// Adds what this parameter declares about its handler; by default that the handler may
    /// [answer callers differently](HandlerSignature::tells_callers_apart).
    fn describe(signature: &mut HandlerSignature) {
        signature.tells_callers_apart();
    }

    /// Takes the value out of a call.
    ///
    /// # Errors
    ///
    /// What fails here is answered as if the handler had failed with it.
    fn from_call(call: &Call) -> impl Future<Output = Result<Self>> + Send;
}
