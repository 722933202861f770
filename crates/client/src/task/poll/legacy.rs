//! Waits for a task of 2025-11-25.
//!
//! `tasks/get` says when the task has ended or has questions. Then `tasks/result` waits for the
//! end; the questions come on its stream, as requests like those of any call.

use bowline_types::ext::tasks::TaskStatus;
use bowline_types::json::RawJson;
use bowline_types::legacy::task::TaskResult;

use super::TaskPoll;
use crate::error::Result;

impl TaskPoll<'_> {
    /// Waits for the end of the task, and fetches its result.
    pub(super) async fn legacy(&mut self) -> Result<RawJson> {
        loop {
            match self.task().status {
                TaskStatus::Working => {}
                TaskStatus::InputRequired | TaskStatus::Completed | TaskStatus::Failed => {
                    if let Some(result) = self.result().await? {
                        return Ok(result);
                    }
                }
                TaskStatus::Cancelled => return Err(self.cancelled()),
                _ => return Err(self.unknown_status()),
            }
            self.pause(None).await?;
            self.refresh().await?;
        }
    }

    /// Waits on `tasks/result`. `None` if the request got lost.
    async fn result(&mut self) -> Result<Option<RawJson>> {
        let mut request = self.request::<TaskResult>(&self.id());
        // The server answers when the task has ended, so only the time of the whole wait counts.
        (request.timeout, request.deadline) = (Some(self.left()), Some(self.left()));
        match self.ask_server(request).await {
            Ok(answer) => Ok(Some(answer.result)),
            Err(error) if self.may_ask_again(&error) => Ok(None),
            Err(error) => {
                // The error may be the outcome of the task, or concern this request alone. How the
                // task is decides whether it has to be cancelled.
                if error.is_refused() && !self.task().is_terminal() {
                    _ = self.refresh().await;
                }
                Err(error)
            }
        }
    }
}
