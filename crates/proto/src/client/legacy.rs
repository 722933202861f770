//! What a legacy server may ask its client, and whether this one agreed to be asked.

use bowline_types::capability::ClientCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::text::excerpt;

use crate::frame::{MethodName, RequestMessage};
use crate::wire::splice;

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
    declared(method, capabilities)?;
    let question = match method {
        Method::ElicitationCreate => request.params.parse_all().map(InputRequest::Elicit),
        Method::SamplingCreateMessage => {
            request.params.parse_all().map(InputRequest::CreateMessage)
        }
        _ => Ok(InputRequest::ListRoots),
    };
    let question = question.map_err(ErrorObject::misread_params)?;
    permitted(&question, capabilities).map(|()| Asked::Question(question))
}

/// Whether the client declared that it can be asked this.
///
/// # Errors
///
/// With the code that the specification gives: a feature that was not declared is an unknown
/// method, a part of it an invalid parameter.
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

/// Whether the client declared the feature that a method belongs to, before anyone looks at what
/// exactly is asked.
fn declared(method: Method, capabilities: &ClientCapabilities) -> Result<(), ErrorObject> {
    let declared = match method {
        Method::ElicitationCreate => capabilities.elicitation.is_some(),
        Method::SamplingCreateMessage => capabilities.supports_sampling(),
        Method::RootsList => capabilities.supports_roots(),
        _ => false,
    };
    declared.then_some(()).ok_or_else(|| unknown(method.name()))
}

fn unknown(method: &str) -> ErrorObject {
    ErrorObject::method_not_found(format!("this client does not offer `{}`", excerpt(method)))
}
