//! Requests that a legacy server may send its client, and whether the client declared them.
//!
//! 2026-07-28 servers send no requests (ST-6); there the same checks are applied to the questions
//! inside of results ([`permitted`]). So a host is asked only what it declared, in either era.

use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::ext::tasks::TaskIdParams;
use bowline_types::input::InputRequest;
use bowline_types::method::Method;
use bowline_types::page::PageParams;
use bowline_types::read::ReadError;
use bowline_types::revision::Revision;
use bowline_types::text::excerpt;

use crate::frame::{MethodName, RequestMessage};
use crate::splice;

/// A request of the server. Everything that a legacy server may request of a client.
#[derive(Debug)]
pub(super) enum ServerRequest {
    /// A ping, answered at once.
    Ping,
    /// A question for the user of the client.
    Question(InputRequest),
    /// A request about a task that this client runs (2025-11-25).
    Task(TaskRequest),
}

/// A request of the server about a task that the client runs: a question that it asked as a task
/// (2025-11-25).
#[derive(Clone, Debug, PartialEq)]
pub enum TaskRequest {
    /// `tasks/get`, with the id of the task.
    Get(String),
    /// `tasks/result`, with the id of the task. Answered when the task has ended.
    Result(String),
    /// `tasks/cancel`, with the id of the task.
    Cancel(String),
    /// `tasks/list`, with the cursor of the page.
    List(PageParams),
}

/// Reads a request of the server.
///
/// The feature is checked before the params, so that a server that asks for an undeclared feature
/// gets -32601 and not a complaint about its params (ERR-3, ROOT-6).
///
/// # Errors
///
/// If the revision has no such request of servers, the client did not declare the capability, or
/// the params do not fit.
pub(super) fn read(
    request: &RequestMessage,
    revision: Revision,
    capabilities: &ClientCapabilities,
) -> Result<ServerRequest, ErrorObject> {
    let method = match request.method {
        MethodName::Known(method) if method.is_from_server(revision) => method,
        _ => return Err(unknown(request.method.as_str())),
    };
    if method == Method::Ping {
        return Ok(ServerRequest::Ping);
    }
    declared(method, capabilities)?;
    if let Some(request) = about_task(method, request) {
        return request.map(ServerRequest::Task).map_err(ErrorObject::misread_params);
    }
    let question = match method {
        Method::ElicitationCreate => request.params.parse_all().map(InputRequest::Elicit),
        Method::SamplingCreateMessage => {
            request.params.parse_all().map(InputRequest::CreateMessage)
        }
        _ => Ok(InputRequest::ListRoots),
    };
    let question = question.map_err(ErrorObject::misread_params)?;
    permitted(&question, capabilities).map(|()| ServerRequest::Question(question))
}

/// Reads a request about a task; `None` if it is about none.
fn about_task(method: Method, request: &RequestMessage) -> Option<Result<TaskRequest, ReadError>> {
    let id = || request.params.parse_all().map(|params: TaskIdParams| params.task_id);
    Some(match method {
        Method::TasksGet => id().map(TaskRequest::Get),
        Method::TasksResult => id().map(TaskRequest::Result),
        Method::TasksCancel => id().map(TaskRequest::Cancel),
        Method::TasksList => request.params.parse_all().map(TaskRequest::List),
        _ => return None,
    })
}

/// Checks that the client declared the capabilities that a question needs.
///
/// # Errors
///
/// If it did not, with the code of the specification: method not found for a whole feature, invalid
/// params for a part of one.
pub(super) fn permitted(
    question: &InputRequest,
    capabilities: &ClientCapabilities,
) -> Result<(), ErrorObject> {
    let Some(method) = question.method() else {
        return Err(unknown("a question of an unknown kind"));
    };
    declared(method, capabilities)?;
    match capabilities.missing(&question.required_capabilities()) {
        None => Ok(()),
        Some(missing) => Err(ErrorObject::invalid_params(format!(
            "`{method}` needs what this client does not declare: {}",
            splice::json(&missing),
        ))),
    }
}

/// Checks that the client declared the feature of a method, before the params are read.
fn declared(method: Method, capabilities: &ClientCapabilities) -> Result<(), ErrorObject> {
    let declared = match method {
        Method::ElicitationCreate => capabilities.elicitation.is_some(),
        Method::SamplingCreateMessage => capabilities.supports_sampling(),
        Method::RootsList => capabilities.supports_roots(),
        Method::TasksGet | Method::TasksResult => capabilities.tasks.is_some(),
        Method::TasksList => capabilities.tasks.as_ref().is_some_and(|tasks| tasks.list.is_some()),
        Method::TasksCancel => {
            capabilities.tasks.as_ref().is_some_and(|tasks| tasks.cancel.is_some())
        }
        _ => false,
    };
    declared.then_some(()).ok_or_else(|| unknown(method.name()))
}

/// The error for a method that the client did not declare.
fn unknown(method: &str) -> ErrorObject {
    ErrorObject::method_not_found(format!("this client does not offer `{}`", excerpt(method)))
}
