//! Whether calls of a tool become tasks, and the code that makes them so.

use std::sync::Arc;

use bowline_proto::members::Members;
use bowline_proto::request::{Parts, Request, Response};
use bowline_types::error::ErrorObject;
use futures_core::future::BoxFuture;

use super::entry::ToolEntry;
use crate::feature::invoke::Invocation;
use crate::notify::TaskChanges;
use crate::shared::ServerShared;

/// How calls of a tool become tasks.
#[derive(Clone, Copy)]
pub(crate) struct TaskPlan {
    pub(crate) need: TaskNeed,
    pub(crate) routes: TaskRoutes,
}

/// Whether a tool also serves callers that cannot have a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaskNeed {
    /// Their calls run like those of any tool.
    Optional,
    /// Their calls are refused.
    Required,
}

/// The code for tasks, as function pointers. Only [`Tool::task`](crate::Tool::task) names the
/// functions, so a program without such a tool does not contain them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskRoutes {
    /// Calls a tool, as a task if its caller can have one.
    pub(crate) start:
        fn(&Arc<ToolEntry>, TaskNeed, Request, &Arc<ServerShared>) -> Invocation<ToolEntry>,
    /// Serves the methods that concern tasks.
    pub(crate) serve: fn(Request, &Arc<ServerShared>) -> BoxFuture<'static, Response>,
    /// Follows the tasks with these ids, on behalf of a caller.
    pub(crate) follow: fn(Vec<String>, &Parts, &Arc<ServerShared>) -> Following,
    /// Begins to look for tasks of servers that have stopped.
    pub(crate) sweep: fn(&Arc<ServerShared>),
}

/// Becomes the changes of the tasks that a subscription names.
pub(crate) type Following = BoxFuture<'static, Result<Box<dyn TaskChanges>, ErrorObject>>;

/// An extension of a call that a server passes on to one that it mounts: a task of the call belongs
/// to the outermost server, because the client asks that one for it.
#[derive(Clone)]
pub(crate) struct TaskHost {
    /// Of the outermost server.
    pub(crate) shared: Arc<ServerShared>,
    /// The params that the outermost server got, with the name that leads to the tool.
    pub(crate) params: Members,
}

impl TaskHost {
    /// The server that has the task of a call: one that mounts this one, or this one.
    pub(crate) fn of(request: &Request, shared: &Arc<ServerShared>) -> Self {
        let own = || Self { shared: shared.clone(), params: request.params.clone() };
        request.parts.extensions.get::<Self>().cloned().unwrap_or_else(own)
    }
}

/// Marks a call that must not become a task, because the client could not ask for it later: that of
/// a mounted client, or of another service that knows no [`TaskHost`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct WithoutTasks;
