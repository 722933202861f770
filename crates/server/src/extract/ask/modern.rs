//! Asking since 2026-07-28: the question stays open until the round ends, and the answer is there
//! when the client makes the call again.

use bowline_proto::request::QuestionError;
use bowline_types::elicitation::ElicitParams;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;

use super::answer::AnswerError;
use crate::call::{Call, UnansweredQuestion};
use crate::error::AskError;

/// Takes the answer of an earlier round, or leaves the question open for the client.
pub(super) async fn ask<T>(
    call: &Call,
    key: String,
    mut request: InputRequest,
    read: impl Fn(&RawJson) -> Result<T, AnswerError>,
) -> Result<T, AskError> {
    let closed = AskError::Failed(QuestionError::Closed);
    let Some(rounds) = call.rounds() else { return Err(closed) };
    let (fingerprint, answer) = rounds.find(&key, &request);
    if let Some(answer) = answer {
        match read(&answer) {
            Ok(value) => return Ok(value),
            Err(AnswerError::Refused(error)) => return Err(error),
            Err(AnswerError::Unfit(reason)) => complain(&mut request, &reason),
        }
    }
    let _open =
        rounds.open(UnansweredQuestion { key, fingerprint, request }, &call.shared().limits);
    // Usually the handler is dropped here, when the round ends. What outlives it (a task that it
    // spawned, or a handler within its grace) goes on when the call is over, and its question fails.
    call.over().raised().await;
    Err(closed)
}

/// Adds to the question why it is asked again.
fn complain(request: &mut InputRequest, reason: &str) {
    if let InputRequest::Elicit(ElicitParams::Form(form)) = request {
        form.message = format!("{}\n\nThe last answer did not fit: {reason}", form.message);
    }
}
