//! A call that waits for its task, and cancels the task if the caller goes away.

use std::sync::Arc;

use bowline_transport::connect::Link;
use bowline_types::json::RawJson;

use super::poll::{TaskWait, WaitOutcome, wait_for};
use crate::error::{Error, Result};
use crate::host::Application;

/// Waits for the task of a call. If the caller goes away, or waiting fails while the task may still
/// run, the task is cancelled.
pub(crate) async fn wait_or_cancel(
    application: Arc<Application>,
    wait: TaskWait,
) -> Result<RawJson> {
    let running = RunningTask { link: wait.link.clone(), id: wait.task.task_id.clone() };
    let WaitOutcome { result, may_run } = wait_for(&application, wait).await;
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
