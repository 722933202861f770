//! Waits for changes of a task, also after its store has failed for a while.

use bowline_store::tasks::{TaskName, TaskStore, TaskWatch};
use tokio::time::Instant;

use super::pauses::Pauses;

/// Reports when to read the record of a task again.
pub(super) struct Listening {
    store: TaskStore,
    name: TaskName,
    /// `None` while the topic of the task is closed.
    watch: Option<TaskWatch>,
    /// When to read again because the store failed.
    again: Option<Instant>,
    pauses: Pauses,
}

impl Listening {
    pub(super) fn new(store: TaskStore, name: TaskName, watch: TaskWatch) -> Self {
        Self { store, name, watch: Some(watch), again: None, pauses: Pauses::new() }
    }

    /// Waits until the record may have changed. Cancel-safe.
    pub(super) async fn changed(&mut self) {
        let Some(again) = self.again else { return self.announced().await };
        tokio::select! {
            () = tokio::time::sleep_until(again) => {}
            () = self.announced() => {}
        }
        if self.watch.is_none() {
            // The record is read after it is watched, so no change is missed.
            self.watch = self.store.watch(&self.name).await.ok();
        }
        if self.watch.is_none() {
            self.fail();
        }
    }

    /// Notes that the record could not be read: it is read again after a pause.
    pub(super) fn fail(&mut self) {
        self.again = Some(Instant::now() + self.pauses.take());
    }

    /// Notes that the record was read.
    pub(super) fn succeed(&mut self) {
        if self.watch.is_some() {
            (self.again, self.pauses) = (None, Pauses::new());
        }
    }

    /// Waits for the announcement of a change, for good if the topic is closed.
    async fn announced(&mut self) {
        let Some(watch) = &mut self.watch else { return std::future::pending().await };
        if watch.changed().await.is_err() {
            self.watch = None;
            self.fail();
        }
    }
}
