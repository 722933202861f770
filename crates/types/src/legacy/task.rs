//! The experimental tasks of 2025-11-25: the receiver answers a request at once with a task, and
//! the requestor fetches the result later.
//!
//! Both sides may run tasks. The tasks extension of 2026-07-28 ([`crate::ext::tasks`]) has other
//! types; both share only [`TaskStatus`] and [`TaskIdParams`].

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::capability::declared::{declared, lacking};
use crate::ext::tasks::{TaskIdParams, TaskStatus};
use crate::json::Object;
use crate::member::count;
use crate::meta::{self, Meta};
use crate::method::Method;
use crate::page::list;
use crate::rpc::{notification, request};
use crate::setters::setters;

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

/// The requests that one side can run as tasks, and the task methods that it supports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TasksCapability {
    /// The side answers `tasks/list`.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub list: Option<Object>,
    /// The side answers `tasks/cancel`.
    #[serde(default, deserialize_with = "declared", skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Object>,
    /// The methods that can run as tasks, by name. On the wire each is split at its slash:
    /// `{"tools": {"call": {}}}`.
    #[serde(default, with = "methods", skip_serializing_if = "BTreeMap::is_empty")]
    pub requests: BTreeMap<String, Object>,
}

impl TasksCapability {
    /// No request can run as a task.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// Declares `tasks/list`.
        with_list() { list.get_or_insert_default() }

        /// Declares `tasks/cancel`.
        with_cancel() { cancel.get_or_insert_default() }
    }

    /// Declares that requests of a method can run as tasks.
    #[must_use]
    pub fn with_request(mut self, method: Method) -> Self {
        if method.name().contains('/') {
            self.requests.entry(method.name().to_owned()).or_default();
        }
        self
    }

    /// Whether requests of a method can run as tasks.
    pub fn supports_request(&self, method: Method) -> bool {
        self.requests.contains_key(method.name())
    }

    /// The part of this capability that `there` lacks.
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

/// Serde functions for methods that are split at their slash on the wire.
mod methods {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::capability::declared::declaration;
    use crate::json::{Object, RawJson};
    use crate::member::any_members;

    pub(super) fn serialize<S: Serializer>(
        methods: &BTreeMap<String, Object>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        // The names are sorted, so the methods of an area are adjacent.
        let split = methods.iter().filter_map(|(name, it)| Some((name.split_once('/')?, it)));
        let methods: Vec<_> = split.collect();
        let areas = methods.chunk_by(|((one, _), _), ((other, _), _)| one == other);
        serializer.collect_map(areas.filter_map(|area| Some((area.first()?.0.0, Area(area)))))
    }

    /// The methods of one area, such as `tools`.
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
        struct Area(#[serde(deserialize_with = "any_members")] BTreeMap<String, RawJson>);

        let mut methods = BTreeMap::new();
        for (area, declared) in any_members(deserializer)? {
            // Ignores members of other shapes, which later revisions may add.
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
