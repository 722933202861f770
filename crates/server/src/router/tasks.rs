//! Tasks: serves the methods that concern them, and refuses calls that cannot have one.

use bowline_proto::request::{Parts, Request};
use bowline_types::error::ErrorObject;

use super::{Routed, Router, not_offered};
use crate::feature::ToolEntry;
use crate::feature::set::FeatureEntry as _;
use crate::mount::Mount;
use crate::task::{self, FollowedTasks, WithoutTasks};

impl Router {
    /// Whether the server or one that it mounts has tools that run as tasks, or has had some: their
    /// tasks go on.
    pub(crate) fn has_tasks(&self) -> bool {
        let registry = &self.0.registry;
        registry.has_had_tasks() || registry.mounts().iter().any(Mount::has_tasks)
    }

    /// Serves a request about tasks.
    pub(super) fn serve_task(&self, request: Request) -> Result<Routed, ErrorObject> {
        if !self.has_tasks() {
            return Err(not_offered(request.parts.method));
        }
        Ok(Routed::later(task::serve(request, self.0.tasks.clone())))
    }

    /// Follows the tasks with these ids; `None` if there are no ids, or the server has no tasks.
    pub(super) fn follow(
        &self,
        ids: Vec<String>,
        parts: &Parts,
    ) -> Option<impl Future<Output = Result<FollowedTasks, ErrorObject>> + Send + use<>> {
        let follows = !ids.is_empty() && self.has_tasks();
        follows.then(|| task::follow(ids, parts, &self.0.tasks))
    }

    /// Begins to look for tasks of servers that have stopped, if this one has tasks.
    pub(crate) fn sweep_tasks(&self) {
        if self.has_tasks() {
            task::begin_sweep(&self.0.tasks);
        }
    }

    /// Refuses a call that asks for a task, if its tool has none but others of the server do
    /// (TASK-8). A server without tasks ignores the wish (TASK-15).
    pub(super) fn check_task(
        &self,
        tool: &ToolEntry,
        request: &Request,
    ) -> Result<(), ErrorObject> {
        match tool.task_need() {
            None => self.refuse_task(tool.name(), request),
            Some(_) => Ok(()),
        }
    }

    /// The same for a tool that does not run as a task here.
    ///
    /// Whether others do is asked last: tools of mounted servers come and go.
    pub(super) fn refuse_task(&self, tool: &str, request: &Request) -> Result<(), ErrorObject> {
        let parts = &request.parts;
        let asks = parts.revision.has_core_tasks() && request.params.value("task").is_some();
        let is_mounted = || parts.extensions.get::<WithoutTasks>().is_some();
        if asks && !is_mounted() && self.has_tasks() {
            let message = format!("the tool `{tool}` does not run as a task");
            return Err(ErrorObject::method_not_found(message));
        }
        Ok(())
    }
}
