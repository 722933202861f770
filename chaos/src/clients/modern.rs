//! A client of 2026-07-28: no session, a stream that ends too early is lost, and a call that asks is
//! sent again with the answer.

use std::time::Duration;

use super::{ClientBase, HEAD, Step, messages, read_body, read_rest, read_stream, tasks};
use crate::ledger::{Call, End};
use crate::wire::HttpRequest;

/// Calls until the run is over.
pub(super) async fn run(mut base: ClientBase) {
    while !base.is_over() {
        base.think().await;
        if base.random.is_once_in(tasks::ONE_IN) {
            let task = tasks::run(&mut base, None).await;
            base.setting.recorder.task(task);
            continue;
        }
        let mut call = base.new_call(None);
        call.end = follow(&mut base, &mut call).await;
        if call.ended.is_zero() {
            call.ended = base.now();
        }
        base.setting.recorder.call(call);
    }
}

/// Sends the call, and sends it again with the answer to each question.
pub(super) async fn follow(base: &mut ClientBase, call: &mut Call) -> End {
    let mut request = messages::modern_call(call, base.setting.pause, None);
    loop {
        let question = match round(base, call, &request).await {
            Step::Ended(end) => return end,
            Step::Asked(question) => question,
        };
        let value = base.choose(call, &question);
        // The same key twice: the server asks what this client has answered.
        let Some(value) = value else { return End::Cut };
        call.request = base.new_id();
        call.rounds += 1;
        request = messages::modern_call(call, base.setting.pause, Some((&question, value)));
    }
}

/// Sends one request of a call, and reads up to a question or the end.
async fn round(base: &ClientBase, call: &mut Call, request: &HttpRequest) -> Step {
    call.ended = Duration::ZERO;
    let mut response = match base.send(request, HEAD).await {
        Ok(response) if response.is_stream() => response,
        Ok(response) => return read_body(response, call).await,
        Err(end) => return Step::Ended(end),
    };
    let step = read_stream(&mut response, call, &mut None, HEAD).await;
    call.ended = base.now();
    if step.is_some() {
        read_rest(&mut response, call).await;
    }
    step.unwrap_or(Step::Ended(End::Cut))
}
