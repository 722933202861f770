//! Where tasks are stored, and their limits.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use bowline_store::tasks::TaskStore;
use bowline_store::{Backend, MemoryBackend};

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
    /// How long clients are asked to wait between two questions for a task: one second.
    pub poll_interval: Duration,
}

impl Default for TaskLimits {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(60 * 60),
            longest_ttl: Duration::from_secs(24 * 60 * 60),
            per_owner: 1000,
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
}

impl TaskSettings {
    pub(crate) fn new(limits: TaskLimits, store: Option<Arc<dyn Backend>>) -> Self {
        let backend = store.map_or_else(OnceLock::new, OnceLock::from);
        Self { limits, backend, carried: Mutex::default() }
    }

    pub(super) fn store(&self) -> TaskStore {
        let memory = || Arc::new(MemoryBackend::default()) as Arc<dyn Backend>;
        TaskStore::new(self.backend.get_or_init(memory).clone())
    }
}
