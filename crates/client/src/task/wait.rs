//! A call that waits for its task, and cancels the task if the caller goes away.

use std::sync::Arc;
use std::time::Duration;

use bowline_transport::connect::Link;
use bowline_types::ext::tasks::Task;
use bowline_types::json::RawJson;
use futures_core::future::BoxFuture;

use crate::error::{Error, Result};
use crate::relay::Caller;

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

/// Waits for tasks.
pub(crate) trait TaskWaiter: Send + Sync {
    /// Waits until a task has ended, answers its questions meanwhile, and gives the result of the
    /// call.
    fn wait(self: Arc<Self>, wait: TaskWait) -> BoxFuture<'static, WaitOutcome>;
}

/// How a wait ended.
pub(crate) struct WaitOutcome {
    /// The result of the call.
    pub(crate) result: Result<RawJson>,
    /// Whether the task may still run: the server did not say that it ended or is unknown.
    pub(crate) may_run: bool,
}

/// Waits for the task of a call. If the caller goes away, or waiting fails while the task may still
/// run, the task is cancelled.
pub(crate) async fn wait_or_cancel(tasks: Arc<dyn TaskWaiter>, wait: TaskWait) -> Result<RawJson> {
    let running = RunningTask { link: wait.link.clone(), id: wait.task.task_id.clone() };
    let WaitOutcome { result, may_run } = tasks.wait(wait).await;
    // Nothing can be sent to a server that cannot be reached.
    if !may_run || result.as_ref().is_err_and(Error::is_closed) {
        running.has_ended();
    }
    result
}

/// Cancels the task when dropped.
struct RunningTask {
    link: Link,
    id: String,
}

impl RunningTask {
    fn has_ended(mut self) {
        self.id.clear();
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        if !self.id.is_empty() {
            self.link.cancel_task(std::mem::take(&mut self.id));
        }
    }
}
