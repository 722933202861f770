//! Handlers whose types nobody needs to know any more.

use std::future::Future;
use std::marker::PhantomData;
use std::sync::Arc;

use super::Handler;
use crate::call::Call;
use crate::error::Result;
use crate::layer::BoxFuture;

/// A handler that gives an `R`, whatever its function takes and returns.
pub(crate) type ErasedHandler<R> = Arc<dyn Erased<R>>;

pub(crate) trait Erased<R>: Send + Sync {
    /// Calls the handler, which runs when the future is polled.
    fn call(&self, call: Call) -> BoxFuture<Result<R>>;
}

/// Forgets the type of a handler, and remembers how an `R` is made of what it returns.
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
    erase_call(move |call: Call| {
        let running = handler.clone().call(call.clone());
        async move { respond(running.await?, &call) }
    })
}

/// The same for anything that can be called.
pub(crate) fn erase_call<F, Running, R>(function: F) -> ErasedHandler<R>
where
    F: Fn(Call) -> Running + Send + Sync + 'static,
    Running: Future<Output = Result<R>> + Send + 'static,
    R: 'static,
{
    Arc::new(Function { function, marker: PhantomData })
}

struct Function<F, R> {
    function: F,
    marker: PhantomData<fn() -> R>,
}

impl<F, Running, R> Erased<R> for Function<F, R>
where
    F: Fn(Call) -> Running + Send + Sync,
    Running: Future<Output = Result<R>> + Send + 'static,
{
    fn call(&self, call: Call) -> BoxFuture<Result<R>> {
        let running = (self.function)(call.clone());
        Box::pin(async move {
            let error = match running.await {
                Ok(output) => return Ok(output),
                Err(error) => error,
            };
            Err(error.settle(&call).await)
        })
    }
}
