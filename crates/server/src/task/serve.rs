//! Serves the methods that concern tasks.

use std::sync::Arc;

use bowline_proto::request::{Request, Response};
use futures_core::future::BoxFuture;

use super::{legacy, modern, sweep};
use crate::shared::ServerShared;

/// Serves a request about tasks, in the words of its revision.
pub(super) fn serve(request: Request, shared: &Arc<ServerShared>) -> BoxFuture<'static, Response> {
    let shared = shared.clone();
    Box::pin(async move {
        sweep::begin(&shared);
        let store = shared.tasks.store();
        match request.parts.revision.has_core_tasks() {
            true => legacy::serve(&store, &request, &shared).await,
            false => modern::serve(&store, &request, &shared).await,
        }
    })
}
