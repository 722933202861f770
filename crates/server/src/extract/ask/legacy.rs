//! Asking up to 2025-11-25, and inside tasks: the question goes to the outbox, and the call waits.

use std::time::Duration;

use bowline_proto::request::{Outgoing, OutgoingQuestion, QuestionError, Reply};
use bowline_types::error::code;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use tokio::sync::oneshot;

use super::answer::AnswerError;
use super::as_task;
use crate::call::Call;
use crate::error::{AskError, Unsupported};

/// Asks, and waits for the answer.
pub(super) async fn ask<T>(
    call: &Call,
    mut request: InputRequest,
    as_task: Option<Duration>,
    read: impl Fn(&RawJson) -> Result<T, AnswerError>,
) -> Result<T, AskError> {
    let required = request.required_capabilities();
    let as_task = as_task.filter(|ttl| as_task::request(call, &mut request, *ttl));
    let asking = send(call, |reply| OutgoingQuestion { request, reply, task: None });
    let answered = match as_task {
        Some(ttl) => as_task::answer(call, asking, ttl).await,
        None => asking.await,
    };
    let answer = match answered {
        Ok(answer) => answer,
        Err(QuestionError::NoBackChannel) => {
            return Err(AskError::Unsupported(Box::new(Unsupported { required, revision: None })));
        }
        Err(QuestionError::Refused(error)) if error.code == code::USER_REJECTED => {
            return Err(AskError::Declined);
        }
        Err(error) => return Err(AskError::Failed(error)),
    };
    read(&answer).map_err(|misread| match misread {
        AnswerError::Refused(error) => error,
        AnswerError::Unfit(reason) => AskError::Invalid(reason),
    })
}

/// Sends a question, and waits for the answer.
pub(super) async fn send(
    call: &Call,
    question: impl FnOnce(Reply) -> OutgoingQuestion,
) -> Result<RawJson, QuestionError> {
    let (sender, receiver) = oneshot::channel();
    // If the handler has stopped waiting, the answer is dropped.
    let reply = Reply::new(move |answer| _ = sender.send(answer));
    let question = Outgoing::Ask(question(reply));
    call.parts().outbox.send(question).await.map_err(|_| QuestionError::Closed)?;
    receiver.await.unwrap_or(Err(QuestionError::Closed))
}
