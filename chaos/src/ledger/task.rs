//! Tasks, as their clients saw them.

use std::time::Duration;

use super::End;

/// A call that a client wanted to run as a task.
#[derive(Clone, Debug)]
pub struct Task {
    /// The number of the call.
    pub nonce: u64,
    /// The session, for clients with a handshake.
    pub session: Option<String>,
    /// Whether the tool may run again if its process stops.
    pub is_idempotent: bool,
    /// When the client sent the call.
    pub began: Duration,
    /// When the client got the id of the task.
    pub created: Option<Duration>,
    /// When the client knew the end.
    pub ended: Duration,
    /// How many times the client asked for the task.
    pub polls: u32,
    /// How it ended for the client.
    pub end: TaskEnd,
}

/// How a task ended for its client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TaskEnd {
    /// Completed, with the text of the result.
    Completed(String),
    /// Failed, with the message of the status, and when it did by the clock of the server. A client may
    /// learn of it much later.
    Failed(String, Option<Duration>),
    /// The call was not answered with a task.
    NotCreated(End),
    /// No task has the id any more.
    Unknown,
    /// The session is unknown: 404.
    SessionLost,
    /// After a final state the client saw this one.
    Changed(String),
    /// The client gave up waiting.
    Overdue,
}
