//! What the tasks of 2025-11-25 ([`crate::legacy::task`]) and those of the extension
//! ([`crate::ext::tasks`]) have in common.

use serde::{Deserialize, Serialize};

use crate::json::open_enum;
use crate::member::count;
use crate::setters::setters;

open_enum! {
    /// The status of a task.
    TaskStatus {
        /// The task runs.
        Working = "working",
        /// The task waits for answers of the client.
        InputRequired = "input_required",
        /// The task ended with a result.
        Completed = "completed",
        /// The task ended with an error.
        Failed = "failed",
        /// The task was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether the status is final.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Whether the status may change to `next`. A final status never changes. Changes from or to an
    /// unknown status count as not allowed.
    pub fn may_become(&self, next: &Self) -> bool {
        match self {
            Self::Working | Self::InputRequired => !matches!(next, Self::Other(_)) && self != next,
            Self::Completed | Self::Failed | Self::Cancelled | Self::Other(_) => false,
        }
    }
}

/// The params of requests for one task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskIdParams {
    /// The id of the task.
    pub task_id: String,
}

impl TaskIdParams {
    /// Names a task.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self { task_id: task_id.into() }
    }
}

/// The `task` member of params, which asks to run the request as a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// How long to keep the task, in milliseconds from its creation.
    #[serde(default, deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
}

impl TaskMetadata {
    /// A task without a requested time to keep it.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Requests how long to keep the task, in milliseconds.
        with_ttl(ttl: u64) { ttl = Some(ttl) }
    }
}
