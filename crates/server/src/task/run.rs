//! Drives a call that runs as a task, and records how it goes on and ends.

use std::collections::HashMap;
use std::sync::Arc;

use bowline_proto::request::{OutgoingQuestion, QuestionError, Reply, Response};
use bowline_store::tasks::{TaskName, TaskStore, TaskWatch};
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use futures_core::future::BoxFuture;
use tokio::time::Instant;

use super::lease::RunningTask;
use super::listening::Listening;
use super::origin::Origin;
use super::pauses::Pauses;
use super::record::{RecordedAnswer, TaskRecord};
use super::records::{self, RecordError};
use super::server_tasks::ServerTasks;
use super::sink::{PendingMessages, TaskSink};

/// A task that runs in this process.
pub(super) struct TaskRun {
    pub(super) store: TaskStore,
    pub(super) name: TaskName,
    pub(super) sink: Arc<TaskSink>,
    running: RunningTask,
    /// The most questions that may be open.
    questions: usize,
    /// Takes the answers, by the keys of the questions.
    waiting: HashMap<String, Reply>,
}

/// How a run ends.
enum RunEnd {
    Answered(Response),
    /// The record says that the call must not go on.
    Withdrawn,
    Expired,
}

/// What the record says about the call.
enum Verdict {
    GoesOn,
    /// It ended, expired, or was given to another server.
    Ends,
    /// The store failed.
    Unknown,
}

impl TaskRun {
    /// A run whose call reports to `origin`, if there is one.
    pub(super) fn new(
        tasks: &ServerTasks,
        name: TaskName,
        running: RunningTask,
        origin: Option<Origin>,
    ) -> Self {
        let sink = Arc::new(TaskSink::new(origin));
        let (store, questions) = (tasks.store(), tasks.shared.limits.questions.max(1));
        Self { store, name, sink, running, questions, waiting: HashMap::new() }
    }

    /// Drives the call until it ends, is cancelled, or its time is over. Dropping the call then
    /// cancels it: its handler is dropped, unless it wants time to clean up.
    ///
    /// The call goes on while its record is written, however long the store takes.
    pub(super) async fn drive(
        mut self,
        mut call: BoxFuture<'static, Response>,
        watch: TaskWatch,
        expires: Instant,
    ) {
        let listening = Listening::new(self.store.clone(), self.name.clone(), watch);
        let end = tokio::select! {
            biased;
            response = &mut call => RunEnd::Answered(response),
            () = self.keep_record(listening) => RunEnd::Withdrawn,
            () = tokio::time::sleep_until(expires) => RunEnd::Expired,
        };
        self.sink.close();
        drop(call);
        match end {
            RunEnd::Answered(response) => self.finish(response, expires).await,
            RunEnd::Withdrawn => {}
            RunEnd::Expired => _ = self.store.delete(&self.name).await,
        }
    }

    /// Records what the call sends, and passes answers to it, until the record says that the call
    /// must not go on.
    async fn keep_record(&mut self, mut listening: Listening) {
        let sink = self.sink.clone();
        loop {
            tokio::select! {
                biased;
                // Changes come before messages of the call. So frequent progress does not hold up a
                // cancellation.
                () = listening.changed() => {}
                // The announcement of a change may be lost.
                () = self.running.renewed() => {}
                () = sink.woken() => {
                    self.record(sink.take()).await;
                    continue;
                }
            }
            match self.read_record().await {
                Verdict::GoesOn => listening.succeed(),
                Verdict::Unknown => listening.fail(),
                Verdict::Ends => return,
            }
        }
    }

    /// Records how the call ended. While the store fails, it tries again, until the task expires:
    /// the call was answered long ago, so the failure cannot be reported to the client.
    async fn finish(&mut self, mut response: Response, expires: Instant) {
        let mut pauses = Pauses::new();
        loop {
            match self.change(|it| it.end(&response)).await {
                Err(RecordError::Store(_)) => {
                    let again = Instant::now() + pauses.take();
                    if again >= expires {
                        return;
                    }
                    tokio::time::sleep_until(again).await;
                }
                Err(RecordError::TooLong(most)) => response = Err(too_long("result", most)),
                _ => return,
            }
        }
    }

    /// Records what the call has sent.
    async fn record(&mut self, pending: PendingMessages) {
        let PendingMessages { questions, message, .. } = pending;
        let (requests, replies): (Vec<_>, Vec<_>) = questions
            .into_iter()
            .map(|OutgoingQuestion { request, reply, .. }| (request, reply))
            .unzip();
        let mut asked = self.ask(message.as_deref(), &requests).await;
        if let Err(RecordError::TooLong(_)) = asked {
            // Questions matter more than the text about what is being done.
            asked = self.ask(None, &requests).await;
        }
        let keys = match asked {
            Ok(Some(keys)) => keys,
            Err(RecordError::TooLong(most)) => {
                let refusal = || QuestionError::Refused(too_long("question", most));
                return replies.into_iter().for_each(|reply| reply.deliver(Err(refusal())));
            }
            // The replies are dropped, and their questions fail: there is no record any more, or the
            // store failed. If it has stored the questions all the same, `read_record` withdraws
            // them.
            Ok(None) | Err(_) => return,
        };
        for (key, reply) in keys.into_iter().zip(replies) {
            match key {
                Some(key) => _ = self.waiting.insert(key, reply),
                None => reply.deliver(Err(QuestionError::TooMany)),
            }
        }
    }

    /// Adds questions to the record, and returns their keys. A key is missing if there are too many
    /// questions.
    async fn ask(
        &mut self,
        message: Option<&str>,
        requests: &[InputRequest],
    ) -> Result<Option<Vec<Option<String>>>, RecordError> {
        let most = self.questions;
        self.change(|record| {
            if let Some(message) = message {
                record.describe(message.to_owned());
            }
            requests.iter().map(|request| record.ask(request.clone(), most)).collect()
        })
        .await
    }

    /// Reads the record, and passes new answers to the call. They are removed from the record only
    /// then, so that none is lost if the store fails.
    async fn read_record(&mut self) -> Verdict {
        let mut record = match records::read(&self.store, &self.name).await {
            Ok(record) if record.is_run_by(self.running.replica()) => record,
            Err(RecordError::Store(_)) => return Verdict::Unknown,
            Ok(_) | Err(_) => return Verdict::Ends,
        };
        if let Some(origin) = &self.sink.origin {
            origin.status(record.as_core_task(self.name.id()));
        }
        if record.has_ended() {
            return Verdict::Ends;
        }
        let answers = record.take_answers();
        let delivered: Vec<_> = answers.iter().map(|answer| answer.key.clone()).collect();
        answers.into_iter().for_each(|answer| self.deliver(answer));
        let awaited: Vec<_> = self.waiting.keys().cloned().collect();
        if delivered.is_empty() && record.questions().iter().all(|it| awaited.contains(&it.key)) {
            return Verdict::GoesOn;
        }
        match self.change(|record| record.settle(&delivered, &awaited)).await {
            Ok(Some(())) => Verdict::GoesOn,
            Err(RecordError::Store(_)) => Verdict::Unknown,
            Ok(None) | Err(_) => Verdict::Ends,
        }
    }

    /// Passes an answer to the call, unless that was done before.
    fn deliver(&mut self, answer: RecordedAnswer) {
        let Some(reply) = self.waiting.remove(&answer.key) else { return };
        reply.deliver(match answer.refusal {
            Some(refusal) => Err(QuestionError::Refused(refusal)),
            None => Ok(answer.answer.unwrap_or_default()),
        });
    }

    /// Changes the record, and sends a new status to the client that created the task. `None` if
    /// another server has taken the task: the run that it replaced must not change anything any
    /// more.
    async fn change<T: Send>(
        &mut self,
        mut change: impl FnMut(&mut TaskRecord) -> T + Send,
    ) -> Result<Option<T>, RecordError> {
        let (replica, id) = (self.running.replica(), self.name.id());
        let origin = self.sink.origin.as_ref();
        let changed = records::change(&self.store, &self.name, |record| {
            let task = |record: &TaskRecord| origin.map(|_| record.as_core_task(id));
            record.is_run_by(replica).then(|| (change(record), task(record)))
        });
        let Some((value, task)) = changed.await? else { return Ok(None) };
        if let Some((origin, task)) = origin.zip(task) {
            origin.status(task);
        }
        Ok(Some(value))
    }
}

/// The error for what does not fit into the record.
fn too_long(what: &str, most: usize) -> ErrorObject {
    ErrorObject::internal(format!(
        "the {what} is too long: at most {most} bytes are kept of a task"
    ))
}
