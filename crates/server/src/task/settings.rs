//! Where tasks are stored, and their limits.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bowline_proto::request::{Request, Response};
use bowline_store::tasks::TaskStore;
use bowline_store::{Backend, MemoryBackend};
use futures_core::future::BoxFuture;
use tokio::task::JoinHandle;

use super::lease::Lease;
use super::sink::RunningSinks;

/// Room for the state of a task without anything of its call.
const SHORTEST_RECORD: usize = 4096;

/// The limits of tasks. Set them with [`Server::task_limits`](crate::Server::task_limits).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskLimits {
    /// How long a task is kept, counted from its creation, unless the client asks for another time
    /// (2025-11-25): one hour. When the time is over, a task that still runs is dropped.
    pub ttl: Duration,
    /// The longest time that a client can ask for: one day.
    pub longest_ttl: Duration,
    /// The most tasks of one owner that are kept at a time, ended ones included: 1000. All callers
    /// without credentials are one owner.
    pub per_owner: usize,
    /// The most bytes of what the server stores of one task: 4 MiB. A result that does not fit fails
    /// the task, a question that does not fit fails, and an answer that does not fit is refused. The
    /// arguments of an idempotent tool are stored only if they fit into half of it; otherwise the
    /// call does not run again if its process stops. Less than 4 KiB counts as 4 KiB.
    pub record: usize,
    /// How long clients are asked to wait between two questions for a task: one second.
    pub poll_interval: Duration,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(60 * 60),
            longest_ttl: Duration::from_secs(24 * 60 * 60),
            per_owner: 1000,
            record: 4 * 1024 * 1024,
            poll_interval: Duration::from_secs(1),
        }
    }
}

/// What a server knows about its tasks beside their records.
pub(crate) struct TaskSettings {
    pub(crate) limits: TaskLimits,
    /// In memory, unless it is set before the first task.
    pub(crate) backend: OnceLock<Arc<dyn Backend>>,
    /// Questions that a `tasks/result` puts to the client at the moment: task and key. So of two
    /// requests for one result only one asks.
    pub(super) carried: Mutex<HashSet<(String, String)>>,
    pub(super) lease: Arc<Lease>,
    /// Looks for tasks of servers that have stopped.
    pub(super) sweep: Mutex<Option<JoinHandle<()>>>,
    /// Whether tasks are stored in the memory of this process, for want of another store.
    is_in_memory: AtomicBool,
    /// Serves a call of a stored task again. Set when the server is built.
    pub(crate) caller: OnceLock<Caller>,
    pub(super) sinks: RunningSinks,
}

/// Serves a request inside of the server's layers. `None` if the server is gone.
pub(crate) type Caller = Box<dyn Fn(Request) -> Option<BoxFuture<'static, Response>> + Send + Sync>;

impl TaskSettings {
    pub(crate) fn new(limits: TaskLimits, store: Option<Arc<dyn Backend>>) -> Self {
        let backend = store.map_or_else(OnceLock::new, OnceLock::from);
        Self {
            lease: Arc::new(Lease::new(limits.longest_ttl)),
            limits,
            backend,
            carried: Mutex::default(),
            sinks: RunningSinks::default(),
            sweep: Mutex::default(),
            is_in_memory: AtomicBool::new(false),
            caller: OnceLock::new(),
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

    fn limited(&self, backend: &Arc<dyn Backend>) -> TaskStore {
        let longest = self.limits.record.max(SHORTEST_RECORD);
        TaskStore::new(backend.clone()).with_longest_record(longest)
    }
}
