//! The lease of this server: how other processes see that the one that runs a task has not stopped.
//!
//! A server that runs tasks renews a key of the store, which expires soon after the server's process
//! stops. A record names the server that runs its task. So a reader that finds a running task whose
//! server has no lease knows that the task was abandoned.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bowline_proto::sync::lock;
use bowline_store::tasks::TaskStore;
use bowline_transport::task::spawn;
use tokio::sync::{Mutex as AsyncMutex, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::records::{RecordError, new_id};

/// How long a lease lasts.
const LEASE: Duration = Duration::from_secs(10);

/// How often a server renews its lease while it runs tasks. Two renewals may fail before the lease
/// ends.
const RENEWAL: Duration = Duration::from_secs(3);

/// The lease of a server, and the tasks that it runs.
pub(super) struct Lease {
    /// The id of the server among those that share its store. Chosen when the first task begins.
    id: OnceLock<String>,
    /// The ids of the tasks that run here.
    running: Mutex<HashSet<String>>,
    /// Held across writes, so that the keys are never removed while a task begins.
    held: AsyncMutex<HeldLease>,
    /// Counts how often the lease ended although tasks ran.
    lapses: watch::Sender<u64>,
    /// How long the store keeps a task at most.
    longest_ttl: Duration,
}

#[derive(Default)]
struct HeldLease {
    /// When the lease was written last.
    written: Option<Instant>,
    /// When the server was registered last.
    registered: Option<Instant>,
    renewal: Option<JoinHandle<()>>,
}

impl Lease {
    pub(super) fn new(longest_ttl: Duration) -> Self {
        let (lapses, _) = watch::channel(0);
        let (id, running, held) = Default::default();
        Self { id, running, held, lapses, longest_ttl }
    }

    /// Enters a task that is about to run here. The lease is written before this returns, so no
    /// reader takes the task for an abandoned one. `None` if the task runs here already.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(super) async fn enter(
        self: &Arc<Self>,
        store: &TaskStore,
        task: &str,
    ) -> Result<Option<RunningTask>, RecordError> {
        let replica = self.id()?.to_owned();
        if !lock(&self.running).insert(task.to_owned()) {
            return Ok(None);
        }
        // Leaves the task again if the lease cannot be written.
        let lapses = self.lapses.subscribe();
        let entered = RunningTask { lease: self.clone(), replica, task: task.to_owned(), lapses };
        let mut held = self.held.lock().await;
        if held.written.is_none_or(|written| written.elapsed() > LEASE / 2) {
            self.write(store, &mut held).await?;
        }
        if held.renewal.as_ref().is_none_or(JoinHandle::is_finished) {
            held.renewal = Some(spawn(self.clone().renew(store.clone())));
        }
        Ok(Some(entered))
    }

    /// Whether the server that runs a task has stopped. A task of this server is abandoned if it
    /// does not run: then the runtime that ran it is gone.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(super) async fn has_abandoned(
        &self,
        store: &TaskStore,
        replica: &str,
        task: &str,
    ) -> Result<bool, RecordError> {
        match self.is_own(replica) {
            true => Ok(!lock(&self.running).contains(task)),
            false => Ok(!store.has_lease(replica).await?),
        }
    }

    /// Whether this is the id of this server.
    pub(super) fn is_own(&self, replica: &str) -> bool {
        self.id.get().is_some_and(|own| own == replica)
    }

    fn id(&self) -> Result<&str, RecordError> {
        if let Some(id) = self.id.get() {
            return Ok(id);
        }
        let id = new_id()?;
        Ok(self.id.get_or_init(|| id))
    }

    /// Renews the lease until no task runs.
    async fn renew(self: Arc<Self>, store: TaskStore) {
        loop {
            tokio::time::sleep(RENEWAL).await;
            let mut held = self.held.lock().await;
            if lock(&self.running).is_empty() {
                // The lease may expire by itself: it says nothing about tasks that have ended.
                if let Some(id) = self.id.get() {
                    _ = store.unregister(id).await;
                }
                *held = HeldLease::default();
                return;
            }
            // If the store fails, the next renewal may come in time.
            _ = self.write(&store, &mut held).await;
        }
    }

    /// Writes the lease, and registers the server if it is not registered.
    async fn write(&self, store: &TaskStore, held: &mut HeldLease) -> Result<(), RecordError> {
        let (id, now) = (self.id()?, Instant::now());
        let has_lapsed = held.written.is_some_and(|written| now - written >= LEASE);
        let is_due = |registered: Instant| now - registered >= self.longest_ttl;
        // Other servers remove the registration of one that seems to have stopped.
        if has_lapsed || held.registered.is_none_or(is_due) {
            let expiry = self.longest_ttl.saturating_mul(2).saturating_add(LEASE);
            store.register(id, expiry).await?;
            held.registered = Some(now);
        }
        store.renew_lease(id, LEASE).await?;
        held.written = Some(now);
        if has_lapsed {
            self.lapses.send_modify(|count| *count += 1);
        }
        Ok(())
    }
}

/// A task that runs on this server, until it is dropped.
pub(super) struct RunningTask {
    lease: Arc<Lease>,
    replica: String,
    task: String,
    lapses: watch::Receiver<u64>,
}

impl RunningTask {
    /// The id of this server.
    pub(super) fn replica(&self) -> &str {
        &self.replica
    }

    /// Waits until the server has its lease again after it lost it: another server may have taken
    /// the task meanwhile. Cancel-safe.
    pub(super) async fn lapsed(&mut self) {
        if self.lapses.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        lock(&self.lease.running).remove(&self.task);
    }
}
