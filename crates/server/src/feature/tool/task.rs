//! Which tools run as tasks.

use bowline_types::tool::TaskSupport;

use super::Tool;

/// Whether a tool that runs as a task also serves callers that cannot have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskNeed {
    /// Their calls run like those of any tool.
    Optional,
    /// Their calls are refused.
    Required,
}

impl Tool {
    /// Sets whether calls of the tool run as tasks, for callers that can have one.
    ///
    /// A task is answered at once with an id. The client asks for its state later, answers its
    /// questions, and fetches the result. The handler is the same as in a plain call:
    /// [`Ask`](crate::Ask) waits for the answer, and the messages of [`Progress`](crate::Progress)
    /// become the status of the task.
    ///
    /// With [`Optional`](TaskSupport::Optional) other clients get the result as usual. With
    /// [`Required`](TaskSupport::Required) their calls are refused. A client has tasks if it
    /// declares the extension `io.modelcontextprotocol/tasks` (2026-07-28), or if it asks for one in
    /// its call (2025-11-25). If the server is mounted in another, the task belongs to that one.
    ///
    /// If the process stops while a task runs, and the tasks are kept in a
    /// [store](crate::Server::store) that survives it, the next process with this store ends the
    /// task as failed. An [idempotent](Self::idempotent) tool runs again instead, up to three times
    /// in all: with the same arguments, owner and scopes, but without headers and values that layers
    /// attached to the first request.
    ///
    /// ```
    /// use bowline_server::{Server, TaskSupport, Tool};
    ///
    /// async fn export() -> &'static str {
    ///     // takes minutes
    ///     "exported"
    /// }
    ///
    /// let server = Server::new("reports", "1.0.0")
    ///     .tool(Tool::new("export", export).task(TaskSupport::Optional));
    /// # assert!(server.build().is_ok());
    /// ```
    #[must_use]
    pub fn task(mut self, support: TaskSupport) -> Self {
        self.task = match support {
            TaskSupport::Required => Some(TaskNeed::Required),
            TaskSupport::Optional => Some(TaskNeed::Optional),
            _ => None,
        };
        self.definition = self.definition.with_task_support(support);
        self
    }
}
