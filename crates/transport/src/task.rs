//! Work that goes on by itself, in a task of its own.

use std::future::Future;

use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use crate::BoxFuture;

/// Runs something in a task of its own, on the runtime that we run on.
///
/// It goes into a box. Tokio makes code for each kind of future that it is given, once for each kind
/// of runtime; what happens now and then is not worth that.
///
/// # Panics
///
/// Outside of a runtime.
pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    spawn_on(&Handle::current(), work)
}

/// The same on any runtime.
pub fn spawn_on(
    runtime: &Handle,
    work: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<()> {
    let work: BoxFuture<()> = Box::pin(work);
    runtime.spawn(work)
}
