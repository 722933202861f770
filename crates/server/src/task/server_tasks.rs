//! What a server needs to run its tasks beside their records.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use bowline_proto::request::{Request, Response};
use bowline_store::lease::WAIT_AFTER_OUTAGE;
use bowline_store::outages::Outages;
use bowline_store::tasks::{TaskName, TaskStore};
use bowline_store::{Backend, MemoryBackend};
use futures_core::future::BoxFuture;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::lease::Lease;
use super::limits::TaskLimits;
use super::quota::Quota;
use super::records::RecordError;
use super::sink::RunningSinks;
use crate::call::ServerShared;

/// What a server needs to run its tasks beside their records.
pub(crate) struct ServerTasks {
    /// What the server shares with the calls that run as tasks.
    pub(super) shared: Arc<ServerShared>,
    pub(super) limits: TaskLimits,
    /// In memory, unless it is set before the first task.
    backend: OnceLock<WatchedStore>,
    /// Questions that a `tasks/result` puts to the client at the moment: task and key. So of two
    /// requests for one result that this process serves only one asks.
    pub(super) carried: Mutex<HashSet<(String, String)>>,
    pub(super) lease: Arc<Lease>,
    pub(super) quota: Quota,
    /// Searches for tasks of servers that have stopped.
    pub(super) sweep: Mutex<Option<JoinHandle<()>>>,
    /// Whether tasks are stored in the memory of this process, for want of another store.
    is_in_memory: AtomicBool,
    /// Set when the server is built.
    pub(crate) recorded_call_runner: OnceLock<RecordedCallRunner>,
    pub(super) sinks: RunningSinks,
}

/// A store, and when it failed.
struct WatchedStore {
    backend: Arc<dyn Backend>,
    outages: Arc<Outages>,
}

impl WatchedStore {
    fn new(backend: Arc<dyn Backend>) -> Self {
        let (backend, outages) = Outages::watch(backend, || Instant::now().into_std());
        Self { backend, outages }
    }
}

/// Serves the call of a stored task again, below the layers of the server: those do not run. `None`
/// if the server is gone.
pub(crate) type RecordedCallRunner =
    Box<dyn Fn(Request) -> Option<BoxFuture<'static, Response>> + Send + Sync>;

impl ServerTasks {
    pub(crate) fn new(
        limits: TaskLimits,
        store: Option<Arc<dyn Backend>>,
        shared: Arc<ServerShared>,
    ) -> Self {
        let watched = store.map(WatchedStore::new);
        let backend = watched.map_or_else(OnceLock::new, OnceLock::from);
        let limits = limits.bounded();
        Self {
            shared,
            lease: Arc::new(Lease::new(&limits)),
            quota: Quota::new(limits.per_owner),
            limits,
            backend,
            carried: Mutex::default(),
            sinks: RunningSinks::default(),
            sweep: Mutex::default(),
            is_in_memory: AtomicBool::new(false),
            recorded_call_runner: OnceLock::new(),
        }
    }

    /// What the server shares with its calls.
    pub(crate) fn shared(&self) -> &Arc<ServerShared> {
        &self.shared
    }

    pub(super) fn store(&self) -> TaskStore {
        let memory = || {
            self.is_in_memory.store(true, Ordering::Relaxed);
            WatchedStore::new(Arc::new(MemoryBackend::default()))
        };
        self.limited(self.backend.get_or_init(memory))
    }

    /// Sets the store, unless there is one.
    #[cfg(feature = "http")]
    pub(crate) fn offer_store(&self, store: Arc<dyn Backend>) {
        _ = self.backend.set(WatchedStore::new(store));
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
        task: &TaskName,
    ) -> Result<bool, RecordError> {
        match self.lease.is_own(replica) {
            true => Ok(!self.lease.runs(task.id())),
            false => self.has_stopped(store, replica).await,
        }
    }

    /// Whether another server has stopped: it has no lease, although the store worked long enough
    /// for it to renew its lease.
    ///
    /// # Errors
    ///
    /// If the store fails.
    pub(super) async fn has_stopped(
        &self,
        store: &TaskStore,
        replica: &str,
    ) -> Result<bool, RecordError> {
        let has_lease = store.has_lease(replica).await?;
        let watched = self.backend.get();
        let has_failed =
            watched.is_some_and(|watched| watched.outages.was_within(WAIT_AFTER_OUTAGE));
        Ok(!has_lease && !has_failed)
    }

    /// The store, if other processes may have tasks in it.
    pub(super) fn shared_store(&self) -> Option<TaskStore> {
        let store = self.backend.get().filter(|_| !self.is_in_memory.load(Ordering::Relaxed))?;
        Some(self.limited(store))
    }

    /// Takes no more tasks of servers that have stopped, and waits until no task runs here. Tasks in
    /// the memory of this process are lost with it, so there is nothing to wait for.
    #[cfg(feature = "http")]
    pub(crate) async fn ended(&self) {
        self.lease.stop();
        if self.shared_store().is_some() {
            self.lease.idle().await;
        }
    }

    fn limited(&self, store: &WatchedStore) -> TaskStore {
        TaskStore::new(store.backend.clone()).with_longest_record(self.limits.record)
    }
}
