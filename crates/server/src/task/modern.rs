//! The tasks extension of 2026-07-28.

use std::sync::Arc;

use bowline_proto::request::{Parts, Request, Response, Success};
use bowline_store::tasks::TaskStore;
use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks::{IDENTIFIER, UpdateTaskParams};
use bowline_types::json::Object;
use bowline_types::meta::Meta;
use bowline_types::method::Method;

use super::record::{RecordedAnswer, TaskRecord};
use super::server_tasks::ServerTasks;
use super::{abandoned, records};

/// Whether a request declares the extension. The capability `tasks` of 2025-11-25 does not count
/// (XTASK-51), and neither does the extension in other revisions (XTASK-50).
pub(crate) fn declares_tasks(parts: &Parts) -> bool {
    Method::TasksUpdate.is_extension(parts.revision)
        && parts.client.capabilities.supports_extension(IDENTIFIER)
}

/// The error for a request that has to declare the extension (XTASK-5, XTASK-41).
pub(crate) fn missing_extension(why: &str) -> ErrorObject {
    let required = ClientCapabilities::new().with_extension(IDENTIFIER, Object::default());
    let message = format!("{why}: the request must declare the extension `{IDENTIFIER}`");
    ErrorObject::missing_capability(required.unwrap_or_default(), message)
}

/// The answer to a call that became a task (XTASK-7).
pub(super) fn created(record: &TaskRecord, id: &str) -> Response {
    Success::task(record.as_task(id))
}

/// Serves `tasks/get`, `tasks/update` and `tasks/cancel`.
pub(super) async fn serve(
    store: &TaskStore,
    request: &Request,
    tasks: &Arc<ServerTasks>,
) -> Response {
    let method = request.parts.method;
    if !declares_tasks(&request.parts) {
        return Err(missing_extension(&format!("`{method}` concerns tasks")));
    }
    let name = records::named(request)?;
    match method {
        Method::TasksGet => {
            let task = abandoned::read(tasks, store, &name).await?.as_task(name.id());
            return Ok(Success::raw(records::json(&task)?, Meta::new()));
        }
        Method::TasksUpdate => {
            let params: UpdateTaskParams =
                request.params.parse_all().map_err(ErrorObject::misread_params)?;
            // No answer reaches a server that has stopped.
            abandoned::read(tasks, store, &name).await?;
            records::change(store, &name, |record| {
                for (key, answer) in params.input_responses.iter() {
                    let (key, answer) = (key.to_owned(), Some(answer.clone()));
                    record.answer(RecordedAnswer { key, answer, refusal: None });
                }
            })
            .await?;
        }
        // A task that has ended stays as it is, and the client need not know (XTASK-32).
        _ => _ = records::change(store, &name, TaskRecord::cancel).await?,
    }
    Ok(Success::empty())
}
