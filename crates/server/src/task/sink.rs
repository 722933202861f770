//! Takes the messages that a call sends while it runs as a task.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bowline_proto::request::{ExchangeId, Outgoing, OutgoingQuestion, Sink};
use bowline_proto::sync::lock;
use bowline_types::legacy::task::CoreTask;
use tokio::sync::Notify;

use super::origin::Origin;

/// Collects questions and the newest progress message until the task records them. Log messages
/// are dropped, since a task has no stream for them (XTASK-37). Progress and notifications of
/// extensions go to the client that created the task, if its revision has that.
pub(super) struct TaskSink {
    pending: Mutex<PendingMessages>,
    woken: Notify,
    /// The client that created the task, in the revision that sends it news.
    pub(super) origin: Option<Origin>,
}

/// What the call has sent since this was last taken.
#[derive(Default)]
pub(super) struct PendingMessages {
    pub(super) questions: Vec<OutgoingQuestion>,
    pub(super) message: Option<String>,
    has_ended: bool,
}

impl TaskSink {
    pub(super) fn new(origin: Option<Origin>) -> Self {
        Self { pending: Mutex::default(), woken: Notify::new(), origin }
    }

    /// Waits until the call has sent something. Cancel-safe.
    pub(super) async fn woken(&self) {
        self.woken.notified().await;
    }

    pub(super) fn take(&self) -> PendingMessages {
        let mut pending = lock(&self.pending);
        let has_ended = pending.has_ended;
        std::mem::replace(
            &mut *pending,
            PendingMessages { has_ended, ..PendingMessages::default() },
        )
    }

    /// Takes no more messages, and fails the questions that were not recorded yet.
    pub(super) fn close(&self) {
        *lock(&self.pending) = PendingMessages { has_ended: true, ..PendingMessages::default() };
    }
}

/// The sinks of the tasks that run on this server, by the ids of the tasks.
#[derive(Default)]
pub(super) struct RunningSinks(Mutex<HashMap<String, Arc<TaskSink>>>);

impl RunningSinks {
    /// Enters the sink of a task, until the guard is dropped.
    pub(super) fn enter(&self, task: &str, sink: &Arc<TaskSink>) -> EnteredSink<'_> {
        lock(&self.0).insert(task.to_owned(), sink.clone());
        EnteredSink { sinks: self, task: task.to_owned() }
    }

    /// Closes the sink of a task that was cancelled, so that no progress is sent after the answer
    /// to the cancellation. If another server runs the task, that server closes it a little later.
    pub(super) fn close(&self, cancelled: &CoreTask) {
        let sink = lock(&self.0).get(&cancelled.task_id).cloned();
        if let Some(sink) = sink {
            sink.close();
            if let Some(origin) = &sink.origin {
                origin.status(cancelled.clone());
            }
        }
    }
}

pub(super) struct EnteredSink<'a> {
    sinks: &'a RunningSinks,
    task: String,
}

impl Drop for EnteredSink<'_> {
    fn drop(&mut self) {
        lock(&self.sinks.0).remove(&self.task);
    }
}

impl Sink for TaskSink {
    /// A message replaces the one before, and each question is awaited by the handler. So there is
    /// always room.
    fn poll_ready(&self, _: ExchangeId, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn emit(&self, _: ExchangeId, outgoing: Outgoing) -> Result<(), Outgoing> {
        let mut pending = lock(&self.pending);
        match (outgoing, &self.origin) {
            (completed @ Outgoing::ElicitationComplete(_), Some(origin)) => {
                drop(pending);
                return origin.pass_on(completed);
            }
            (refused, _) if pending.has_ended => return Err(refused),
            (Outgoing::Ask(question), _) => pending.questions.push(question),
            (Outgoing::Progress(update), origin) => {
                if let Some(origin) = origin {
                    // Under the lock, so that none is sent once the sink is closed (PROG-12).
                    origin.progress(&update);
                }
                if update.message.is_none() {
                    return Ok(());
                }
                pending.message = update.message;
            }
            (Outgoing::Notification(message), Some(origin)) => {
                origin.extension(*message);
                return Ok(());
            }
            _ => return Ok(()),
        }
        drop(pending);
        self.woken.notify_one();
        Ok(())
    }
}
