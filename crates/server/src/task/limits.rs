//! The limits of tasks.

use std::time::Duration;

/// Room for the state of a task without anything of its call.
const SHORTEST_RECORD: usize = 4096;

/// Longer times count as this one: clocks of some systems cannot count further.
const LONGEST_TTL: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// The limits of tasks. Set them with [`Server::task_limits`](crate::Server::task_limits).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskLimits {
    /// How long a task is kept, counted from its creation, unless the client asks for another time
    /// (2025-11-25): one hour. When the time is over, a task that still runs is dropped.
    pub ttl: Duration,
    /// The longest time that a client can ask for: one day. More than 30 years count as 30 years.
    pub longest_ttl: Duration,
    /// The most tasks of one owner that are kept at a time, ended ones included: 1000. All callers
    /// without credentials are one owner, and all servers with one store count together. A store
    /// with short values has room for fewer: 40 bytes of a value are needed for each of them.
    pub per_owner: usize,
    /// The most tasks that this server runs at a time, of all owners: 1000. A call beyond that is
    /// refused with an error that lets the client try again. A task of a server that stopped, which
    /// is to run again here, waits for a place.
    pub running: usize,
    /// The most bytes of what the server stores of one task: 4 MiB. A result that does not fit fails
    /// the task, a question that does not fit fails, and an answer that does not fit is refused. The
    /// call of an idempotent tool is stored only if the task takes at most half of it then;
    /// otherwise the call does not run again if its process stops. Less than 4 KiB counts as 4 KiB.
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
            running: 1000,
            record: 4 * 1024 * 1024,
            poll_interval: Duration::from_secs(1),
        }
    }
}

impl TaskLimits {
    /// The limits within the bounds that are documented.
    pub(super) fn bounded(mut self) -> Self {
        self.ttl = self.ttl.min(LONGEST_TTL);
        self.longest_ttl = self.longest_ttl.min(LONGEST_TTL);
        self.record = self.record.max(SHORTEST_RECORD);
        self
    }
}
