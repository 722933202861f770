//! Which waiting calls a notification about a task concerns.
//!
//! A notification is only a hint: the call that waits asks for the status at once. Only tasks that a
//! call waits for are in the table, so a server cannot make it grow.

use std::collections::HashMap;
use std::future::pending;
use std::sync::Mutex;

use bowline_proto::sync::lock;
use tokio::sync::watch::{Receiver, Sender};

/// The tasks that calls of one client wait for.
#[derive(Debug, Default)]
pub(crate) struct TaskHints(Mutex<HashMap<String, Sender<()>>>);

impl TaskHints {
    /// Hears of changes of a task until it is dropped.
    pub(crate) fn hint(&self, id: &str) -> Hint<'_> {
        let changes = lock(&self.0).entry(id.to_owned()).or_default().subscribe();
        Hint { hints: self, id: id.to_owned(), changes }
    }

    /// The server reports that a task has changed.
    pub(crate) fn changed(&self, id: &str) {
        if let Some(waiting) = lock(&self.0).get(id) {
            waiting.send_replace(());
        }
    }
}

/// Hears of changes of one task.
pub(crate) struct Hint<'a> {
    hints: &'a TaskHints,
    id: String,
    changes: Receiver<()>,
}

impl Hint<'_> {
    /// Waits for a change, if none came since this was last called.
    pub(crate) async fn changed(&mut self) {
        if self.changes.changed().await.is_err() {
            // Not reached: the sender stays in the table as long as there is a hint.
            pending::<()>().await;
        }
    }
}

impl Drop for Hint<'_> {
    fn drop(&mut self) {
        let mut waiting = lock(&self.hints.0);
        if waiting.get(&self.id).is_some_and(|changes| changes.receiver_count() <= 1) {
            waiting.remove(&self.id);
        }
    }
}
