//! The tasks extension: a server may answer a call with a task, which the client asks after,
//! feeds with input, or cancels.
//!
//! A task is one flat object wherever it stands: as the answer to the call (`resultType` `task`),
//! as the result of `tasks/get`, and in `notifications/tasks`. See the [extension's overview].
//!
//! [extension's overview]: https://modelcontextprotocol.io/extensions/tasks/overview

use serde::{Deserialize, Serialize};

use crate::empty::EmptyResult;
use crate::error::ErrorObject;
use crate::input::{InputRequests, InputResponses};
use crate::json::{Object, open_enum};
use crate::member::count;
use crate::meta::Meta;
use crate::method::Method;
use crate::rpc::{Notice, Rpc};

/// The name under which both sides declare the extension.
pub const IDENTIFIER: &str = "io.modelcontextprotocol/tasks";

/// `tasks/get`.
pub enum GetTask {}

impl Rpc for GetTask {
    const METHOD: Method = Method::TasksGet;
    type Params = TaskIdParams;
    type Result = Task;
}

/// `tasks/update`: answers what the task asks.
pub enum UpdateTask {}

impl Rpc for UpdateTask {
    const METHOD: Method = Method::TasksUpdate;
    type Params = UpdateTaskParams;
    type Result = EmptyResult;
}

/// `tasks/cancel`: asks the server to stop, which it may or may not do.
pub enum CancelTask {}

impl Rpc for CancelTask {
    const METHOD: Method = Method::TasksCancel;
    type Params = TaskIdParams;
    type Result = EmptyResult;
}

/// `notifications/tasks`: the whole task, as `tasks/get` would give it.
pub enum TaskChanged {}

impl Notice for TaskChanged {
    const METHOD: Method = Method::Tasks;
    type Params = Task;
}

open_enum! {
    /// Where a task stands.
    TaskStatus {
        /// It runs.
        Working = "working",
        /// It waits for the other side.
        InputRequired = "input_required",
        /// It ended with a result.
        Completed = "completed",
        /// It ended with an error.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl TaskStatus {
    /// Whether it can no longer change.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Whether a task may go on from here to `next`. Terminal states never change, and nothing is
    /// known of words we do not know.
    pub fn may_become(&self, next: &Self) -> bool {
        match self {
            Self::Working | Self::InputRequired => !matches!(next, Self::Other(_)) && self != next,
            Self::Completed | Self::Failed | Self::Cancelled | Self::Other(_) => false,
        }
    }
}

/// Which task is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TaskIdParams {
    /// Its name.
    pub task_id: String,
}

impl TaskIdParams {
    /// Means this task.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self { task_id: task_id.into() }
    }
}

/// Answers to what a task asks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct UpdateTaskParams {
    /// The task.
    pub task_id: String,
    /// The answers, by the keys of its questions; they need not be all at once.
    pub input_responses: InputResponses,
}

impl UpdateTaskParams {
    /// Answers this task.
    pub fn new(task_id: impl Into<String>, input_responses: InputResponses) -> Self {
        Self { task_id: task_id.into(), input_responses }
    }
}

/// How it stands with a call that became a task.
///
/// `input_requests`, `result` and `error` belong to one status each; the methods below set both
/// together. A task in the answer to a call may lack them, whatever its status.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Task {
    /// Its name, which nobody can guess.
    pub task_id: String,
    /// Where it stands.
    pub status: TaskStatus,
    /// More about where it stands, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status_message: Option<String>,
    /// When it began, in ISO 8601.
    pub created_at: String,
    /// When it last changed, in ISO 8601.
    pub last_updated_at: String,
    /// How long it is kept from its creation, in milliseconds; `None` is `null` on the wire and
    /// means without limit.
    #[serde(default, deserialize_with = "count")]
    pub ttl_ms: Option<u64>,
    /// How long to wait between questions, in milliseconds.
    #[serde(default, deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub poll_interval_ms: Option<u64>,
    /// All it waits for, when it requires input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_requests: Option<InputRequests>,
    /// What the call itself would have answered, when it is completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<Object>,
    /// The error the call itself would have answered, when it has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorObject>,
    /// Anything beside; only where the task is a result itself.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl Task {
    /// A task that has just begun.
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

    /// Limits how long it is kept, in milliseconds.
    #[must_use]
    pub fn with_ttl_ms(mut self, ttl_ms: u64) -> Self {
        self.ttl_ms = Some(ttl_ms);
        self
    }

    /// Suggests how long to wait between questions, in milliseconds.
    #[must_use]
    pub fn with_poll_interval_ms(mut self, poll_interval_ms: u64) -> Self {
        self.poll_interval_ms = Some(poll_interval_ms);
        self
    }

    /// Says more about where it stands.
    #[must_use]
    pub fn with_status_message(mut self, message: impl Into<String>) -> Self {
        self.status_message = Some(message.into());
        self
    }

    /// Goes on working.
    #[must_use]
    pub fn working(self) -> Self {
        self.entering(TaskStatus::Working)
    }

    /// Waits for all of this.
    #[must_use]
    pub fn input_required(self, requests: InputRequests) -> Self {
        Self { input_requests: Some(requests), ..self.entering(TaskStatus::InputRequired) }
    }

    /// Ends with what the call would have answered, even if that is a tool's own error.
    #[must_use]
    pub fn completed(self, result: Object) -> Self {
        Self { result: Some(result), ..self.entering(TaskStatus::Completed) }
    }

    /// Ends with the error that the call would have answered.
    #[must_use]
    pub fn failed(self, error: ErrorObject) -> Self {
        Self { error: Some(error), ..self.entering(TaskStatus::Failed) }
    }

    /// Ends because somebody cancelled it.
    #[must_use]
    pub fn cancelled(self) -> Self {
        self.entering(TaskStatus::Cancelled)
    }

    /// Whether it can no longer change.
    pub fn is_terminal(&self) -> bool {
        self.status.is_terminal()
    }

    /// The task in another status, without what belonged to the one before.
    fn entering(self, status: TaskStatus) -> Self {
        Self { status, input_requests: None, result: None, error: None, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::InputRequest;

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
            let task: Task = serde_json::from_str(&text).unwrap();
            assert_eq!(serde_json::to_string(&task).unwrap(), text);
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
    fn what_has_ended_stays_as_it_is() {
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
        let params: UpdateTaskParams = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&params).unwrap(), text);
        let error = serde_json::from_str::<UpdateTaskParams>(r#"{"taskId":"t"}"#).unwrap_err();
        assert!(error.to_string().contains("missing field `inputResponses`"), "{error}");
    }
}
