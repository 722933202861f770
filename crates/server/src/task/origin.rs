//! The client that created a task of 2025-11-25, for as long as its connection is there.
//!
//! It gets messages about the task without asking: how far the task is, under the progress token of
//! its call (PROG-11), each new status, and notifications of extensions. Such messages may be lost,
//! so a client that wants to be sure asks.

use std::sync::Mutex;

use bowline_proto::request::{
    ExtensionNotification, Outbox, Outgoing, Parts, ProgressUpdate, TaskNotification,
};
use bowline_proto::sync::lock;
use bowline_types::ext::tasks::TaskStatus;
use bowline_types::id::ProgressToken;
use bowline_types::legacy::task::{CoreTask, RelatedTask};

/// The client that created a task.
pub(super) struct Origin {
    outbox: Outbox,
    task: RelatedTask,
    /// Under which it asked for progress.
    token: Option<ProgressToken>,
    sent: Mutex<Sent>,
}

/// What was sent last.
struct Sent {
    progress: f64,
    status: TaskStatus,
}

impl Origin {
    /// The client that makes a call; `None` in revisions whose clients expect no such messages.
    pub(super) fn of(parts: &Parts, task: &str) -> Option<Self> {
        parts.revision.has_core_tasks().then(|| Self {
            outbox: parts.outbox.clone(),
            task: RelatedTask::new(task),
            token: parts.progress.clone(),
            sent: Mutex::new(Sent { progress: f64::NEG_INFINITY, status: TaskStatus::Working }),
        })
    }

    /// Sends progress, if the client asked for it and it is more than the last (PROG-4).
    pub(super) fn progress(&self, update: &ProgressUpdate) {
        let Some(token) = self.token.clone() else { return };
        let mut sent = lock(&self.sent);
        if !update.progress.is_finite() || update.progress <= sent.progress {
            return;
        }
        sent.progress = update.progress;
        let (task, mut update) = (self.task.clone(), update.clone());
        update.total = update.total.filter(|total| total.is_finite());
        self.send(TaskNotification::Progress { task, token, update });
    }

    /// Sends the task, if its status is another than before (TASK-47). None follows a final one: a
    /// cancellation may overtake a status that was stored before it (TASK-22).
    pub(super) fn status(&self, task: CoreTask) {
        let mut sent = lock(&self.sent);
        if sent.status != task.status && !sent.status.is_terminal() {
            sent.status = task.status.clone();
            self.send(TaskNotification::Status(task));
        }
    }

    /// Sends a notification of an extension.
    pub(super) fn extension(&self, message: ExtensionNotification) {
        self.send(TaskNotification::Extension { task: self.task.clone(), message });
    }

    /// Announces that an elicitation by URL is complete.
    ///
    /// # Errors
    ///
    /// Gives the message back if the connection is closed.
    pub(super) fn pass_on(&self, completed: Outgoing) -> Result<(), Outgoing> {
        self.outbox.emit(completed)
    }

    fn send(&self, notification: TaskNotification) {
        // If the connection is closed, the client has to ask.
        _ = self.outbox.emit(Outgoing::Task(Box::new(notification)));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use bowline_proto::request::{ExchangeId, Sink};

    use super::*;

    /// Collects the statuses that are sent.
    #[derive(Default)]
    struct Statuses(Mutex<Vec<TaskStatus>>);

    impl Sink for Statuses {
        fn poll_ready(&self, _: ExchangeId, _: &mut Context<'_>) -> Poll<()> {
            Poll::Ready(())
        }

        fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
            if let Outgoing::Task(notification) = outgoing
                && let TaskNotification::Status(task) = *notification
            {
                lock(&self.0).push(task.status);
            }
            Ok(())
        }
    }

    // spec: TASK-22
    #[test]
    fn no_status_follows_a_final_one() {
        let sent = Arc::new(Statuses::default());
        let origin = Origin {
            outbox: Outbox::new(ExchangeId(0), sent.clone()),
            task: RelatedTask::new("t"),
            token: None,
            sent: Mutex::new(Sent { progress: 0.0, status: TaskStatus::Working }),
        };
        // The run stored that it asks before another request cancelled the task, and reports later.
        for status in [TaskStatus::Cancelled, TaskStatus::InputRequired] {
            let mut task = CoreTask::new("t", "2026-07-28T12:00:00.000Z");
            task.status = status;
            origin.status(task);
        }
        assert_eq!(*lock(&sent.0), [TaskStatus::Cancelled]);
    }
}
