//! The experimental tasks of 2025-11-25: the receiver answers a request at once with a task, and
//! the requestor fetches the result later.
//!
//! Both sides may run tasks: a server those of `tools/call`, a client those of elicitation and
//! sampling. The sender of the request asks for a task ([`TaskMetadata`]); since 2026-07-28 the server
//! decides. The tasks extension of 2026-07-28 ([`crate::ext::tasks`]) has other types; both share only
//! what is in [`crate::task`].

use serde::{Deserialize, Serialize};

pub use crate::capability::TasksCapability;
use crate::json::Object;
use crate::member::count;
use crate::meta::{self, Meta};
use crate::page::list;
use crate::rpc::{notification, request};
use crate::setters::setters;
pub use crate::task::TaskMetadata;
use crate::task::{TaskIdParams, TaskStatus};

request! {
    /// `tasks/get`.
    GetCoreTask = TasksGet(TaskIdParams) -> CoreTask,
    /// `tasks/result`: waits for the task, then returns the result of the original request.
    TaskResult = TasksResult(TaskIdParams) -> Object,
    /// `tasks/cancel`.
    CancelCoreTask = TasksCancel(TaskIdParams) -> CoreTask
}

notification! {
    /// `notifications/tasks/status`.
    TaskStatusChanged = TasksStatus(CoreTask)
}

/// The state of a request that runs as a task (`Task` in the schema of 2025-11-25).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct CoreTask {
    /// The id, chosen by the side that runs the task.
    pub task_id: String,
    /// The status.
    pub status: TaskStatus,
    /// Details about the status, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// The time of creation, in ISO 8601.
    pub created_at: String,
    /// The time of the last change, in ISO 8601.
    pub last_updated_at: String,
    /// How long the task is kept, in milliseconds from its creation. `None` is `null` on the wire
    /// and means without limit.
    #[serde(default, deserialize_with = "count")]
    pub ttl: Option<u64>,
    /// How long the requestor should wait between two `tasks/get`, in milliseconds.
    #[serde(default, deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub poll_interval: Option<u64>,
    /// Further metadata; only if the task itself is a result.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl CoreTask {
    /// A task that has just started.
    pub fn new(task_id: impl Into<String>, created_at: impl Into<String>) -> Self {
        let created_at = created_at.into();
        Self {
            task_id: task_id.into(),
            status: TaskStatus::Working,
            status_message: None,
            last_updated_at: created_at.clone(),
            created_at,
            ttl: None,
            poll_interval: None,
            meta: Meta::new(),
        }
    }

    setters! {
        /// Sets how long the task is kept, in milliseconds.
        with_ttl(ttl: u64) { ttl = Some(ttl) }

        /// Sets how long the requestor should wait between two `tasks/get`, in milliseconds.
        with_poll_interval(poll_interval: u64) { poll_interval = Some(poll_interval) }
    }
}

/// The first answer to a request that runs as a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task.
    pub task: CoreTask,
    /// Further metadata, such as a text for the model in the meantime.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl CreateTaskResult {
    /// An answer with a task.
    pub fn new(task: CoreTask) -> Self {
        Self { task, meta: Meta::new() }
    }
}

list! {
    /// `tasks/list`.
    ListTasks = TasksList,
    /// One page of the tasks that the requestor may see.
    ListTasksResult {
        /// The tasks.
        tasks: CoreTask
    }
}

/// The value of [`meta::key::RELATED_TASK`]: the task that a message belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RelatedTask {
    /// The id of the task.
    pub task_id: String,
}

impl RelatedTask {
    /// Names a task.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self { task_id: task_id.into() }
    }

    /// The related task in a `_meta`.
    pub fn find(meta: &Meta) -> Option<Self> {
        meta.parse(meta::key::RELATED_TASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Cursor;
    use crate::round_trip::round_trip;

    const TASK: &str = concat!(
        r#"{"taskId":"786512e2","status":"working","statusMessage":"In progress.","#,
        r#""createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","#,
        r#""ttl":60000,"pollInterval":5000}"#
    );

    #[test]
    fn a_task_is_written_as_it_was_read() {
        round_trip::<CoreTask>(TASK);
    }

    #[test]
    fn a_new_task_works_and_says_that_it_has_no_time_limit() {
        let text = serde_json::to_string(&CoreTask::new("t", "2025-11-25T10:30:00Z")).unwrap();
        assert!(text.contains(r#""status":"working""#) && text.contains(r#""ttl":null"#), "{text}");
    }

    #[test]
    fn a_request_that_became_a_task_is_answered_with_the_task_alone() {
        let text = format!(r#"{{"task":{TASK},"_meta":{{"a":1}}}}"#);
        round_trip::<CreateTaskResult>(&text);
    }

    #[test]
    fn the_task_of_a_message_stands_in_its_meta() {
        let text = r#"{"io.modelcontextprotocol/related-task":{"taskId":"t"}}"#;
        let meta: Meta = serde_json::from_str(text).unwrap();
        assert_eq!(RelatedTask::find(&meta), Some(RelatedTask::new("t")));
        assert_eq!(RelatedTask::find(&Meta::new()), None);
    }

    #[test]
    fn a_page_of_tasks_says_where_the_next_begins() {
        let text = format!(r#"{{"tasks":[{TASK}],"nextCursor":"p2"}}"#);
        let page: ListTasksResult = serde_json::from_str(&text).unwrap();
        assert_eq!(page.next_cursor, Some(Cursor::new("p2")));
    }
}
