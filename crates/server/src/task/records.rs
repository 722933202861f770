//! Reads and changes the records of tasks.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bowline_proto::request::{Owner, Parts, Request};
use bowline_store::Error;
use bowline_store::tasks::{TaskName, TaskStore};
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks::TaskIdParams;
use bowline_types::json::RawJson;
use serde::Serialize;
use tokio::time::Instant;

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

/// The owner that a key names; the inverse of [`owner_key`].
pub(super) fn owner_of(key: &str) -> Option<Owner> {
    let Some((issuer, subject)) = key.split_once('.') else { return Some(Owner::anonymous()) };
    let text = |part| String::from_utf8(URL_SAFE_NO_PAD.decode(part).ok()?).ok();
    Some(Owner::known(text(issuer)?, text(subject)?))
}

/// The task that a request names, among those of its owner (TASK-42, TASK-67).
///
/// # Errors
///
/// If it names none, or the name is none that this server gave.
pub(super) fn named(request: &Request) -> Result<TaskName, ErrorObject> {
    let params: TaskIdParams = request.params.parse_all().map_err(ErrorObject::misread_params)?;
    if !is_id(&params.task_id) {
        return Err(RecordError::Unknown.into());
    }
    Ok(name(&request.parts, params.task_id))
}

/// A task of the owner of a call.
pub(super) fn name(parts: &Parts, id: String) -> TaskName {
    TaskName::new(owner_key(&parts.owner), id)
}

/// The time of day, by the clock of the tokio runtime, which tests move.
pub(super) fn now() -> SystemTime {
    let (moved, real) = (Instant::now().into_std(), std::time::Instant::now());
    let now = SystemTime::now();
    // At least one of the two is zero.
    let (ahead, behind) =
        (moved.saturating_duration_since(real), real.saturating_duration_since(moved));
    now.checked_add(ahead).and_then(|now| now.checked_sub(behind)).unwrap_or(now)
}

/// Why a record cannot be read or changed.
#[derive(Debug)]
pub(super) enum RecordError {
    /// The task does not exist, has expired, or belongs to another owner.
    Unknown,
    /// The store failed (TASK-63, XTASK-42).
    Store(Error),
    /// The record would be longer than [`TaskLimits::record`](super::TaskLimits::record).
    TooLong(usize),
    /// The change cannot be made.
    Refused(ErrorObject),
}

impl From<Error> for RecordError {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<ErrorObject> for RecordError {
    fn from(error: ErrorObject) -> Self {
        Self::Refused(error)
    }
}

impl From<RecordError> for ErrorObject {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Unknown => {
                Self::invalid_params("no task has this id; it may have expired")
            }
            RecordError::Store(error) => {
                Self::internal(format!("the store of tasks failed: {error}"))
            }
            RecordError::TooLong(most) => {
                Self::invalid_params(format!("the server keeps at most {most} bytes of a task"))
            }
            RecordError::Refused(error) => error,
        }
    }
}

/// What goes to the client, as JSON.
///
/// # Errors
///
/// If it cannot be written.
pub(super) fn json<T: Serialize>(value: &T) -> Result<RawJson, ErrorObject> {
    RawJson::from_value(value).map_err(|error| ErrorObject::internal(error.to_string()))
}

/// The record of a task.
///
/// # Errors
///
/// If there is none, or the store fails.
pub(super) async fn read(store: &TaskStore, name: &TaskName) -> Result<TaskRecord, RecordError> {
    let record = store.record(name, now()).await?;
    record.as_ref().and_then(TaskRecord::read).ok_or(RecordError::Unknown)
}

/// Changes the record of a task, and returns what `change` returns.
///
/// # Errors
///
/// If there is none, it would be too long, or the store fails.
pub(super) async fn change<T: Send>(
    store: &TaskStore,
    name: &TaskName,
    mut change: impl FnMut(&mut TaskRecord) -> T + Send,
) -> Result<T, RecordError> {
    let now = now();
    let changed = store.change(name, now, |text| {
        let Some(mut record) = TaskRecord::read(text) else {
            return (None, Err(RecordError::Unknown));
        };
        let value = change(&mut record);
        if record.write() == *text {
            return (None, Ok(value));
        }
        record.touch(now);
        let text = record.write();
        match text.len() > store.longest_record() {
            true => (None, Err(RecordError::TooLong(store.longest_record()))),
            false => (Some(text), Ok(value)),
        }
    });
    changed.await?.ok_or(RecordError::Unknown)?
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    // spec: TASK-19, TASK-69, XTASK-47
    #[test]
    fn ids_are_random_and_none_comes_twice() {
        let ids: HashSet<_> = (0..10_000).map(|_| new_id().unwrap()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| is_id(id)));
        // Each of the 128 bits is set in about half of the ids.
        let mut counts = [0; 8 * ID_BYTES];
        for id in &ids {
            let bytes = URL_SAFE_NO_PAD.decode(id).unwrap();
            for (place, count) in counts.iter_mut().enumerate() {
                *count += usize::from(bytes[place / 8] >> (place % 8) & 1);
            }
        }
        assert!(counts.iter().all(|count| (4_500..5_500).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_key_of_an_owner_names_it() {
        for owner in [
            Owner::anonymous(),
            Owner::known("https://auth.example", "ann/a.b"),
            Owner::known("", ""),
        ] {
            assert_eq!(owner_of(&owner_key(&owner)), Some(owner));
        }
        assert_eq!(owner_of("a.!"), None);
    }
}
