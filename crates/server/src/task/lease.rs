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
use tokio::sync::{Mutex as AsyncMutex, Notify, watch};
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::limits::TaskLimits;
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
    /// Woken when a task has left.
    left: Notify,
    /// Counts how often the lease was renewed.
    renewals: watch::Sender<u64>,
    /// How long the store keeps a task at most.
    longest_ttl: Duration,
    /// The most tasks that run here.
    most: usize,
}

#[derive(Default)]
struct HeldLease {
    /// When the lease was written last.
    written: Option<Instant>,
    renewal: Option<JoinHandle<()>>,
}

impl Lease {
    pub(super) fn new(limits: &TaskLimits) -> Self {
        let (renewals, _) = watch::channel(0);
        let (id, running, held, left) = Default::default();
        Self {
            id,
            running,
            held,
            left,
            renewals,
            longest_ttl: limits.longest_ttl,
            most: limits.running,
        }
    }

    /// Enters a task that is about to run here. The lease is written before this returns, so no
    /// reader takes the task for an abandoned one.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(super) async fn enter(
        self: &Arc<Self>,
        store: &TaskStore,
        task: &str,
    ) -> Result<Entrance, RecordError> {
        let replica = self.id()?.to_owned();
        {
            let mut running = lock(&self.running);
            if running.len() >= self.most {
                return Ok(Entrance::Full);
            }
            if !running.insert(task.to_owned()) {
                return Ok(Entrance::RunsAlready);
            }
        }
        // Leaves the task again if the lease cannot be written.
        let renewals = self.renewals.subscribe();
        let task = task.to_owned();
        let mut entered = RunningTask { lease: self.clone(), replica, task, renewals };
        let mut held = self.held.lock().await;
        if held.written.is_none_or(|written| written.elapsed() > LEASE / 2) {
            self.write(store, &mut held).await?;
        }
        if held.renewal.as_ref().is_none_or(JoinHandle::is_finished) {
            held.renewal = Some(spawn(self.clone().renew(store.clone())));
        }
        entered.renewals.mark_unchanged();
        Ok(Entrance::Entered(entered))
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

    /// Waits until no task runs here.
    #[cfg(feature = "http")]
    pub(super) async fn idle(&self) {
        let mut left = std::pin::pin!(self.left.notified());
        loop {
            // Registered before it looks, so that it misses no task that leaves meanwhile.
            left.as_mut().enable();
            if lock(&self.running).is_empty() {
                return;
            }
            left.as_mut().await;
            left.set(self.left.notified());
        }
    }

    /// Whether this is the id of this server.
    pub(super) fn is_own(&self, replica: &str) -> bool {
        self.id.get().is_some_and(|own| own == replica)
    }

    /// How long servers that run tasks have to be known: as long as their tasks can be kept.
    pub(super) fn registered(&self) -> Duration {
        self.longest_ttl.saturating_add(LEASE)
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
                    _ = store.unregister(id, self.registered()).await;
                }
                *held = HeldLease::default();
                return;
            }
            // If the store fails, the next renewal may come in time.
            _ = self.write(&store, &mut held).await;
        }
    }

    /// Writes the lease, and registers the server: another one may have removed its registration
    /// because the lease was late.
    async fn write(&self, store: &TaskStore, held: &mut HeldLease) -> Result<(), RecordError> {
        let (id, now) = (self.id()?, Instant::now());
        store.register(id, self.registered()).await?;
        store.renew_lease(id, LEASE).await?;
        held.written = Some(now);
        self.renewals.send_modify(|count| *count += 1);
        Ok(())
    }
}

/// Whether a task may run here.
pub(super) enum Entrance {
    Entered(RunningTask),
    RunsAlready,
    /// The server runs [`TaskLimits::running`] tasks.
    Full,
}

/// A task that runs on this server, until it is dropped.
pub(super) struct RunningTask {
    lease: Arc<Lease>,
    replica: String,
    task: String,
    renewals: watch::Receiver<u64>,
}

impl RunningTask {
    /// The id of this server.
    pub(super) fn replica(&self) -> &str {
        &self.replica
    }

    /// Waits until the server has renewed its lease. If that was late, another server may have taken
    /// the task meanwhile. Cancel-safe.
    pub(super) async fn renewed(&mut self) {
        if self.renewals.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        lock(&self.lease.running).remove(&self.task);
        self.lease.left.notify_waiters();
    }
}
