//! Makes a request that runs inside a task.

use std::sync::Arc;

use bowline_proto::request::{Outbox, Request};
use bowline_types::id::{ProgressToken, RequestId};

use super::sink::TaskSink;
use crate::call::InTask;

/// The call as it runs inside a task: its messages go to the task.
pub(super) fn inside(mut request: Request, sink: Arc<TaskSink>) -> Request {
    let parts = &mut request.parts;
    parts.outbox = Outbox::new(parts.exchange, sink);
    // Progress becomes the status message of the task, whether the client asked for progress or not.
    parts.progress = Some(ProgressToken(RequestId::from(0)));
    parts.extensions.insert(InTask);
    request
}
