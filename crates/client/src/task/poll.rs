//! Waits for a task: asks for its status at the pace that the server wants, and answers its
//! questions.
//!
//! The truth about a task is what `tasks/get` returns. A notification about the task only makes the
//! client ask at once.

mod legacy;
mod modern;

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use bowline_proto::client::{CallAnswer, CallError, CallRequest};
use bowline_proto::limits::Limits;
use bowline_proto::request::ReportedChange;
use bowline_transport::connect::{CallObserver, Link, PendingCall};
use bowline_types::error::{ErrorObject, TooManyRequests, code};
use bowline_types::ext::tasks::{GetTask, Task, TaskIdParams};
use bowline_types::json::RawJson;
use bowline_types::rpc::Rpc;
use bowline_types::subscription::{Listen, ListenParams, SubscriptionFilter};
use bowline_types::text::excerpt;
use tokio::time::{Instant, sleep_until};

use super::read;
use crate::caller::Caller;
use crate::deadline::after;
use crate::error::{Error, Result};
use crate::host::Application;
use crate::request::{self, explain};
use crate::task_hints::Hint;

/// How long to wait between two `tasks/get` if the server does not say it.
const POLL: Duration = Duration::from_secs(1);

/// How often in a row a `tasks/get` may get lost. One that arrives makes the count begin again.
const LOST: usize = 5;

/// A task to wait for.
#[derive(Clone, Debug)]
pub(crate) struct TaskWait {
    pub(crate) link: Link,
    /// How errors name the call.
    pub(crate) subject: String,
    /// How long the server may take for each answer; `None` as the limits say.
    pub(crate) timeout: Option<Duration>,
    /// How long to wait in all; `None` as the limits say.
    pub(crate) deadline: Option<Duration>,
    /// The task as the server last described it.
    pub(crate) task: Task,
    /// The caller of a relay that is asked the questions of the task.
    pub(crate) caller: Option<Arc<Caller>>,
}

/// How a wait ended.
pub(crate) struct WaitOutcome {
    /// The result of the call.
    pub(crate) result: Result<RawJson>,
    /// Whether the task may still run: the server did not say that it ended or is unknown.
    pub(crate) may_run: bool,
}

/// Waits until a task has ended, answers its questions meanwhile, and gives the result of the call.
pub(crate) async fn wait_for(application: &Arc<Application>, wait: TaskWait) -> WaitOutcome {
    let has_core_tasks = wait.link.profile().revision.has_core_tasks();
    let mut poll = TaskPoll::new(application, wait);
    let result = match has_core_tasks {
        true => poll.legacy().await,
        false => {
            let _listening = listen(application, &poll.wait);
            poll.modern().await
        }
    };
    let has_ended = result.is_ok() || poll.is_gone || poll.task().is_terminal();
    WaitOutcome { result, may_run: !has_ended }
}

/// A task that is waited for.
struct TaskPoll<'a> {
    limits: &'a Limits,
    hint: Hint<'a>,
    wait: TaskWait,
    /// When the wait fails. The time that the user takes for a question is added.
    ends: Instant,
    /// How long the whole wait may take.
    deadline: Duration,
    /// Whether the task is as `tasks/get` returned it, and not as the answer to the call.
    is_described: bool,
    /// Whether the server does not know the task (any more).
    is_gone: bool,
    /// How many requests in a row got lost.
    lost: usize,
    /// When the server wants to be asked again at the earliest.
    earliest: Option<Instant>,
    /// When the client last asked for the state of the task; `None` if that is still to come.
    asked: Option<Instant>,
}

impl<'a> TaskPoll<'a> {
    fn new(application: &'a Application, wait: TaskWait) -> Self {
        let limits = application.limits();
        let least = wait.timeout.unwrap_or_default();
        let deadline = wait.deadline.unwrap_or(limits.request_deadline.max(least));
        let now = Instant::now();
        let (ends, hint) =
            (after(now, deadline), application.task_hints().hint(&wait.task.task_id));
        let (is_described, is_gone, lost, earliest, asked) = Default::default();
        Self { limits, hint, wait, ends, deadline, is_described, is_gone, lost, earliest, asked }
    }

    /// Waits until it is time to ask again: after the interval that the server wants, or when the
    /// server reports a change. Gives the answer to `meanwhile` if that comes first.
    ///
    /// # Errors
    ///
    /// If the whole wait has taken too long. While the user answers a question, it has not.
    async fn pause(
        &mut self,
        meanwhile: Option<&mut PendingCall>,
    ) -> Result<Option<Result<CallAnswer>>> {
        let now = Instant::now();
        let interval = self.wait.task.poll_interval_ms.map_or(POLL, Duration::from_millis);
        let longest = self.limits.longest_poll.max(self.limits.shortest_poll);
        let wanted = self.earliest.take().unwrap_or(now);
        let mut next = after(now, interval.clamp(self.limits.shortest_poll, longest)).max(wanted);
        if meanwhile.is_none() {
            if now >= self.ends {
                let late = CallError::TimedOut(self.deadline);
                return Err(Error::call(&self.wait.subject, late));
            }
            next = next.min(self.ends);
        }
        // A server that reports changes without end is not asked without end.
        let earliest = self.asked.map_or(now, |asked| after(asked, self.limits.shortest_poll));
        let earliest = earliest.max(wanted);
        let is_asking = meanwhile.is_some();
        let answer = tokio::select! {
            () = sleep_until(next) => None,
            () = hinted(&mut self.hint, earliest) => None,
            outcome = optional(meanwhile) => {
                Some(explain(&self.wait.link, &self.wait.subject, outcome))
            }
        };
        if is_asking {
            self.ends += now.elapsed();
        }
        Ok(answer)
    }

    /// Asks for the state of the task. `false` if the request got lost, which a wait of hours should
    /// survive.
    async fn refresh(&mut self) -> Result<bool> {
        self.asked = Some(Instant::now());
        let request = self.request::<GetTask>(&self.id());
        let answer = match self.ask_server(request).await {
            Ok(answer) => answer,
            Err(error) => {
                let code = error.rpc().map(|rpc| rpc.code);
                self.is_gone = code == Some(code::INVALID_PARAMS);
                // A server says so while its store fails.
                let is_lost = code == Some(code::INTERNAL_ERROR) && self.count_lost();
                return if is_lost || self.may_ask_again(&error) { Ok(false) } else { Err(error) };
            }
        };
        (self.lost, self.is_described) = (0, true);
        let task = read::described(&self.wait.link, &self.wait.subject, &answer.result)?;
        if task.task_id != self.wait.task.task_id {
            return Err(self.invalid("`tasks/get` was answered with another task"));
        }
        self.wait.task = task;
        Ok(true)
    }

    /// Whether a request got lost on its way, or the server cannot answer now, and that not too
    /// often. Requests about tasks may be sent twice.
    fn may_ask_again(&mut self, error: &Error) -> bool {
        let data = error.rpc().and_then(ErrorObject::parse_data);
        if let Some(TooManyRequests { retry_after_ms }) = data {
            self.earliest = Some(after(Instant::now(), Duration::from_millis(retry_after_ms)));
        }
        error.may_pass() && self.count_lost()
    }

    /// Counts a request that got lost. `false` if too many did in a row.
    fn count_lost(&mut self) -> bool {
        self.lost += 1;
        self.lost <= LOST
    }

    fn id(&self) -> TaskIdParams {
        TaskIdParams::new(&self.wait.task.task_id)
    }

    /// A request about the task, with the times of the call.
    fn request<R: Rpc>(&self, params: &R::Params) -> CallRequest {
        let mut request = request::of::<R>(params);
        request.timeout = self.wait.timeout;
        self.sign(&mut request);
        request
    }

    /// Makes the request on behalf of the caller of a relay, if there is one.
    fn sign(&self, request: &mut CallRequest) {
        if let Some(caller) = &self.wait.caller {
            caller.sign_further(request, &self.wait.link);
        }
    }

    /// Makes a request and awaits its answer.
    async fn ask_server(&self, request: CallRequest) -> Result<CallAnswer> {
        let TaskWait { link, subject, caller, .. } = &self.wait;
        request::ask_on_behalf(link, subject, request, caller.as_ref()).await
    }

    /// The time that is left.
    fn left(&self) -> Duration {
        self.ends.saturating_duration_since(Instant::now())
    }

    fn invalid(&self, reason: impl Into<String>) -> Error {
        read::invalid(&self.wait.subject, reason)
    }

    /// The error for a task that was cancelled.
    fn cancelled(&self) -> Error {
        let message = self.wait.task.status_message.clone();
        Error::call(&self.wait.subject, CallError::TaskCancelled(message))
    }

    /// The error for a status that the protocol does not have.
    fn unknown_status(&self) -> Error {
        let status = excerpt(self.task().status.as_str()).to_string();
        self.invalid(format!("its task has the status `{status}`, which does not exist"))
    }

    fn task(&self) -> &Task {
        &self.wait.task
    }
}

/// Asks the server to report changes of the task. A server that does not is polled only, so how the
/// subscription ends does not matter. It ends when it is dropped.
fn listen(application: &Arc<Application>, wait: &TaskWait) -> PendingCall {
    let filter = SubscriptionFilter::new().with_task(&wait.task.task_id);
    let request = request::of::<Listen>(&ListenParams::new(filter));
    let (application, id) = (application.clone(), wait.task.task_id.clone());
    wait.link.call(request, Some(Box::new(Acknowledgement { application, id })))
}

/// Notes that the server reports changes of a task from now on.
struct Acknowledgement {
    application: Arc<Application>,
    id: String,
}

impl CallObserver for Acknowledgement {
    /// Changes before the acknowledgement were not reported, so the client asks for the state once.
    fn change(&mut self, change: ReportedChange) {
        if matches!(change, ReportedChange::Acknowledged(filter) if filter.task_ids.contains(&self.id))
        {
            self.application.task_hints().changed(&self.id);
        }
    }
}

/// Waits until the server reports a change, but not less than until `earliest`.
async fn hinted(hint: &mut Hint<'_>, earliest: Instant) {
    hint.changed().await;
    sleep_until(earliest).await;
}

/// Awaits a call, if there is one.
async fn optional(call: Option<&mut PendingCall>) -> Result<CallAnswer, CallError> {
    match call {
        Some(call) => call.await,
        None => pending().await,
    }
}
