//! Reads and changes the records of tasks.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bowline_proto::request::{Owner, Parts, Request};
use bowline_store::Error;
use bowline_store::tasks::{TaskName, TaskStore};
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks::TaskIdParams;

use super::record::TaskRecord;

/// The bytes of an id: enough that it cannot be guessed (TASK-69, XTASK-47).
const ID_BYTES: usize = 16;

/// A new id.
///
/// # Errors
///
/// If the operating system gives no randomness.
pub(super) fn new_id() -> Result<String, ErrorObject> {
    let mut id = [0; ID_BYTES];
    let failed = |error| ErrorObject::internal(format!("no task can be named: {error}"));
    getrandom::fill(&mut id).map_err(failed)?;
    Ok(URL_SAFE_NO_PAD.encode(id))
}

/// Whether a text can be an id. Others are never looked up, so they cannot name another key.
pub(super) fn is_id(text: &str) -> bool {
    URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| bytes.len() == ID_BYTES)
}

/// The owner as a part of keys. Different owners have different texts.
pub(super) fn owner_key(owner: &Owner) -> String {
    match owner.identity() {
        None => "anonymous".to_owned(),
        Some((issuer, subject)) => {
            format!("{}.{}", URL_SAFE_NO_PAD.encode(issuer), URL_SAFE_NO_PAD.encode(subject))
        }
    }
}

/// The task that a request names, among those of its owner (TASK-42, TASK-67).
///
/// # Errors
///
/// If it names none, or the name is none that this server gave.
pub(super) fn named(request: &Request) -> Result<TaskName, ErrorObject> {
    let params: TaskIdParams = request.params.parse_all().map_err(ErrorObject::misread_params)?;
    if !is_id(&params.task_id) {
        return Err(unknown());
    }
    Ok(name(&request.parts, params.task_id))
}

/// A task of the owner of a call.
pub(super) fn name(parts: &Parts, id: String) -> TaskName {
    TaskName::new(owner_key(&parts.owner), id)
}

/// The error for a task that does not exist, has expired, or belongs to another owner.
pub(super) fn unknown() -> ErrorObject {
    ErrorObject::invalid_params("no task has this id; it may have expired")
}

/// The record of a task.
///
/// # Errors
///
/// If there is none, or the store fails.
pub(super) async fn read(store: &TaskStore, name: &TaskName) -> Result<TaskRecord, ErrorObject> {
    let record = store.record(name, SystemTime::now()).await.map_err(|error| broken(&error))?;
    record.as_ref().and_then(TaskRecord::read).ok_or_else(unknown)
}

/// Changes the record of a task, and returns what `change` returns.
///
/// # Errors
///
/// If there is none, or the store fails.
pub(super) async fn change<T: Send>(
    store: &TaskStore,
    name: &TaskName,
    mut change: impl FnMut(&mut TaskRecord) -> T + Send,
) -> Result<T, ErrorObject> {
    let now = SystemTime::now();
    let changed = store.change(name, now, |text| {
        let Some(mut record) = TaskRecord::read(text) else { return (None, None) };
        let value = change(&mut record);
        if record.write() == *text {
            return (None, Some(value));
        }
        record.touch(now);
        (Some(record.write()), Some(value))
    });
    changed.await.map_err(|error| broken(&error))?.flatten().ok_or_else(unknown)
}

/// The error for a store that fails (TASK-63, XTASK-42).
pub(super) fn broken(error: &Error) -> ErrorObject {
    ErrorObject::internal(format!("the store of tasks failed: {error}"))
}
