//! Reads tasks: those of 2025-11-25 and those of the extension of 2026-07-28, as one type.

use bowline_proto::client::CallError;
use bowline_transport::connect::Link;
use bowline_types::ext::tasks::Task;
use bowline_types::json::RawJson;
use bowline_types::legacy::task::{CoreTask, CreateTaskResult};
use bowline_types::read::ReadError;

use crate::error::{Error, Result};

/// The task that continues a call, from the answer to the call.
///
/// # Errors
///
/// If the answer is no task.
pub(crate) fn created(link: &Link, subject: &str, answer: &RawJson) -> Result<Task> {
    let task = match link.profile().revision.has_core_tasks() {
        true => answer.parse::<CreateTaskResult>().map(|created| from_core(created.task)),
        false => answer.parse(),
    };
    named(subject, task)
}

/// The task in the result of `tasks/get`.
///
/// # Errors
///
/// If the result is no task.
pub(crate) fn described(link: &Link, subject: &str, result: &RawJson) -> Result<Task> {
    let task = match link.profile().revision.has_core_tasks() {
        true => result.parse::<CoreTask>().map(from_core),
        false => result.parse(),
    };
    named(subject, task)
}

/// A task of 2025-11-25 in the shape of the extension.
pub(crate) fn from_core(core: CoreTask) -> Task {
    let mut task = Task::new(core.task_id, core.created_at);
    task.status = core.status;
    task.status_message = core.status_message;
    task.last_updated_at = core.last_updated_at;
    task.ttl_ms = core.ttl;
    task.poll_interval_ms = core.poll_interval;
    task.meta = core.meta;
    task
}

/// The error for an answer about a task that breaks the protocol.
pub(crate) fn invalid(subject: &str, reason: impl Into<String>) -> Error {
    Error::call(subject, CallError::Invalid(reason.into()))
}

/// A task without an id could be neither fetched nor cancelled.
fn named(subject: &str, task: Result<Task, ReadError>) -> Result<Task> {
    let task = task.map_err(|error| invalid(subject, error.within("result").to_string()))?;
    match task.task_id.is_empty() {
        true => Err(invalid(subject, "the id of its task is empty")),
        false => Ok(task),
    }
}
