//! Searches for tasks of servers that have stopped, when a server starts and from time to time.
//!
//! A request for a task finds out itself whether it was abandoned (`abandoned`). This is for tasks
//! that no client asks for. A search reads one key, and one for each server that runs tasks, while
//! all servers are well. The tasks of a server are read only if it stopped while it ran some.

use std::sync::{Arc, Weak};
use std::time::Duration;

use bowline_proto::sync::lock;
use bowline_store::tasks::{RunningReplica, TaskName, TaskStore};
use bowline_transport::task::spawn_on;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::abandoned::take_over;
use super::records::{self, RecordError};
use super::server_tasks::ServerTasks;

/// The time between two searches.
const INTERVAL: Duration = Duration::from_secs(5);

/// The time between two pages of tasks, so that many tasks do not keep the store busy.
const BETWEEN_PAGES: Duration = Duration::from_millis(50);

/// How many slots of a server a page has.
const PAGE: usize = 100;

/// Begins to search, unless that has begun, or no other server can have tasks in the store.
pub(crate) fn begin(tasks: &Arc<ServerTasks>) {
    if tasks.shared_store().is_none() {
        return;
    }
    let Ok(runtime) = Handle::try_current() else { return };
    let mut sweep = lock(&tasks.sweep);
    if sweep.as_ref().is_none_or(JoinHandle::is_finished) {
        *sweep = Some(spawn_on(&runtime, keep_searching(Arc::downgrade(tasks))));
    }
}

/// Searches again and again until the server is gone.
async fn keep_searching(server: Weak<ServerTasks>) {
    loop {
        let Some(tasks) = server.upgrade() else { return };
        // If the store fails, the next search may succeed.
        _ = search(&tasks).await;
        drop(tasks);
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Ends all abandoned tasks, or runs them again.
async fn search(tasks: &Arc<ServerTasks>) -> Result<(), RecordError> {
    let Some(store) = tasks.shared_store() else { return Ok(()) };
    for replica in store.replicas().await? {
        if tasks.lease.is_own(&replica.name) {
            continue;
        }
        // Registered until then: if this server stops meanwhile, another one searches again.
        if take_over_all(tasks, &store, &replica).await? == Abandoned::None {
            store.unregister(&replica.name, tasks.lease.registered()).await?;
        }
    }
    Ok(())
}

/// What is known of the tasks of a server after a search.
#[derive(PartialEq)]
enum Abandoned {
    /// The server has stopped, and has no more tasks.
    None,
    /// The server runs, or has tasks that could not be taken over.
    Unknown,
}

/// Takes over the tasks of a server, if it has stopped.
async fn take_over_all(
    tasks: &Arc<ServerTasks>,
    store: &TaskStore,
    replica: &RunningReplica,
) -> Result<Abandoned, RecordError> {
    let mut abandoned = Abandoned::None;
    for slot in 0..replica.slots {
        if slot % PAGE == 0 {
            if slot > 0 {
                tokio::time::sleep(BETWEEN_PAGES).await;
            }
            // It may have come back meanwhile.
            if !tasks.has_stopped(store, &replica.name).await? {
                return Ok(Abandoned::Unknown);
            }
        }
        let Some(name) = store.slot(&replica.name, slot).await? else { continue };
        match take_over_one(tasks, store, &name, replica).await {
            Ok(true) | Err(RecordError::Unknown) => {}
            Err(error @ RecordError::Store(_)) => return Err(error),
            // This task must not keep others from being taken over.
            Ok(false) | Err(_) => abandoned = Abandoned::Unknown,
        }
    }
    match tasks.has_stopped(store, &replica.name).await? {
        true => Ok(abandoned),
        false => Ok(Abandoned::Unknown),
    }
}

/// Takes over a task of a server that has stopped, if it still belongs to that server. Returns
/// `false` if the task is still abandoned.
async fn take_over_one(
    tasks: &Arc<ServerTasks>,
    store: &TaskStore,
    name: &TaskName,
    replica: &RunningReplica,
) -> Result<bool, RecordError> {
    let record = records::read(store, name).await?;
    if record.has_ended() || !record.is_run_by(&replica.name) {
        return Ok(true);
    }
    take_over(tasks, store, name, &record).await
}
