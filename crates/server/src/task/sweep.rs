//! Searches for tasks of servers that have stopped, when a server starts and from time to time.
//!
//! A request for a task finds out itself whether it was abandoned (`abandoned`). This is for tasks
//! that no client asks for. A search reads one key, and one for each server that runs tasks, while
//! all servers are well: the records are read only if a server stopped while it ran tasks.

use std::collections::HashSet;
use std::sync::{Arc, Weak};
use std::time::Duration;

use bowline_proto::sync::lock;
use bowline_store::tasks::TaskStore;
use bowline_transport::task::spawn_on;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

use super::abandoned::take_over;
use super::records::{self, RecordError};
use crate::shared::ServerShared;

/// The time between two searches.
const INTERVAL: Duration = Duration::from_secs(5);

/// The time between two pages of records, so that many records do not keep the store busy.
const BETWEEN_PAGES: Duration = Duration::from_millis(50);

/// The most records of one page.
const PAGE: usize = 100;

/// Begins to search, unless that has begun, or no other server can have tasks in the store.
pub(super) fn begin(shared: &Arc<ServerShared>) {
    if shared.tasks.shared_store().is_none() {
        return;
    }
    let Ok(runtime) = Handle::try_current() else { return };
    let mut sweep = lock(&shared.tasks.sweep);
    if sweep.as_ref().is_none_or(JoinHandle::is_finished) {
        *sweep = Some(spawn_on(&runtime, keep_searching(Arc::downgrade(shared))));
    }
}

/// Searches again and again until the server is gone.
async fn keep_searching(server: Weak<ServerShared>) {
    loop {
        let Some(shared) = server.upgrade() else { return };
        // If the store fails, the next search may succeed.
        _ = search(&shared).await;
        drop(shared);
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Ends all abandoned tasks, or runs them again.
async fn search(shared: &Arc<ServerShared>) -> Result<(), RecordError> {
    let Some(store) = shared.tasks.shared_store() else { return Ok(()) };
    let stopped = stopped_servers(shared, &store).await?;
    if stopped.is_empty() {
        return Ok(());
    }
    let left = take_over_all(shared, &store, &stopped).await?;
    // Not before: if this server stops meanwhile, another one searches again.
    for replica in stopped.difference(&left) {
        // It may have come back meanwhile.
        if !store.has_lease(replica).await? {
            store.unregister(replica, shared.tasks.lease.registered()).await?;
        }
    }
    Ok(())
}

/// The servers that stopped while they ran tasks.
async fn stopped_servers(
    shared: &ServerShared,
    store: &TaskStore,
) -> Result<HashSet<String>, RecordError> {
    let mut stopped = HashSet::new();
    for replica in store.replicas().await? {
        if !shared.tasks.lease.is_own(&replica) && !store.has_lease(&replica).await? {
            stopped.insert(replica);
        }
    }
    Ok(stopped)
}

/// Takes over the tasks of servers that have stopped. Returns those servers that still have
/// abandoned tasks.
async fn take_over_all(
    shared: &Arc<ServerShared>,
    store: &TaskStore,
    stopped: &HashSet<String>,
) -> Result<HashSet<String>, RecordError> {
    let (mut left, mut after) = (HashSet::new(), None);
    loop {
        let names = store.names(after.as_ref(), PAGE).await?;
        for name in &names {
            let record = match records::read(store, name).await {
                Ok(record) => record,
                // It expired meanwhile.
                Err(RecordError::Unknown) => continue,
                Err(error) => return Err(error),
            };
            if record.has_ended() || !stopped.contains(record.replica()) {
                continue;
            }
            match take_over(shared, store, name, &record).await {
                Ok(true) | Err(RecordError::Unknown) => {}
                Err(error @ RecordError::Store(_)) => return Err(error),
                // This task must not keep others from being taken over.
                Ok(false) | Err(_) => _ = left.insert(record.replica().to_owned()),
            }
        }
        if names.len() < PAGE {
            return Ok(left);
        }
        after = names.into_iter().next_back();
        tokio::time::sleep(BETWEEN_PAGES).await;
    }
}
