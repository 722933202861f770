//! What a server needs to run its tasks beside their records.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use bowline_proto::request::{Request, Response};
use bowline_store::tasks::TaskStore;
use bowline_store::{Backend, MemoryBackend};
use futures_core::future::BoxFuture;
use tokio::task::JoinHandle;

use super::lease::Lease;
use super::limits::TaskLimits;
use super::quota::Quota;
use super::sink::RunningSinks;

/// What a server needs to run its tasks beside their records.
pub(crate) struct ServerTasks {
    pub(super) limits: TaskLimits,
    /// In memory, unless it is set before the first task.
    pub(crate) backend: OnceLock<Arc<dyn Backend>>,
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

/// Serves the call of a stored task again, below the layers of the server: those do not run. `None`
/// if the server is gone.
pub(crate) type RecordedCallRunner =
    Box<dyn Fn(Request) -> Option<BoxFuture<'static, Response>> + Send + Sync>;

impl ServerTasks {
    pub(crate) fn new(limits: TaskLimits, store: Option<Arc<dyn Backend>>) -> Self {
        let backend = store.map_or_else(OnceLock::new, OnceLock::from);
        let limits = limits.bounded();
        Self {
            lease: Arc::new(Lease::new(&limits)),
            limits,
            backend,
            carried: Mutex::default(),
            quota: Quota::default(),
            sinks: RunningSinks::default(),
            sweep: Mutex::default(),
            is_in_memory: AtomicBool::new(false),
            recorded_call_runner: OnceLock::new(),
        }
    }

    pub(super) fn store(&self) -> TaskStore {
        let memory = || {
            self.is_in_memory.store(true, Ordering::Relaxed);
            Arc::new(MemoryBackend::default()) as Arc<dyn Backend>
        };
        self.limited(self.backend.get_or_init(memory))
    }

    /// The store, if other processes may have tasks in it.
    pub(super) fn shared_store(&self) -> Option<TaskStore> {
        let backend = self.backend.get().filter(|_| !self.is_in_memory.load(Ordering::Relaxed))?;
        Some(self.limited(backend))
    }

    /// Waits until no task runs here. Tasks in the memory of this process are lost with it, so there
    /// is nothing to wait for.
    #[cfg(feature = "http")]
    pub(crate) async fn ended(&self) {
        if self.shared_store().is_some() {
            self.lease.idle().await;
        }
    }

    fn limited(&self, backend: &Arc<dyn Backend>) -> TaskStore {
        TaskStore::new(backend.clone()).with_longest_record(self.limits.record)
    }
}
