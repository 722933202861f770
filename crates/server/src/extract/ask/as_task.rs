//! Asking as a task (2025-11-25): the client answers at once with a task, and the server waits for
//! the end of that.

use std::time::Duration;

use bowline_proto::request::{Outgoing, OutgoingQuestion, QuestionError, Reply};
use bowline_types::elicitation::ElicitParams;
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks::TaskStatus;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use bowline_types::legacy::task::{CoreTask, CreateTaskResult, TaskMetadata};
use bowline_types::method::Method;
use tokio::time::{Instant, sleep_until, timeout_at};

use super::legacy::send;
use crate::call::Call;

/// How long to wait between two questions for the state of a task, unless the client says it.
const POLL: Duration = Duration::from_secs(1);

/// The bounds of what the client may say.
const SHORTEST_POLL: Duration = Duration::from_millis(100);
const LONGEST_POLL: Duration = Duration::from_secs(60);

/// The answer to a question.
type Answered = Result<RawJson, QuestionError>;

/// Makes a question one that runs as a task, if the client declares that (TASK-2, TASK-3, TASK-4).
/// Returns whether it does.
pub(super) fn request(call: &Call, request: &mut InputRequest, ttl: Duration) -> bool {
    let parts = call.parts();
    let declared = parts.client.capabilities.tasks.as_ref();
    let is_declared = declared
        .zip(request.method())
        .is_some_and(|(declared, method)| declared.supports_request(method));
    if !is_declared || !parts.revision.has_core_tasks() || call.is_in_task() {
        return false;
    }
    let task = match request {
        InputRequest::Elicit(ElicitParams::Form(form)) => &mut form.task,
        InputRequest::Elicit(ElicitParams::Url(url)) => &mut url.task,
        InputRequest::CreateMessage(params) => &mut params.task,
        _ => return false,
    };
    let ttl = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
    *task = Some(TaskMetadata::new().with_ttl(ttl));
    true
}

/// Waits for the task that answers a question, and then for the end of the task.
///
/// # Errors
///
/// If the client refuses the question, or does not answer it in time.
pub(super) async fn answer(
    call: &Call,
    asking: impl Future<Output = Answered>,
    ttl: Duration,
) -> Answered {
    let first = asking.await?;
    // A client may answer at once all the same.
    let Ok(CreateTaskResult { task, .. }) = first.parse::<CreateTaskResult>() else {
        return Ok(first);
    };
    // The client may keep the task for a shorter time than it was asked for (TASK-29).
    let kept = task.ttl.map_or(ttl, Duration::from_millis).min(ttl);
    let now = Instant::now();
    let ends = now.checked_add(kept).unwrap_or(now + Duration::from_secs(24 * 60 * 60));
    let running = ClientTask { call, id: task.task_id.clone() };
    let answer = timeout_at(ends, running.wait(task)).await;
    if let Ok(Ok(_) | Err(QuestionError::Refused(_))) = answer {
        running.has_ended();
    }
    answer.unwrap_or(Err(QuestionError::TimedOut))
}

/// A task that the client runs. Cancelled when dropped.
struct ClientTask<'a> {
    call: &'a Call,
    /// Empty once the task has ended.
    id: String,
}

impl ClientTask<'_> {
    /// Asks for the state of the task until it has ended, and then for its result (TASK-34,
    /// TASK-49). A task that needs input gets it while its result is awaited (TASK-25).
    async fn wait(&self, mut task: CoreTask) -> Answered {
        loop {
            match task.status {
                TaskStatus::Working => {}
                TaskStatus::Cancelled => {
                    let message = task.status_message.as_deref();
                    let message = message.unwrap_or("the client cancelled the question");
                    return Err(QuestionError::Refused(ErrorObject::internal(message)));
                }
                _ => match self.about(Method::TasksResult).await {
                    // It may take longer than one question may.
                    Err(QuestionError::TimedOut) => {}
                    result => return result,
                },
            }
            let poll = task.poll_interval.map_or(POLL, Duration::from_millis);
            sleep_until(Instant::now() + poll.clamp(SHORTEST_POLL, LONGEST_POLL)).await;
            let state = match self.about(Method::TasksGet).await {
                Err(QuestionError::TimedOut) => continue,
                state => state?,
            };
            task = state.parse::<CoreTask>().map_err(|error| {
                let message = format!("the state of its task is invalid: {error}");
                QuestionError::Refused(ErrorObject::internal(message))
            })?;
        }
    }

    /// Asks about the task.
    async fn about(&self, method: Method) -> Answered {
        send(self.call, |reply| OutgoingQuestion::about_task(method, &self.id, reply)).await
    }

    fn has_ended(mut self) {
        self.id.clear();
    }
}

impl Drop for ClientTask<'_> {
    /// Withdraws the question, if the client offers that (TASK-5).
    fn drop(&mut self) {
        let parts = self.call.parts();
        let offers = parts.client.capabilities.tasks.as_ref().is_some_and(|it| it.cancel.is_some());
        if offers && !self.id.is_empty() {
            // The answer changes nothing.
            let reply = Reply::new(|_| ());
            let cancel = OutgoingQuestion::about_task(Method::TasksCancel, &self.id, reply);
            _ = parts.outbox.emit(Outgoing::Ask(cancel));
        }
    }
}
