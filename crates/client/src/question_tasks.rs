//! Questions that the server asks as tasks (2025-11-25): the client answers at once with a task, and
//! the server fetches the answer later.
//!
//! The tasks belong to one connection, so no other server can name them. They end with it.

use std::collections::BTreeMap;
use std::future::{poll_fn, ready};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::task::Poll;
use std::time::{Duration, SystemTime};

use bowline_proto::client::TaskRequest;
use bowline_proto::limits::Limits;
use bowline_proto::sync::{Panicked, catch_poll, lock};
use bowline_types::capability::ClientCapabilities;
use bowline_types::elicitation::ElicitParams;
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks::{IDENTIFIER, TaskStatus};
use bowline_types::id::Cursor;
use bowline_types::input::InputRequest;
use bowline_types::json::{Object, RawJson};
use bowline_types::legacy::task::{
    CoreTask, CreateTaskResult, ListTasksResult, RelatedTask, TaskMetadata, TasksCapability,
};
use bowline_types::meta::{Meta, key};
use bowline_types::method::Method;
use bowline_types::time::{iso, millis, since_1970};
use futures_core::future::BoxFuture;
use serde::Serialize;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::{Instant, timeout_at};

use crate::deadline::after;

/// How often the server should ask for the state of a task.
const POLL: Duration = Duration::from_secs(1);

/// The member of a result that holds its metadata.
const META: &str = "_meta";

/// The answer to a question, or the error that the server gets instead.
type Answered = Result<RawJson, ErrorObject>;

/// Declares tasks for the questions that the client can be asked.
pub(crate) fn declare(mut capabilities: ClientCapabilities) -> ClientCapabilities {
    let mut tasks = TasksCapability::new().with_list().with_cancel();
    if capabilities.elicitation.is_some() {
        tasks = tasks.with_request(Method::ElicitationCreate);
    }
    if capabilities.supports_sampling() {
        tasks = tasks.with_request(Method::SamplingCreateMessage);
    }
    if !tasks.requests.is_empty() {
        capabilities.tasks = Some(tasks);
    }
    capabilities
}

/// Declares that the client waits for tasks (2026-07-28).
pub(crate) fn declare_waiting(capabilities: ClientCapabilities) -> ClientCapabilities {
    // The identifier has the form that is demanded.
    capabilities.with_extension(IDENTIFIER, Object::default()).unwrap_or_default()
}

/// Takes the request for a task out of a question.
pub(crate) fn requested(question: &mut InputRequest) -> Option<TaskMetadata> {
    match question {
        InputRequest::Elicit(ElicitParams::Form(form)) => form.task.take(),
        InputRequest::Elicit(ElicitParams::Url(url)) => url.task.take(),
        InputRequest::CreateMessage(params) => params.task.take(),
        _ => None,
    }
}

/// The questions of one connection that run as tasks.
#[derive(Debug)]
pub(crate) struct QuestionTasks {
    tasks: Arc<Mutex<Tasks>>,
    /// The most tasks that are kept, ended ones included.
    most: usize,
    /// How long a task is kept, unless the server asks for less time.
    ttl: Duration,
}

#[derive(Debug, Default)]
struct Tasks {
    last: u64,
    /// By number, so that the list has the order of creation.
    kept: BTreeMap<u64, QuestionTask>,
}

/// One question.
#[derive(Debug)]
struct QuestionTask {
    task: CoreTask,
    expires: Instant,
    answered: watch::Sender<Option<Answered>>,
    run: Option<AbortHandle>,
}

impl QuestionTasks {
    pub(crate) fn new(limits: &Limits) -> Self {
        let ttl = limits.question_timeout;
        Self { tasks: Arc::default(), most: limits.questions, ttl }
    }

    /// Asks a question as a task, and gives the answer for the server: the task (TASK-13).
    ///
    /// # Errors
    ///
    /// If as many tasks are kept as may be, and none of them has ended.
    pub(crate) fn create(
        &self,
        wanted: TaskMetadata,
        ask: impl FnOnce() -> BoxFuture<'static, Answered>,
    ) -> Answered {
        let mut tasks = self.lock();
        if tasks.kept.len() >= self.most && !tasks.remove_oldest_ended() {
            let message =
                "this client keeps no more tasks; cancel one, or wait until one has ended";
            return Err(ErrorObject::internal(message));
        }
        tasks.last += 1;
        let number = tasks.last;
        let ttl = wanted.ttl.map_or(self.ttl, Duration::from_millis).min(self.ttl);
        let task = CoreTask::new(format!("q{number}"), now())
            .with_ttl(millis(ttl))
            .with_poll_interval(millis(POLL));
        let created = written(&CreateTaskResult::new(task.clone()));
        let (answered, _) = watch::channel(None);
        let expires = after(Instant::now(), ttl);
        let entry = QuestionTask { task, expires, answered, run: None };
        tasks.kept.insert(number, entry);
        let run = tokio::spawn(run(ask(), Arc::downgrade(&self.tasks), number)).abort_handle();
        if let Some(entry) = tasks.kept.get_mut(&number) {
            entry.run = Some(run);
        }
        created
    }

    /// Answers a request about a task.
    pub(crate) fn answer(&self, request: TaskRequest) -> BoxFuture<'static, Answered> {
        let mut tasks = self.lock();
        let answer = match request {
            TaskRequest::Get(id) => tasks.named(&id).and_then(|entry| written(&entry.task)),
            TaskRequest::Cancel(id) => tasks.named(&id).and_then(QuestionTask::cancel),
            TaskRequest::List(page) => tasks.list(page.cursor.as_ref()),
            TaskRequest::Result(id) => {
                let answered = tasks.named(&id).map(|entry| entry.answered.subscribe());
                return Box::pin(async move { result(&id, answered?).await });
            }
        };
        Box::pin(ready(answer))
    }

    /// The tasks that have not expired.
    fn lock(&self) -> MutexGuard<'_, Tasks> {
        let mut tasks = lock(&self.tasks);
        let now = Instant::now();
        tasks.kept.retain(|_, entry| entry.expires > now);
        tasks
    }
}

impl Tasks {
    /// The task with an id.
    ///
    /// # Errors
    ///
    /// If there is none (TASK-61).
    fn named(&mut self, id: &str) -> Result<&mut QuestionTask, ErrorObject> {
        let named = self.kept.values_mut().find(|entry| entry.task.task_id == id);
        let unknown = "`params.taskId`: no such task; it may have expired";
        named.ok_or_else(|| ErrorObject::invalid_params(unknown))
    }

    /// Makes room for a task. Returns `false` if none has ended.
    fn remove_oldest_ended(&mut self) -> bool {
        let ended = self.kept.iter().find(|(_, entry)| entry.task.status.is_terminal());
        let oldest = ended.map(|(number, _)| *number);
        oldest.and_then(|number| self.kept.remove(&number)).is_some()
    }

    /// All tasks: there are so few that they fit one page.
    fn list(&self, cursor: Option<&Cursor>) -> Answered {
        if cursor.is_some() {
            return Err(ErrorObject::invalid_params("`params.cursor`: this list has one page"));
        }
        let tasks = self.kept.values().map(|entry| entry.task.clone()).collect();
        written(&ListTasksResult::new(tasks))
    }
}

impl QuestionTask {
    /// Ends the task, unless it has ended already (TASK-22).
    fn end(&mut self, status: TaskStatus, message: Option<String>, answer: Answered) {
        if !self.task.status.is_terminal() {
            self.task.status = status;
            self.task.status_message = message;
            self.task.last_updated_at = now();
            self.answered.send_replace(Some(answer));
        }
    }

    /// Withdraws the question (TASK-55, TASK-57).
    fn cancel(&mut self) -> Answered {
        if self.task.status.is_terminal() {
            return Err(ErrorObject::invalid_params("the task has ended already"));
        }
        let error = ErrorObject::invalid_params("the task was cancelled: it has no result");
        self.end(TaskStatus::Cancelled, None, Err(error));
        if let Some(run) = self.run.take() {
            run.abort();
        }
        written(&self.task)
    }
}

impl Drop for QuestionTask {
    /// The server cannot fetch the answer any more.
    fn drop(&mut self) {
        if let Some(run) = self.run.take() {
            run.abort();
        }
    }
}

/// Waits for the answer of the application, and records it. A question that is not answered when its
/// task expires is withdrawn.
async fn run(mut ask: BoxFuture<'static, Answered>, tasks: Weak<Mutex<Tasks>>, number: u64) {
    let expires = tasks.upgrade().and_then(|it| Some(lock(&it).kept.get(&number)?.expires));
    let Some(expires) = expires else { return };
    let caught = poll_fn(|cx| match catch_poll(&mut ask, cx) {
        Ok(poll) => poll,
        Err(Panicked) => {
            Poll::Ready(Err(ErrorObject::internal("the client failed while it answered")))
        }
    });
    let answer = timeout_at(expires, caught).await;
    let Some(tasks) = tasks.upgrade() else { return };
    let mut tasks = lock(&tasks);
    let Ok(answer) = answer else {
        tasks.kept.remove(&number);
        return;
    };
    let Some(entry) = tasks.kept.get_mut(&number) else { return };
    match answer {
        Ok(answer) => entry.end(TaskStatus::Completed, None, Ok(answer)),
        Err(error) => entry.end(TaskStatus::Failed, Some(error.message.clone()), Err(error)),
    }
}

/// Waits for the answer to a question, and names its task (TASK-37, TASK-46).
async fn result(id: &str, mut answered: watch::Receiver<Option<Answered>>) -> Answered {
    let expired = || ErrorObject::invalid_params("`params.taskId`: the task has expired");
    let answer = answered.wait_for(Option::is_some).await.map_err(|_| expired())?.clone();
    let answer = answer.ok_or_else(expired)??;
    let mut members: BTreeMap<String, RawJson> = answer.parse().unwrap_or_default();
    let mut meta: Meta = members.get(META).and_then(|meta| meta.parse().ok()).unwrap_or_default();
    let task = RawJson::from_value(&RelatedTask::new(id)).unwrap_or_default();
    meta.set_reserved(key::RELATED_TASK, task);
    members.insert(META.to_owned(), written(&meta)?);
    written(&members)
}

fn written<T: Serialize>(result: &T) -> Answered {
    RawJson::from_value(result).map_err(|error| ErrorObject::internal(error.to_string()))
}

fn now() -> String {
    iso(since_1970(SystemTime::now()))
}
