//! Looks for tasks of servers that have stopped, when a server starts and from time to time.
//!
//! Clients that ask for their tasks find such tasks themselves (`abandoned`). This is for tasks that
//! no client asks for. A look costs one short scan while all servers are well: the records are read
//! only if a server stopped while it ran tasks.

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

/// The time between two looks.
const INTERVAL: Duration = Duration::from_secs(5);

/// The time between two pages of records, so that many records do not keep the store busy.
const BETWEEN_PAGES: Duration = Duration::from_millis(50);

/// The most records of one page, and the most servers of one look.
const PAGE: usize = 100;

/// Begins to look, unless that has begun, or no other server can have tasks in the store.
pub(super) fn begin(shared: &Arc<ServerShared>) {
    if shared.tasks.shared_store().is_none() {
        return;
    }
    let Ok(runtime) = Handle::try_current() else { return };
    let mut sweep = lock(&shared.tasks.sweep);
    if sweep.as_ref().is_none_or(JoinHandle::is_finished) {
        *sweep = Some(spawn_on(&runtime, keep_looking(Arc::downgrade(shared))));
    }
}

/// Looks again and again until the server is gone.
async fn keep_looking(server: Weak<ServerShared>) {
    loop {
        let Some(shared) = server.upgrade() else { return };
        // If the store fails, the next look may succeed.
        _ = look(&shared).await;
        drop(shared);
        tokio::time::sleep(INTERVAL).await;
    }
}

/// Ends all abandoned tasks, or runs them again.
async fn look(shared: &Arc<ServerShared>) -> Result<(), RecordError> {
    let Some(store) = shared.tasks.shared_store() else { return Ok(()) };
    let mut stopped = HashSet::new();
    for replica in store.replicas(PAGE).await? {
        if !shared.tasks.lease.is_own(&replica) && !store.has_lease(&replica).await? {
            stopped.insert(replica);
        }
    }
    if stopped.is_empty() {
        return Ok(());
    }
    take_over_all(shared, &store, &stopped).await?;
    // Not before: if this server stops meanwhile, another one looks again.
    for replica in &stopped {
        store.unregister(replica).await?;
    }
    Ok(())
}

/// Takes over the tasks of servers that have stopped.
async fn take_over_all(
    shared: &Arc<ServerShared>,
    store: &TaskStore,
    stopped: &HashSet<String>,
) -> Result<(), RecordError> {
    let mut after = None;
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
                Ok(()) | Err(RecordError::Unknown) => {}
                Err(error) => return Err(error),
            }
        }
        if names.len() < PAGE {
            return Ok(());
        }
        after = names.into_iter().next_back();
        tokio::time::sleep(BETWEEN_PAGES).await;
    }
}
