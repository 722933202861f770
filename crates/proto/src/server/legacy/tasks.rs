//! Messages of the tasks of 2025-11-25.

use bowline_types::json::RawJson;
use bowline_types::legacy::task::RelatedTask;
use bowline_types::meta::{Meta, key};
use bowline_types::method::Method;
use bowline_types::progress::ProgressParams;
use bytes::Bytes;

use super::LegacySession;
use crate::members::Members;
use crate::request::TaskNotification;
use crate::splice;

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
            TaskNotification::Extension { task, message } => {
                (Method::Custom(message.method), related(&task, message.params.as_str()))
            }
        };
        Some(splice::notification(method, &params))
    }
}

/// The params of a message of a task: every one names it (TASK-24, TASK-40).
pub(super) fn related(task: &RelatedTask, params: &str) -> String {
    let of_task = RawJson::from_value(task).unwrap_or_default();
    let members = Members::cut(Bytes::copy_from_slice(params.as_bytes())).unwrap_or_default();
    let meta = members.parse::<Meta>("_meta").ok().flatten();
    let is_new = meta.is_none();
    let mut meta = meta.unwrap_or_default();
    meta.set_reserved(key::RELATED_TASK, of_task);
    match is_new {
        true => splice::object(&splice::member("_meta", &meta), params),
        // A program may have put keys of its own there.
        false => members.with("_meta", &meta).as_str().to_owned(),
    }
}
