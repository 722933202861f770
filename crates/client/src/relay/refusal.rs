//! The errors that a relay answers with.

use bowline_proto::request::{Request, Response, Success};
use bowline_types::elicitation::UrlElicitationRequired;
use bowline_types::error::{ErrorObject, code};
use bowline_types::input::InputRequired;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::tool::CallToolResult;
use serde::de::DeserializeOwned;

use crate::error::Error;

/// The answer to a call that has no result: the questions of the upstream server, which the caller
/// answers itself, or the error.
pub(super) fn response(error: &Error, request: &Request) -> Response {
    let Some(result) = error.questions() else { return Err(of(error, request)) };
    let required: InputRequired = result.parse().map_err(|_| unreadable(request.parts.method))?;
    Success::input_required(required, request.parts.revision)
}

/// The same for a tool. What the model can do something about becomes a failure of the tool: a
/// question that its client cannot be asked, a page that the user has to visit.
pub(super) fn tool_response(error: &Error, request: &Request) -> Response {
    let refusal = error.rpc().filter(|refusal| !is_known(refusal, request.parts.revision));
    let text = refusal.and_then(|refusal| match refusal.code {
        code::MISSING_CLIENT_CAPABILITY => Some(refusal.message.clone()),
        _ => pages_text(refusal),
    });
    match text {
        Some(text) => Success::complete(CallToolResult::error(text), request.parts.revision),
        None => response(error, request),
    }
}

/// Whether the caller's revision knows the code of an error of the upstream server. Codes from
/// -32020 to -32099 belong to the specification (ERR-9).
fn is_known(error: &ErrorObject, revision: Revision) -> bool {
    match error.code {
        // The request stated the caller's capabilities.
        code::MISSING_CLIENT_CAPABILITY => revision.has_input_requests(),
        code::URL_ELICITATION_REQUIRED => revision.has_elicitation_ids(),
        other => !code::RESERVED.contains(&other),
    }
}

/// The error for an answer that cannot be passed on.
fn unreadable(method: Method) -> ErrorObject {
    let message = "the server behind this one gave an answer that cannot be passed on";
    ErrorObject::internal(format!("`{method}`: {message}"))
}

/// The error for a call that failed upstream. An error of the upstream server is passed on. A
/// failure on the way there becomes a sentence without internal details.
pub(super) fn of(error: &Error, request: &Request) -> ErrorObject {
    let method = request.parts.method;
    if error.is_not_found()
        && let Ok(Some(uri)) = request.params.parse::<String>("uri")
    {
        // In the code of the caller's revision.
        return ErrorObject::resource_not_found(&uri, request.parts.revision);
    }
    if let Some(refusal) = error.rpc() {
        return match is_known(refusal, request.parts.revision) {
            true => refusal.clone(),
            false => ErrorObject::internal(
                pages_text(refusal).unwrap_or_else(|| refusal.message.clone()),
            ),
        };
    }
    if error.is_not_offered() {
        return not_offered(method);
    }
    let reason = match error {
        _ if error.is_timeout() => "did not answer in time",
        _ if error.is_closed() => "is gone",
        _ if error.is_denied() => "was not asked, because the application did not allow it",
        _ if error.is_unanswered() => "asked a question that could not be answered here",
        _ if error.is_invalid_answer() => "gave an answer that cannot be passed on",
        _ => "was not asked",
    };
    ErrorObject::internal(format!("`{method}`: the server behind this one {reason}"))
}

/// Reads the params of a request.
pub(super) fn read<T: DeserializeOwned>(request: &Request) -> Result<T, ErrorObject> {
    request.params.parse_all().map_err(ErrorObject::misread_params)
}

pub(super) fn not_offered(method: Method) -> ErrorObject {
    ErrorObject::method_not_found(format!(
        "`{method}` is not offered by the server behind this one"
    ))
}

/// The text for a caller that cannot be sent to pages; `None` if the call was not refused for that.
fn pages_text(error: &ErrorObject) -> Option<String> {
    if error.code != code::URL_ELICITATION_REQUIRED {
        return None;
    }
    let required = error.parse_data::<UrlElicitationRequired>();
    let pages = required.map(|required| required.elicitations).unwrap_or_default();
    let pages: Vec<_> =
        pages.iter().map(|page| format!("{}: {}", page.message, page.url)).collect();
    Some(format!("the user has to visit a page first, then call again. {}", pages.join("; ")))
}
