//! Functions as handlers.
//!
//! Any `async fn` whose parameters are extractors is a handler. What it returns decides what it can
//! handle: [`Tool::new`](crate::Tool::new) wants a result that a tool can give.

use std::future::Future;

use crate::call::Call;
use crate::error::{Error, Result};
use crate::extract::{HandlerFn, Parameters};
use crate::signature::HandlerSignature;

mod erased;
mod template;

pub(crate) use erased::{ErasedHandler, erase, erase_call};
pub use template::TemplateHandler;

/// A function that serves calls: an async function or closure of up to twelve parameters, each of
/// which is an extractor ([`FromCall`](crate::extract::FromCall)). `M` only distinguishes the arities; users never
/// write it.
///
/// Implemented for every [`HandlerFn`] whose parameters are extractors, and for nothing else. There
/// is one implementation for all arities, so the compiler can say which parameter is wrong, and not
/// only that the function is no handler.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a handler",
    label = "not a handler",
    note = "a handler is an `async fn` whose parameters are extractors: \
            `Args<T>`, `State<T>`, `Context`, `Progress`, `Log`, `Cancel`, `Ask`, `Registry`, \
            `Notify`",
    note = "it must be `Clone + Send + Sync + 'static`, and hold nothing over an `.await` that is not \
            `Send`, such as an `Rc`",
    note = "`#[tool]` turns plain parameters into arguments, and takes functions that are not async"
)]
pub trait Handler<M>: Clone + Send + Sync + 'static {
    /// What the function returns.
    type Output;

    /// Adds what the parameters declare.
    fn describe(signature: &mut HandlerSignature);

    /// Extracts the parameters and calls the function.
    fn call(self, call: Call)
    -> impl Future<Output = Result<Self::Output, Error>> + Send + 'static;
}

impl<F, M> Handler<M> for F
where
    M: 'static,
    F: HandlerFn<M>,
    F::Parameters: Parameters,
{
    type Output = <F::Returned as Future>::Output;

    fn describe(signature: &mut HandlerSignature) {
        F::Parameters::describe(signature);
    }

    async fn call(self, call: Call) -> Result<Self::Output, Error> {
        let parameters = F::Parameters::from_call(&call).await?;
        Ok(self.apply(parameters).await)
    }
}
