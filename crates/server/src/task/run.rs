//! Drives a call that runs as a task, and records what becomes of it.

use std::collections::HashMap;
use std::sync::Arc;

use bowline_proto::request::{OutgoingQuestion, QuestionError, Reply, Response};
use bowline_store::tasks::{TaskName, TaskStore, TaskWatch};
use futures_core::future::BoxFuture;
use tokio::time::Instant;

use super::records;
use super::sink::{Pending, TaskSink};

/// A task that runs in this process.
pub(super) struct TaskRun {
    pub(super) store: TaskStore,
    pub(super) name: TaskName,
    pub(super) sink: Arc<TaskSink>,
    /// The most questions that may be open.
    pub(super) questions: usize,
    /// Takes the answers, by the keys of the questions.
    pub(super) waiting: HashMap<String, Reply>,
}

impl TaskRun {
    /// Drives the call until it ends, is cancelled, or its time is over. Dropping the call then
    /// cancels it: its handler is dropped, unless it wants time to clean up.
    pub(super) async fn drive(
        mut self,
        mut call: BoxFuture<'static, Response>,
        mut watch: TaskWatch,
        expires: Instant,
    ) {
        let sink = self.sink.clone();
        loop {
            tokio::select! {
                biased;
                response = &mut call => {
                    sink.close();
                    // If the store fails, the record stays as it is until it expires: the call was
                    // answered long ago, so the failure cannot be reported to the client.
                    _ = records::change(&self.store, &self.name, |it| it.end(&response)).await;
                    return;
                }
                () = sink.woken() => self.record(sink.take()).await,
                news = watch.changed() => {
                    if news.is_err() || !self.hear().await {
                        break;
                    }
                }
                () = tokio::time::sleep_until(expires) => {
                    _ = self.store.delete(&self.name).await;
                    break;
                }
            }
        }
        sink.close();
    }

    /// Records what the call has sent.
    async fn record(&mut self, pending: Pending) {
        let Pending { questions, message, .. } = pending;
        let (requests, replies): (Vec<_>, Vec<_>) = questions
            .into_iter()
            .map(|OutgoingQuestion { request, reply, .. }| (request, reply))
            .unzip();
        let most = self.questions;
        let recorded = records::change(&self.store, &self.name, |record| {
            if let Some(message) = &message {
                record.describe(message.clone());
            }
            let ask = |request: &_| record.ask(Clone::clone(request), most);
            requests.iter().map(ask).collect::<Vec<_>>()
        });
        // If there is no record any more, the replies are dropped, and their questions fail.
        let Ok(keys) = recorded.await else { return };
        for (key, reply) in keys.into_iter().zip(replies) {
            match key {
                Some(key) => _ = self.waiting.insert(key, reply),
                None => reply.deliver(Err(QuestionError::TooMany)),
            }
        }
    }

    /// Passes new answers to the call. Returns `false` if the call has to end.
    async fn hear(&mut self) -> bool {
        let read = records::change(&self.store, &self.name, |record| {
            (record.has_ended(), record.take_answers())
        });
        let Ok((has_ended, answers)) = read.await else { return false };
        for answer in answers {
            if let Some(reply) = self.waiting.remove(&answer.key) {
                reply.deliver(match answer.refusal {
                    Some(refusal) => Err(QuestionError::Refused(refusal)),
                    None => Ok(answer.answer.unwrap_or_default()),
                });
            }
        }
        !has_ended
    }
}
