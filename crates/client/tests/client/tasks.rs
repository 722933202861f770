//! Tasks: calls that a server continues after its first answer, in both revisions that have them.

mod handle;
mod legacy;
mod modern;
mod questions;

use serde_json::{Value, json};

/// A task of 2025-11-25.
fn core(id: &str, status: &str) -> Value {
    json!({
        "taskId": id,
        "status": status,
        "createdAt": "2025-11-25T10:30:00Z",
        "lastUpdatedAt": "2025-11-25T10:30:00Z",
        "ttl": 60000,
        "pollInterval": 2000,
    })
}

/// A task of the extension, with further members.
fn task(id: &str, status: &str, rest: Value) -> Value {
    let mut task = json!({
        "resultType": "complete",
        "taskId": id,
        "status": status,
        "createdAt": "2026-07-28T10:30:00Z",
        "lastUpdatedAt": "2026-07-28T10:30:00Z",
        "ttlMs": 60000,
        "pollIntervalMs": 2000,
    });
    let Value::Object(rest) = rest else { panic!("members") };
    task.as_object_mut().unwrap().extend(rest);
    task
}

/// The result of a tool.
fn done(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}
