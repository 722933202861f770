//! The experimental tasks of 2025-11-25: a request is answered at once with a task, and its result
//! is fetched later.
//!
//! Either side may be the one who runs a task. The tasks extension of 2026-07-28
//! ([`crate::ext::tasks`]) is another dialect; only the words for a task's status are shared.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::capability::declared::{declared, lacking};
use crate::ext::tasks::{TaskIdParams, TaskStatus};
use crate::id::Cursor;
use crate::json::Object;
use crate::member::count;
use crate::meta::{self, Meta};
use crate::method::Method;
use crate::page::{Page, PageParams};
use crate::rpc::{Notice, Rpc};

/// `tasks/get`.
pub enum GetTask {}

impl Rpc for GetTask {
    const METHOD: Method = Method::TasksGet;
    type Params = TaskIdParams;
    type Result = Task;
}

/// `tasks/result`: waits for the task, then answers what the request itself would have answered.
pub enum TaskResult {}

impl Rpc for TaskResult {
    const METHOD: Method = Method::TasksResult;
    type Params = TaskIdParams;
    type Result = Object;
}

/// `tasks/list`.
pub enum ListTasks {}

impl Rpc for ListTasks {
    const METHOD: Method = Method::TasksList;
    type Params = PageParams;
    type Result = ListTasksResult;
}

/// `tasks/cancel`.
pub enum CancelTask {}

impl Rpc for CancelTask {
    const METHOD: Method = Method::TasksCancel;
    type Params = TaskIdParams;
    type Result = Task;
}

/// `notifications/tasks/status`.
pub enum TaskStatusChanged {}

impl Notice for TaskStatusChanged {
    const METHOD: Method = Method::TasksStatus;
    type Params = Task;
}

/// Which requests one side answers by way of tasks, and what can be done with those.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TasksCapability {
    /// `tasks/list` is answered.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub list: Option<Object>,
    /// `tasks/cancel` is answered.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Object>,
    /// The methods that may become tasks, by name. On the wire they are split at their slash:
    /// `{"tools": {"call": {}}}`.
    #[serde(default, with = "methods", skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<String, Object>,
}

impl TasksCapability {
    /// No request may become a task.
    pub fn new() -> Self {
        Self::default()
    }

    /// Declares `tasks/list`.
    #[must_use]
    pub fn with_list(mut self) -> Self {
        self.list.get_or_insert_default();
        self
    }

    /// Declares `tasks/cancel`.
    #[must_use]
    pub fn with_cancel(mut self) -> Self {
        self.cancel.get_or_insert_default();
        self
    }

    /// Lets requests of a method become tasks.
    #[must_use]
    pub fn with_request(mut self, method: Method) -> Self {
        if method.name().contains('/') {
            self.requests.entry(method.name().to_owned()).or_default();
        }
        self
    }

    /// Whether requests of a method may become tasks. What is not named may not.
    pub fn supports_request(&self, method: Method) -> bool {
        self.requests.contains_key(method.name())
    }

    /// What of this is not `there`.
    pub(crate) fn lacking(&self, there: Option<&Self>) -> Option<Self> {
        let Some(there) = there else { return Some(self.clone()) };
        let missing = Self {
            list: self.list.clone().filter(|_| there.list.is_none()),
            cancel: self.cancel.clone().filter(|_| there.cancel.is_none()),
            requests: lacking(&there.requests, &self.requests),
        };
        (missing != Self::default()).then_some(missing)
    }
}

/// Methods that are split at their slash on the wire.
mod methods {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::capability::declared::declaration;
    use crate::json::{Json, Object};
    use crate::member::any_members;

    pub(super) fn serialize<S: Serializer>(
        methods: &BTreeMap<String, Object>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        // Sorted by name, the methods of an area stand together.
        let split = methods.iter().filter_map(|(name, it)| Some((name.split_once('/')?, it)));
        let methods: Vec<_> = split.collect();
        let areas = methods.chunk_by(|((one, _), _), ((other, _), _)| one == other);
        serializer.collect_map(areas.filter_map(|area| Some((area.first()?.0.0, Area(area)))))
    }

    /// The methods of one area.
    struct Area<'a>(&'a [((&'a str, &'a str), &'a Object)]);

    impl Serialize for Area<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().map(|((_, name), settings)| (name, settings)))
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<String, Object>, D::Error> {
        #[derive(Default, Deserialize)]
        #[serde(transparent)]
        struct Area(#[serde(deserialize_with = "any_members")] BTreeMap<String, Json>);

        let mut methods = BTreeMap::new();
        for (area, declared) in any_members(deserializer)? {
            // A member that declares nothing is one that only later revisions know.
            let Ok(Some(Area(names))) = declaration(&declared) else { continue };
            for (name, declared) in names {
                if let Ok(Some(settings)) = declaration(&declared) {
                    methods.insert(format!("{area}/{name}"), settings);
                }
            }
        }
        Ok(methods)
    }
}

/// The wish, in the params of a request, that it become a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TaskMetadata {
    /// How long to keep the task from its creation, in milliseconds.
    #[serde(default, deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub ttl: Option<u64>,
}

impl TaskMetadata {
    /// A task, kept as long as the other side likes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for a time to keep it, in milliseconds.
    #[must_use]
    pub fn with_ttl(mut self, ttl: u64) -> Self {
        self.ttl = Some(ttl);
        self
    }
}

/// How it stands with a request that became a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Task {
    /// Its name, chosen by the side that runs it.
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
    pub ttl: Option<u64>,
    /// How long to wait between questions, in milliseconds.
    #[serde(default, deserialize_with = "count", skip_serializing_if = "Option::is_none")]
    pub poll_interval: Option<u64>,
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
            ttl: None,
            poll_interval: None,
            meta: Meta::new(),
        }
    }

    /// Limits how long it is kept, in milliseconds.
    #[must_use]
    pub fn with_ttl(mut self, ttl: u64) -> Self {
        self.ttl = Some(ttl);
        self
    }

    /// Suggests how long to wait between questions, in milliseconds.
    #[must_use]
    pub fn with_poll_interval(mut self, poll_interval: u64) -> Self {
        self.poll_interval = Some(poll_interval);
        self
    }
}

/// The answer to a request that became a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CreateTaskResult {
    /// The task.
    pub task: Task,
    /// Anything beside, such as what to tell the model meanwhile.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl CreateTaskResult {
    /// Answers with a task.
    pub fn new(task: Task) -> Self {
        Self { task, meta: Meta::new() }
    }
}

/// One page of the tasks that the asker may see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListTasksResult {
    /// The tasks.
    pub tasks: Vec<Task>,
    /// Where the next page begins; none after the last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// Anything beside.
    #[serde(rename = "_meta", default, skip_serializing_if = "Meta::is_empty")]
    pub meta: Meta,
}

impl ListTasksResult {
    /// A page of tasks, the last one.
    pub fn new(tasks: Vec<Task>) -> Self {
        Self { tasks, next_cursor: None, meta: Meta::new() }
    }
}

impl Page for ListTasksResult {
    type Item = Task;

    fn into_parts(self) -> (Vec<Task>, Option<Cursor>) {
        (self.tasks, self.next_cursor)
    }
}

/// The value at [`meta::key::RELATED_TASK`]: the task that a message belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RelatedTask {
    /// The task.
    pub task_id: String,
}

impl RelatedTask {
    /// Belongs to this task.
    pub fn new(task_id: impl Into<String>) -> Self {
        Self { task_id: task_id.into() }
    }

    /// The task that a `_meta` names.
    pub fn find(meta: &Meta) -> Option<Self> {
        meta.parse(meta::key::RELATED_TASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: &str = concat!(
        r#"{"taskId":"786512e2","status":"working","statusMessage":"In progress.","#,
        r#""createdAt":"2025-11-25T10:30:00Z","lastUpdatedAt":"2025-11-25T10:40:00Z","#,
        r#""ttl":60000,"pollInterval":5000}"#
    );

    #[test]
    fn a_task_is_written_as_it_was_read() {
        let task: Task = serde_json::from_str(TASK).unwrap();
        assert_eq!(serde_json::to_string(&task).unwrap(), TASK);
    }

    #[test]
    fn a_new_task_works_and_says_that_it_has_no_time_limit() {
        let text = serde_json::to_string(&Task::new("t", "2025-11-25T10:30:00Z")).unwrap();
        assert!(text.contains(r#""status":"working""#) && text.contains(r#""ttl":null"#), "{text}");
    }

    #[test]
    fn a_request_that_became_a_task_is_answered_with_the_task_alone() {
        let text = format!(r#"{{"task":{TASK},"_meta":{{"a":1}}}}"#);
        let result: CreateTaskResult = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&result).unwrap(), text);
    }

    #[test]
    fn only_the_methods_that_are_named_may_become_tasks() {
        let text = r#"{"list":{},"requests":{"tools":{"call":{}}}}"#;
        let read: TasksCapability = serde_json::from_str(text).unwrap();
        assert_eq!(read, TasksCapability::new().with_list().with_request(Method::ToolsCall));
        assert!(read.supports_request(Method::ToolsCall));
        assert!(!read.supports_request(Method::SamplingCreateMessage));
        assert!(!read.supports_request(Method::Ping));
        assert!(read.list.is_some() && read.cancel.is_none());
    }

    #[test]
    fn what_is_missing_is_named_down_to_the_method() {
        let there = TasksCapability::new().with_cancel().with_request(Method::ElicitationCreate);
        let wanted = there.clone().with_list().with_request(Method::SamplingCreateMessage);
        let missing =
            TasksCapability::new().with_list().with_request(Method::SamplingCreateMessage);
        assert_eq!(wanted.lacking(Some(&there)), Some(missing));
        assert_eq!(there.lacking(Some(&wanted)), None);
        assert_eq!(wanted.lacking(None), Some(wanted));
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
