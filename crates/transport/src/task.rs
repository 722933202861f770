//! Spawns background work.
//!
//! For tasks that belong to no connection's driver, such as the end of a session over HTTP.

use std::future::Future;

use futures_core::future::BoxFuture;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Spawns a task on the current runtime.
///
/// The future is boxed. Tokio's `spawn` is compiled once for each type of future and each kind of
/// runtime; boxing keeps the binary small where a task is rarely spawned.
///
/// # Panics
///
/// Outside of a runtime.
pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    spawn_on(&Handle::current(), work)
}

/// Spawns a task on the given runtime; see [`spawn`].
pub fn spawn_on(
    runtime: &Handle,
    work: impl Future<Output = ()> + Send + 'static,
) -> JoinHandle<()> {
    let work: BoxFuture<'static, ()> = Box::pin(work);
    runtime.spawn(work)
}
