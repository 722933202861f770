//! The tasks of 2025-11-25.
//!
//! There a question of a task is a request of the server. It goes to the client on the stream of a
//! `tasks/result` that waits for the task, because that is the one stream on which the client
//! expects messages of the task.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::request::{
    Access, Outgoing, OutgoingQuestion, Parts, QuestionError, Reply, Request, Response, Success,
};
use bowline_proto::sync::lock;
use bowline_store::tasks::{TaskName, TaskStore};
use bowline_types::error::ErrorObject;
use bowline_types::id::Cursor;
use bowline_types::json::RawJson;
use bowline_types::legacy::task::{CreateTaskResult, ListTasksResult, RelatedTask};
use bowline_types::meta::{Meta, key};
use bowline_types::method::Method;
use bowline_types::page::PageParams;
use serde::Serialize;
use tokio::sync::mpsc;

use super::abandoned;
use super::record::{RecordedAnswer, RecordedQuestion, TaskRecord};
use super::records::{self, RecordError};
use super::server_tasks::ServerTasks;

/// The most tasks of one page of `tasks/list`.
const PAGE: usize = 50;

/// How often a `tasks/result` that waits reads the record: the server that runs the task may have
/// stopped, or the announcement of a change may be lost.
const READ_AGAIN: Duration = Duration::from_secs(5);

/// Whether the server can list the tasks of a caller without those of others: the caller is a
/// verified owner, or the one client of a channel like stdio (TASK-70).
pub(crate) fn may_list(parts: &Parts) -> bool {
    parts.owner.identity().is_some() || parts.access == Access::everything()
}

/// The answer to a call that became a task (TASK-13).
pub(super) fn created(record: &TaskRecord, id: &str) -> Response {
    complete(&CreateTaskResult::new(record.as_core_task(id)))
}

/// Serves `tasks/get`, `tasks/result`, `tasks/cancel` and `tasks/list`.
pub(super) async fn serve(
    store: &TaskStore,
    request: &Request,
    tasks: &Arc<ServerTasks>,
) -> Response {
    if request.parts.method == Method::TasksList {
        return list(store, request, tasks).await;
    }
    let name = records::named(request)?;
    match request.parts.method {
        Method::TasksGet => {
            complete(&abandoned::read(tasks, store, &name).await?.as_core_task(name.id()))
        }
        Method::TasksCancel => {
            let cancelled = records::change(store, &name, |record| {
                record.cancel().then(|| record.as_core_task(name.id()))
            });
            let ended = || ErrorObject::invalid_params("the task has ended already");
            let cancelled = cancelled.await?.ok_or_else(ended)?;
            tasks.sinks.close(&cancelled);
            complete(&cancelled)
        }
        _ => ResultRequest { store, name: &name, parts: &request.parts, tasks }.serve().await,
    }
}

async fn list(store: &TaskStore, request: &Request, tasks: &Arc<ServerTasks>) -> Response {
    if !may_list(&request.parts) {
        let message = "`tasks/list` is not offered: the server cannot tell its callers apart";
        return Err(ErrorObject::method_not_found(message));
    }
    let params: PageParams = request.params.parse_all().map_err(ErrorObject::misread_params)?;
    let after = params.cursor.as_ref().map(Cursor::as_str);
    if after.is_some_and(|id| !records::is_id(id)) {
        return Err(ErrorObject::invalid_params("`params.cursor`: not one of this list"));
    }
    let owner = records::owner_key(&request.parts.owner);
    let now = records::now();
    let ids = store.ids(&owner, after, PAGE + 1, now).await.map_err(RecordError::from)?;
    let mut listed = Vec::new();
    for id in ids.iter().take(PAGE) {
        let name = records::name(&request.parts, id.clone());
        match abandoned::read(tasks, store, &name).await {
            Ok(record) => listed.push(record.as_core_task(id)),
            // It has expired, or is about to be created.
            Err(RecordError::Unknown) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut page = ListTasksResult::new(listed);
    page.next_cursor = ids.get(PAGE).and(ids.get(PAGE - 1)).map(|last| Cursor::new(last.clone()));
    complete(&page)
}

/// A `tasks/result` that is served.
struct ResultRequest<'a> {
    store: &'a TaskStore,
    name: &'a TaskName,
    parts: &'a Parts,
    tasks: &'a Arc<ServerTasks>,
}

/// The key of a question, and what the client answered.
type Answered = (String, Result<RawJson, QuestionError>);

impl ResultRequest<'_> {
    /// Waits until the task has ended, and puts its questions to the client meanwhile (TASK-37).
    async fn serve(&self) -> Response {
        // Watches before it reads, so that no change between the two is missed.
        let mut watch = self.store.watch(self.name).await.map_err(RecordError::from)?;
        let (answers, mut answered) = mpsc::unbounded_channel();
        let mut asked = AskedQuestions { request: self, keys: HashSet::new() };
        loop {
            let record = abandoned::read(self.tasks, self.store, self.name).await?;
            if let Some(response) = record.response() {
                return response.map(|success| self.related(&success));
            }
            for question in record.questions() {
                asked.ask(question, &answers).await;
            }
            tokio::select! {
                changed = watch.changed() => changed.map_err(RecordError::from)?,
                () = tokio::time::sleep(READ_AGAIN) => {}
                answer = answered.recv() => if let Some(answer) = answer {
                    self.take(answer).await?;
                }
            }
        }
    }

    /// Records an answer, as `tasks/update` does on 2026-07-28. A question that could not reach the
    /// client stays open for the next `tasks/result`.
    async fn take(&self, (key, answered): Answered) -> Result<(), RecordError> {
        let (answer, refusal) = match answered {
            Ok(answer) => (Some(answer), None),
            Err(QuestionError::Refused(error)) => (None, Some(error)),
            Err(_) => return Ok(()),
        };
        match self.record(&key, answer, refusal).await {
            // The question gets an error in the place of an answer that does not fit.
            Err(error @ RecordError::TooLong(_)) => {
                self.record(&key, None, Some(error.into())).await
            }
            recorded => recorded,
        }
    }

    async fn record(
        &self,
        key: &str,
        answer: Option<RawJson>,
        refusal: Option<ErrorObject>,
    ) -> Result<(), RecordError> {
        records::change(self.store, self.name, |record| {
            let (key, answer, refusal) = (key.to_owned(), answer.clone(), refusal.clone());
            record.answer(RecordedAnswer { key, answer, refusal });
        })
        .await
    }

    /// The result, with the task that it belongs to (TASK-46).
    fn related(&self, success: &Success) -> Success {
        let mut meta = success.meta().clone();
        let task = RawJson::from_value(&RelatedTask::new(self.name.id())).unwrap_or_default();
        meta.set_reserved(key::RELATED_TASK, task);
        Success::raw(RawJson::from_checked(success.body().as_str()), meta)
    }
}

/// The questions that a `tasks/result` has put to the client. They are free for another one when it
/// ends.
struct AskedQuestions<'a> {
    request: &'a ResultRequest<'a>,
    keys: HashSet<String>,
}

impl AskedQuestions<'_> {
    /// Asks, unless this or another request has done so.
    async fn ask(&mut self, question: &RecordedQuestion, to: &mpsc::UnboundedSender<Answered>) {
        let RecordedQuestion { key, request } = question;
        if self.keys.contains(key) || !self.claim(key) {
            return;
        }
        self.keys.insert(key.clone());
        let (to, of_question) = (to.clone(), key.clone());
        let reply = Reply::new(move |answer| _ = to.send((of_question, answer)));
        let task = Some(Box::new(RelatedTask::new(self.request.name.id())));
        let question = OutgoingQuestion { request: request.clone(), reply, task };
        // If the client is gone, the question stays open.
        _ = self.request.parts.outbox.send(Outgoing::Ask(question)).await;
    }

    fn claim(&self, key: &str) -> bool {
        lock(&self.request.tasks.carried).insert(self.place(key))
    }

    fn place(&self, key: &str) -> (String, String) {
        (self.request.name.id().to_owned(), key.to_owned())
    }
}

impl Drop for AskedQuestions<'_> {
    fn drop(&mut self) {
        let mut carried = lock(&self.request.tasks.carried);
        for key in &self.keys {
            carried.remove(&self.place(key));
        }
    }
}

/// A result as it is. All of them have the shape of this revision.
fn complete<T: Serialize>(result: &T) -> Response {
    Ok(Success::raw(records::json(result)?, Meta::new()))
}
