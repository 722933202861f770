//! What is stored of a task.

use std::time::{Duration, SystemTime};

use bowline_proto::request::{Response, Success, SuccessKind};
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks::{Task, TaskStatus};
use bowline_types::input::{InputRequest, InputRequests};
use bowline_types::json::{Object, RawJson};
use bowline_types::legacy::task::CoreTask;
use bowline_types::meta::Meta;
use bowline_types::read;
use bowline_types::text::excerpt;
use bowline_types::time::{iso, millis, since_1970};
use bowline_types::tool::CallToolResult;
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::recorded_call::RecordedCall;

/// How often a call runs at most. A call that ends its process each time must not end every process
/// that runs it again.
const MOST_RUNS: u32 = 3;

/// The state of a task, as it is stored. The same for both kinds of tasks; each reads it in its own
/// words.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TaskRecord {
    status: TaskStatus,
    message: Option<String>,
    /// Times are in milliseconds, those of day since 1970.
    created: u64,
    updated: u64,
    ttl: u64,
    poll: u64,
    /// How many questions were asked so far. No key is used twice (XTASK-25, XTASK-26).
    asked: usize,
    /// Questions that wait for an answer.
    questions: Vec<RecordedQuestion>,
    /// Answers that the handler has not taken yet.
    answers: Vec<RecordedAnswer>,
    /// How the call ended; `None` while it runs, and if it was cancelled.
    outcome: Option<RecordedOutcome>,
    /// The server that runs the task.
    replica: String,
    /// The call, if it may run again after its server stopped.
    call: Option<RecordedCall>,
    /// How often it ran.
    runs: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RecordedQuestion {
    pub(super) key: String,
    pub(super) request: InputRequest,
}

/// An answer, or the error with which the client refused the question.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct RecordedAnswer {
    pub(super) key: String,
    pub(super) answer: Option<RawJson>,
    pub(super) refusal: Option<ErrorObject>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum RecordedOutcome {
    Result { body: RawJson, meta: Meta, is_error: bool },
    Error(ErrorObject),
}

impl TaskRecord {
    /// A task that begins (TASK-20).
    pub(super) fn new(
        now: SystemTime,
        (ttl, poll): (Duration, Duration),
        replica: &str,
        call: Option<RecordedCall>,
    ) -> Self {
        Self {
            status: TaskStatus::Working,
            message: None,
            created: since_1970(now),
            updated: since_1970(now),
            ttl: millis(ttl),
            poll: millis(poll),
            asked: 0,
            questions: Vec::new(),
            answers: Vec::new(),
            outcome: None,
            replica: replica.to_owned(),
            call,
            runs: 1,
        }
    }

    /// Reads a record; `None` if this server did not write it.
    pub(super) fn read(text: &Bytes) -> Option<Self> {
        read::text(text).and_then(read::read).ok()
    }

    pub(super) fn write(&self) -> Bytes {
        serde_json::to_vec(self).unwrap_or_default().into()
    }

    /// Notes the time of a change.
    pub(super) fn touch(&mut self, now: SystemTime) {
        self.updated = since_1970(now);
    }

    /// Whether the task has ended. It never changes then (TASK-22, XTASK-46).
    pub(super) fn has_ended(&self) -> bool {
        self.status.is_terminal()
    }

    /// The server that runs the task.
    pub(super) fn replica(&self) -> &str {
        &self.replica
    }

    /// Whether this server runs the task, or ran it.
    pub(super) fn is_run_by(&self, replica: &str) -> bool {
        self.replica == replica
    }

    /// Whether the call may run once more.
    pub(super) fn may_run_again(&self) -> bool {
        self.call.is_some() && self.runs < MOST_RUNS
    }

    /// Gives the task to another server, which runs the call from its beginning. Questions of the
    /// run before are withdrawn, and their keys are not used again.
    pub(super) fn claim(&mut self, replica: &str) -> Option<RecordedCall> {
        let call = self.call.clone().filter(|_| self.may_run_again() && !self.has_ended())?;
        replica.clone_into(&mut self.replica);
        self.runs += 1;
        self.status = TaskStatus::Working;
        (self.questions, self.answers) = Default::default();
        Some(call)
    }

    /// How long the task is kept from `now` on.
    pub(super) fn left(&self, now: SystemTime) -> Duration {
        Duration::from_millis(self.created.saturating_add(self.ttl).saturating_sub(since_1970(now)))
    }

    pub(super) fn questions(&self) -> &[RecordedQuestion] {
        &self.questions
    }

    /// Sets the text for people about what is being done.
    pub(super) fn describe(&mut self, message: String) {
        if !self.has_ended() {
            self.message = Some(message);
        }
    }

    /// Adds a question, and returns its key. `None` if no more than `most` may be open, or the task
    /// has ended.
    pub(super) fn ask(&mut self, request: InputRequest, most: usize) -> Option<String> {
        if self.has_ended() || self.questions.len() >= most {
            return None;
        }
        self.asked += 1;
        let key = format!("q{}", self.asked);
        self.questions.push(RecordedQuestion { key: key.clone(), request });
        self.status = TaskStatus::InputRequired;
        Some(key)
    }

    /// Takes an answer, if its question is open. The task works again once it has all answers
    /// (TASK-26, XTASK-30).
    pub(super) fn answer(&mut self, answer: RecordedAnswer) {
        let Some(place) = self.questions.iter().position(|open| open.key == answer.key) else {
            return;
        };
        self.questions.remove(place);
        self.answers.push(answer);
        if self.questions.is_empty() && !self.has_ended() {
            self.status = TaskStatus::Working;
        }
    }

    /// Removes answers that the call has, and questions that it does not wait for.
    pub(super) fn settle(&mut self, delivered: &[String], awaited: &[String]) {
        self.answers.retain(|answer| !delivered.contains(&answer.key));
        self.questions.retain(|question| awaited.contains(&question.key));
        if self.questions.is_empty() && !self.has_ended() {
            self.status = TaskStatus::Working;
        }
    }

    /// Leaves the call out, so that it does not run again.
    pub(super) fn forget_call(&mut self) {
        self.call = None;
    }

    /// The answers that the handler has not taken yet.
    pub(super) fn take_answers(&mut self) -> Vec<RecordedAnswer> {
        std::mem::take(&mut self.answers)
    }

    /// Ends the task with the response of the call, unless it has ended already (TASK-58).
    pub(super) fn end(&mut self, response: &Response) {
        let (status, outcome) = match response {
            Ok(success) => (TaskStatus::Completed, RecordedOutcome::of(success)),
            Err(error) => (TaskStatus::Failed, RecordedOutcome::Error(error.clone())),
        };
        let message = outcome.diagnosis();
        if self.enter(status) {
            (self.outcome, self.message) = (Some(outcome), message);
        }
    }

    /// Cancels the task. Returns `false` if it has ended already.
    pub(super) fn cancel(&mut self) -> bool {
        self.enter(TaskStatus::Cancelled)
    }

    /// Changes to a final status, unless there is one.
    fn enter(&mut self, status: TaskStatus) -> bool {
        if self.has_ended() {
            return false;
        }
        self.status = status;
        self.questions.clear();
        self.answers.clear();
        self.call = None;
        true
    }

    /// The task as the extension of 2026-07-28 writes it. A tool's own error is a result (XTASK-45).
    pub(super) fn as_task(&self, id: &str) -> Task {
        let mut task =
            Task::new(id, iso(self.created)).with_ttl_ms(self.ttl).with_poll_interval_ms(self.poll);
        task.last_updated_at = iso(self.updated);
        task.status_message.clone_from(&self.message);
        match &self.outcome {
            Some(RecordedOutcome::Result { body, meta, .. }) => {
                task.completed(with_members(body, meta))
            }
            Some(RecordedOutcome::Error(error)) => task.failed(error.clone()),
            None if self.status == TaskStatus::Cancelled => task.cancelled(),
            None if self.questions.is_empty() => task,
            None => {
                let mut requests = InputRequests::new();
                for RecordedQuestion { key, request } in &self.questions {
                    // Keys are unique.
                    _ = requests.insert(key.clone(), request.clone());
                }
                task.input_required(requests)
            }
        }
    }

    /// The task as 2025-11-25 writes it. There a tool's own error is a failure (TASK-65).
    pub(super) fn as_core_task(&self, id: &str) -> CoreTask {
        let mut task =
            CoreTask::new(id, iso(self.created)).with_ttl(self.ttl).with_poll_interval(self.poll);
        task.last_updated_at = iso(self.updated);
        task.status_message.clone_from(&self.message);
        task.status = match &self.outcome {
            Some(RecordedOutcome::Result { is_error: true, .. }) => TaskStatus::Failed,
            _ => self.status.clone(),
        };
        task
    }

    /// The response of the call, once it has ended; an error if the task was cancelled.
    pub(super) fn response(&self) -> Option<Response> {
        match &self.outcome {
            Some(RecordedOutcome::Result { body, meta, .. }) => {
                Some(Ok(Success::raw(body.clone(), meta.clone())))
            }
            Some(RecordedOutcome::Error(error)) => Some(Err(error.clone())),
            None if self.has_ended() => {
                Some(Err(ErrorObject::invalid_params("the task was cancelled: it has no result")))
            }
            None => None,
        }
    }
}

impl RecordedOutcome {
    fn of(success: &Success) -> Self {
        if success.kind() != SuccessKind::Complete {
            let message = "a layer of the tool asked for input with a result; inside a task it \
                           has to ask with `Ask`";
            return Self::Error(ErrorObject::internal(message));
        }
        let is_error = success.body().parse::<CallToolResult>().is_ok_and(|it| it.is_error);
        let body = RawJson::from_checked(success.body().as_str());
        Self::Result { body, meta: success.meta().clone(), is_error }
    }

    /// What people should know of a failure (TASK-66, XTASK-43).
    fn diagnosis(&self) -> Option<String> {
        match self {
            Self::Error(error) => Some(error.message.clone()),
            Self::Result { is_error: false, .. } => None,
            Self::Result { body, .. } => {
                let result: CallToolResult = body.parse().ok()?;
                let text = result.content.iter().find_map(|block| block.as_text())?;
                Some(excerpt(text).to_string())
            }
        }
    }
}

/// A result with the members that it has outside of a task (XTASK-17).
fn with_members(body: &RawJson, meta: &Meta) -> Object {
    let meta = if meta.is_empty() {
        String::new()
    } else {
        format!("\"_meta\":{},", serde_json::to_string(meta).unwrap_or_default())
    };
    let inside = body.as_str().trim_ascii().strip_prefix('{').unwrap_or("}").trim_ascii_start();
    let comma = if inside == "}" { "" } else { "," };
    let stamp = format!("{meta}\"resultType\":\"complete\"");
    let text = format!("{{{stamp}{comma}{inside}");
    RawJson::from_text(text).ok().and_then(|json| Object::new(json).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
