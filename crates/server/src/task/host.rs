//! Which server has the task of a call.

use std::sync::Arc;

use bowline_proto::members::Members;
use bowline_proto::request::Request;

use super::server_tasks::ServerTasks;

/// An extension of a call that a server passes on to one that it mounts: a task of the call belongs
/// to the outermost server, because the client asks that one for it.
#[derive(Clone)]
pub(crate) struct TaskHost {
    /// Of the outermost server.
    pub(crate) tasks: Arc<ServerTasks>,
    /// The params that the outermost server got, with the name that leads to the tool.
    pub(crate) params: Members,
}

impl TaskHost {
    /// The server that has the task of a call: one that mounts this one, or this one.
    pub(super) fn of(request: &Request, tasks: &Arc<ServerTasks>) -> Self {
        let own = || Self { tasks: tasks.clone(), params: request.params.clone() };
        request.parts.extensions.get::<Self>().cloned().unwrap_or_else(own)
    }
}

/// Marks a call that must not become a task, because the client could not ask for it later: that of
/// a mounted client, or of another service that knows no [`TaskHost`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct WithoutTasks;
