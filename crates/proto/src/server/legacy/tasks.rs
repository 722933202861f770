//! Messages of the tasks of 2025-11-25.

use bowline_types::json::RawJson;
use bowline_types::legacy::task::RelatedTask;
use bowline_types::meta::{Meta, key};
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bytes::Bytes;

use super::LegacySession;
use crate::request::TaskNotification;
use crate::wire::splice;

impl LegacySession {
    /// The notification of a task, if the revision has it. The status names the task itself, so it
    /// has no related task (TASK-50).
    pub(in crate::server) fn task_notification(&self, news: TaskNotification) -> Option<Bytes> {
        if !self.revision.has_core_tasks() {
            return None;
        }
        let (method, params) = match news {
            TaskNotification::Status(task) => (Method::TasksStatus, splice::json(&task)),
            TaskNotification::Progress { task, token, update } => {
                let mut params = ProgressParams::new(token, update.progress);
                (params.total, params.message) = (update.total, update.message);
                (Method::Progress, related(&task, &splice::json(&params)))
            }
        };
        Some(splice::notification(method, &params))
    }
}

/// The params of a message of a task: every one names it (TASK-24, TASK-40).
pub(super) fn related(task: &RelatedTask, params: &str) -> String {
    let mut meta = Meta::new();
    meta.set_reserved(key::RELATED_TASK, RawJson::from_value(task).unwrap_or_default());
    splice::object(&splice::member("_meta", &meta), params)
}
