//! The tasks extension: a server may answer a call with a task. The client then polls it, answers
//! its questions, or cancels it.
//!
//! A task is the same flat object in all places: the answer to the call (`resultType` `task`), the
//! result of `tasks/get`, and `notifications/tasks`. See the [extension's overview].
//!
//! [extension's overview]: https://modelcontextprotocol.io/extensions/tasks/overview

use serde::{Deserialize, Serialize};

use crate::empty::EmptyResult;
use crate::error::ErrorObject;
use crate::input::{InputRequests, InputResponses};
use crate::json::Object;
use crate::member::count;
use crate::meta::Meta;
use crate::rpc::{notification, request};
use crate::setters::setters;
pub use crate::task::{TaskIdParams, TaskStatus};

/// The identifier of the extension in capabilities.
pub const IDENTIFIER: &str = "io.modelcontextprotocol/tasks";

request! {
    /// `tasks/get`.
    GetTask = TasksGet(TaskIdParams) -> Task,
    /// `tasks/update`: answers the questions of a task.
    UpdateTask = TasksUpdate(UpdateTaskParams) -> EmptyResult,
    /// `tasks/cancel`: asks the server to stop the task. The server need not do so.
    CancelTask = TasksCancel(TaskIdParams) -> EmptyResult
}

notification! {
    /// `notifications/tasks`: the whole task, as in the result of `tasks/get`.
    TaskChanged = Tasks(Task)
}

/// Answers to the questions of a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpdateTaskParams {
    /// The id of the task.
    pub task_id: String,
    /// The answers, by the keys of the questions. Further answers may follow later.
    pub input_responses: InputResponses,
}

impl UpdateTaskParams {
    /// Answers for this task.
    pub fn new(task_id: impl Into<String>, input_responses: InputResponses) -> Self {
        Self { task_id: task_id.into(), input_responses }
    }
}

/// The state of a call that runs as a task.
///
/// `input_requests`, `result` and `error` each belong to one status; the methods below set both
/// together. The task in the first answer to a call may lack them in every status.
///
/// ```
/// use bowline_types::Object;
/// use bowline_types::ext::tasks::Task;
///
/// let task = Task::new("7f3a9c", "2026-07-28T12:00:00Z").with_poll_interval_ms(1000);
/// assert!(!task.is_terminal());
/// let task = task.completed(Object::default());
/// assert!(task.is_terminal() && task.result.is_some() && task.error.is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Task {
    /// The id, which must be hard to guess.
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
    pub ttl_ms: Option<u64>,
    /// How long the client should wait between two `tasks/get`, in milliseconds.
    #[serde(default, deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
    /// The open questions, if the status is `input_required`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<InputRequests>,
    /// The result of the call, if the status is `completed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Object>,
    /// The error of the call, if the status is `failed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorObject>,
    /// Further metadata; only if the task itself is a result.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl Task {
    /// A task that has just started.
    pub fn new(task_id: impl Into<String>, created_at: impl Into<String>) -> Self {
        let created_at = created_at.into();
        Self {
            task_id: task_id.into(),
            status: TaskStatus::Working,
            status_message: None,
            last_updated_at: created_at.clone(),
            created_at,
            ttl_ms: None,
            poll_interval_ms: None,
            input_requests: None,
            result: None,
            error: None,
            meta: Meta::new(),
        }
    }

    setters! {
        /// Sets how long the task is kept, in milliseconds.
        with_ttl_ms(ttl_ms: u64) { ttl_ms = Some(ttl_ms) }

        /// Sets how long the client should wait between two `tasks/get`, in milliseconds.
        with_poll_interval_ms(poll_interval_ms: u64) { poll_interval_ms = Some(poll_interval_ms) }

        /// Sets details about the status, for people.
        with_status_message(message: impl Into<String>) { status_message = Some(message.into()) }
    }

    /// Sets the status `working`.
    #[must_use]
    pub fn working(self) -> Self {
        self.entering(TaskStatus::Working)
    }

    /// Sets the status `input_required`, with all open questions.
    #[must_use]
    pub fn input_required(self, requests: InputRequests) -> Self {
        Self { input_requests: Some(requests), ..self.entering(TaskStatus::InputRequired) }
    }

    /// Sets the status `completed`, with the result of the call. A tool's own error is also a
    /// result.
    #[must_use]
    pub fn completed(self, result: Object) -> Self {
        Self { result: Some(result), ..self.entering(TaskStatus::Completed) }
    }

    /// Sets the status `failed`, with the error of the call.
    #[must_use]
    pub fn failed(self, error: ErrorObject) -> Self {
        Self { error: Some(error), ..self.entering(TaskStatus::Failed) }
    }

    /// Sets the status `cancelled`.
    #[must_use]
    pub fn cancelled(self) -> Self {
        self.entering(TaskStatus::Cancelled)
    }

    /// Whether the status is final.
    pub fn is_terminal(&self) -> bool {
        self.status.is_terminal()
    }

    /// Changes the status, and removes the member of the status before.
    fn entering(self, status: TaskStatus) -> Self {
        Self { status, input_requests: None, result: None, error: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputRequest;
    use crate::round_trip::round_trip;

    const HEAD: &str = concat!(
        r#""createdAt":"2026-07-28T10:30:00Z","lastUpdatedAt":"2026-07-28T10:40:00Z","#,
        r#""ttlMs":60000,"pollIntervalMs":5000"#
    );

    fn task() -> Task {
        Task::new("t", "2026-07-28T10:30:00Z")
    }

    #[test]
    fn a_task_in_any_status_is_written_as_it_was_read() {
        for (status, rest) in [
            ("working", ""),
            ("input_required", r#","inputRequests":{"k":{"method":"roots/list"}}"#),
            ("completed", r#","result":{"content":[],"isError":true}"#),
            ("failed", r#","error":{"code":-32603,"message":"m"}"#),
            ("cancelled", ""),
            ("paused", ""),
        ] {
            let text = format!(r#"{{"taskId":"t","status":"{status}",{HEAD}{rest}}}"#);
            round_trip::<Task>(&text);
        }
    }

    #[test]
    fn status_and_what_belongs_to_it_change_together() {
        let mut requests = InputRequests::new();
        requests.insert("k", InputRequest::ListRoots).unwrap();
        let asking = task().input_required(requests);
        assert!(asking.status == TaskStatus::InputRequired && asking.input_requests.is_some());
        let done = asking.clone().completed(Object::default());
        assert!(done.status == TaskStatus::Completed && done.result.is_some());
        assert!(done.input_requests.is_none());
        let failed = asking.failed(ErrorObject::internal("m"));
        assert!(failed.status == TaskStatus::Failed && failed.error.is_some());
        assert!(failed.input_requests.is_none() && failed.result.is_none());
    }

    #[test]
    fn a_task_without_time_limit_says_null() {
        let text = serde_json::to_string(&task()).unwrap();
        assert!(text.contains(r#""ttlMs":null"#), "{text}");
    }

    #[test]
    fn a_final_status_never_changes() {
        use TaskStatus::{Cancelled, Completed, Failed, InputRequired, Working};
        let every = [Working, InputRequired, Completed, Failed, Cancelled];
        for ended in [Completed, Failed, Cancelled] {
            assert!(ended.is_terminal());
            assert!(every.iter().all(|next| !ended.may_become(next)), "{ended}");
        }
        assert!(Working.may_become(&InputRequired) && InputRequired.may_become(&Working));
        assert!(Working.may_become(&Completed) && InputRequired.may_become(&Cancelled));
    }

    #[test]
    fn answers_to_a_task_name_it_and_its_questions() {
        let text = r#"{"taskId":"t","inputResponses":{"k":{"action":"decline"}}}"#;
        round_trip::<UpdateTaskParams>(text);
        let error = serde_json::from_str::<UpdateTaskParams>(r#"{"taskId":"t"}"#).unwrap_err();
        assert!(error.to_string().contains("missing field `inputResponses`"), "{error}");
    }
}
