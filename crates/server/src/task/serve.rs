//! Serves the methods that concern tasks.

use std::sync::Arc;

use bowline_proto::request::{Request, Response};

use super::server_tasks::ServerTasks;
use super::{legacy, modern, sweep};

/// Serves a request about tasks, in the words of its revision.
pub(crate) async fn serve(request: Request, tasks: Arc<ServerTasks>) -> Response {
    sweep::begin(&tasks);
    let store = tasks.store();
    match request.parts.revision.has_core_tasks() {
        true => legacy::serve(&store, &request, &tasks).await,
        false => modern::serve(&store, &request, &tasks).await,
    }
}
