//! Handlers with their types erased.
//!
//! A handler is any async function with extractors as parameters. Registries need one type for all
//! of them; the types of parameters and result are used up here, when the handler is registered.

use std::future::Future;
use std::sync::Arc;

use futures_core::future::BoxFuture;

use super::Handler;
use crate::call::Call;
use crate::error::Result;
use crate::extract::require_visits;

/// A handler that gives an `R`, whatever its function takes and returns. It runs when the future is
/// polled.
pub(crate) type ErasedHandler<R> = Arc<dyn Fn(Call) -> BoxFuture<'static, Result<R>> + Send + Sync>;

/// Forgets the type of a handler, and remembers how an `R` is made of what it returns. `respond`
/// turns what the function returned into the result of its kind of feature.
pub(crate) fn erase<M, H, R>(
    handler: H,
    respond: fn(H::Output, &Call) -> Result<R>,
) -> ErasedHandler<R>
where
    M: 'static,
    H: Handler<M>,
    H::Output: 'static,
    R: 'static,
{
    erase_call(move |call: Call| handler.clone().call(call), respond)
}

/// The same for anything that can be called.
pub(crate) fn erase_call<F, Running, T, R>(
    function: F,
    respond: fn(T, &Call) -> Result<R>,
) -> ErasedHandler<R>
where
    F: Fn(Call) -> Running + Send + Sync + 'static,
    Running: Future<Output = Result<T>> + Send + 'static,
    T: 'static,
    R: 'static,
{
    Arc::new(move |call| {
        let running = function(call.clone());
        Box::pin(async move {
            let error = match running.await.and_then(|output| respond(output, &call)) {
                Ok(output) => return Ok(output),
                Err(error) => error,
            };
            match error.into_visits() {
                Ok(visits) => Err(require_visits(call, visits).await),
                Err(error) => Err(error),
            }
        })
    })
}
