//! What a caller is told when a call to the server behind has no result.

use bowline_proto::request::Request;
use bowline_types::error::ErrorObject;

use super::not_offered;
use crate::error::Error;

/// The answer to a call that failed. What the server said is passed on; what happened on our side
/// of it is told without what only concerns us.
pub(super) fn of(error: &Error, request: &Request) -> ErrorObject {
    let method = request.parts.method;
    if error.is_not_found()
        && let Ok(Some(uri)) = request.params.parse::<String>("uri")
    {
        // In the code of the caller's revision.
        return ErrorObject::resource_not_found(&uri, request.parts.revision);
    }
    if let Some(refusal) = error.rpc() {
        return refusal.clone();
    }
    if error.is_not_offered() {
        return not_offered(method);
    }
    let reason = match error {
        _ if error.is_timeout() => "did not answer in time",
        _ if error.is_closed() => "is gone",
        _ if error.is_denied() => "was not asked, because the application did not allow it",
        _ if error.is_unanswered() => "asked something first that nobody here could answer",
        _ if error.is_invalid_answer() => "gave an answer that cannot be passed on",
        _ => "was not asked",
    };
    ErrorObject::internal(format!("`{method}`: the server behind this one {reason}"))
}
