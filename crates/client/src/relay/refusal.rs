//! The errors that a relay answers with.

use std::borrow::Cow;

use bowline_proto::request::{Request, Response, Success};
use bowline_types::elicitation::UrlElicitationRequired;
use bowline_types::error::{ErrorObject, code};
use bowline_types::input::InputRequired;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use bowline_types::tool::CallToolResult;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The `data` of an error with which a relay answers a call that failed on its way to the server.
/// Errors of the server itself pass as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct RelayFailure {
    /// Whether the server may have run the call. If not, it can be repeated safely.
    pub may_have_run: bool,
}

/// How the errors of a relay name its server. A gateway puts the configured name there.
const UNNAMED: &str = "the server behind this one";

impl RelayFailure {
    /// Why the relay failed to pass a call on; `None` for an error of the server.
    pub fn of(error: &ErrorObject) -> Option<Self> {
        let is_ours = error.code == code::INTERNAL_ERROR && error.message.contains(UNNAMED);
        error.parse_data().filter(|_| is_ours)
    }

    /// The sentence of such an error, about a server with this name.
    pub fn message_for(error: &ErrorObject, server: &str) -> String {
        error.message.replacen(UNNAMED, &format!("the server `{server}`"), 1)
    }
}

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
    let failure = RelayFailure { may_have_run: true };
    let message = format!("`{method}`: {UNNAMED} gave an answer that cannot be passed on");
    ErrorObject::internal(message).with_data(&failure)
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
    let reason = match error.unanswered() {
        // A server with a handshake would get this text, and could tell the caller.
        Some(why) => format!("asked a question that was not answered: {}", why.message).into(),
        None => reason(error),
    };
    let failure = RelayFailure { may_have_run: error.may_have_run() };
    ErrorObject::internal(format!("`{method}`: {UNNAMED} {reason}")).with_data(&failure)
}

/// Why a call failed on its way, without internal details.
fn reason(error: &Error) -> Cow<'static, str> {
    if let Some(why) = error.oversize() {
        return format!("gave an answer that is {why}").into();
    }
    if let Some(fault) = error.fault_of_answer() {
        return format!("gave an answer that cannot be passed on: {fault}").into();
    }
    let reason = match error {
        _ if error.is_timeout() => "did not answer in time",
        _ if error.is_closed() => "is gone",
        _ if error.is_denied() => "was not asked, because the application did not allow it",
        _ if error.is_invalid_answer() => "gave an answer that cannot be passed on",
        _ if error.may_have_run() => "was asked, but gave no answer",
        _ => "was not asked",
    };
    reason.into()
}

/// Reads the params of a request.
pub(super) fn read<T: DeserializeOwned>(request: &Request) -> Result<T, ErrorObject> {
    request.params.parse_all().map_err(ErrorObject::misread_params)
}

pub(super) fn not_offered(method: Method) -> ErrorObject {
    ErrorObject::method_not_found(format!("`{method}` is not offered by {UNNAMED}"))
}

/// The error for a session that subscribes to a resource, and gets no changes of the upstream server.
pub(super) fn unheard(method: Method) -> ErrorObject {
    let failure = RelayFailure { may_have_run: false };
    let message = format!("`{method}`: {UNNAMED} reports no changes to this session");
    ErrorObject::internal(message).with_data(&failure)
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
