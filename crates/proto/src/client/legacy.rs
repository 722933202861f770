//! What a legacy server may ask its client, and whether this one agreed to be asked.

use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::method::Method;
use bowline_types::revision::Revision;

use crate::frame::{MethodName, RequestMessage};

/// What a request of the server's turns out to be.
#[derive(Debug)]
pub(super) enum Asked {
    /// A sign of life, answered at once.
    Ping,
    /// A question for whoever uses the client.
    Question(InputRequest),
}

/// Reads a request of the server's.
///
/// # Errors
///
/// If servers have no such method in this revision, the client did not declare it, or its params
/// do not fit.
pub(super) fn read(
    request: &RequestMessage,
    revision: Revision,
    capabilities: &ClientCapabilities,
) -> Result<Asked, ErrorObject> {
    let method = match request.method {
        MethodName::Known(method) if method.is_from_server(revision) => method,
        _ => return Err(unknown(request.method.as_str())),
    };
    if method == Method::Ping {
        return Ok(Asked::Ping);
    }
    let question = InputRequest::read(method.name(), request.params.as_str())
        .map_err(|error| ErrorObject::invalid_params(format!("`params`: {error}")))?;
    permitted(&question, capabilities).map(|()| Asked::Question(question))
}

/// Whether the client declared that it can be asked this.
///
/// # Errors
///
/// With the code that the specification gives: a feature that was not declared is an unknown
/// method, a mode of it an invalid parameter.
pub(super) fn permitted(
    question: &InputRequest,
    capabilities: &ClientCapabilities,
) -> Result<(), ErrorObject> {
    match question {
        InputRequest::Elicit(params) => {
            if capabilities.elicitation.is_none() {
                return Err(unknown(question.method_name()));
            }
            let supported = if params.is_url() {
                capabilities.supports_url_elicitation()
            } else {
                capabilities.supports_form_elicitation()
            };
            let mode = if params.is_url() { "url" } else { "form" };
            supported.then_some(()).ok_or_else(|| {
                ErrorObject::invalid_params(format!("this client declares no elicitation mode `{mode}`"))
            })
        }
        InputRequest::CreateMessage(params) => {
            if capabilities.sampling.is_none() {
                return Err(unknown(question.method_name()));
            }
            let uses_tools = !params.tools.is_empty() || params.tool_choice.is_some();
            if uses_tools && !capabilities.supports_sampling_tools() {
                return Err(ErrorObject::invalid_params("this client declares no `sampling.tools`"));
            }
            Ok(())
        }
        InputRequest::ListRoots(_) if capabilities.roots.is_some() => Ok(()),
        _ => Err(unknown(question.method_name())),
    }
}

fn unknown(method: &str) -> ErrorObject {
    ErrorObject::method_not_found(format!("this client does not offer `{method}`"))
}
