//! One call of a tool: drives the handler, and ends the round when it asks.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use bowline_proto::members::Members;
use bowline_proto::request::{Input, Request, Response, Success};
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequired;
use bowline_types::tool::CallToolResult;
use bytes::Bytes;
use tokio::runtime::Handle;

use super::ToolEntry;
use crate::call::{Call, Called, Kit};
use crate::error::Result as HandlerResult;
use crate::extract::{Pause, Rounds};
use crate::layer::BoxFuture;
use crate::panic::{Panicked, catch_poll};
use crate::seal::{BadState, Binding};

/// One call of a tool.
///
/// Dropping it before it ends cancels the call: the handler is dropped too, unless it wants time
/// to clean up.
pub(crate) struct ToolCall(State);

enum State {
    /// The handler runs.
    Running(Running),
    /// The handler was not even called.
    Refused(Option<Response>),
}

struct Running {
    entry: Arc<ToolEntry>,
    call: Call,
    /// Gone once the call has ended.
    handler: Option<BoxFuture<HandlerResult<CallToolResult>>>,
}

impl ToolCall {
    /// Checks a call and calls the handler, which runs when this is polled.
    pub(crate) fn start(entry: Arc<ToolEntry>, request: Request, kit: Arc<Kit>) -> Self {
        let state = match Running::start(entry, request, kit) {
            Ok(running) => State::Running(running),
            Err(refusal) => State::Refused(Some(refusal)),
        };
        Self(state)
    }
}

impl Future for ToolCall {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        match &mut self.0 {
            State::Running(running) => running.poll(cx),
            State::Refused(response) => response.take().map_or(Poll::Pending, Poll::Ready),
        }
    }
}

impl Running {
    fn start(entry: Arc<ToolEntry>, mut request: Request, kit: Arc<Kit>) -> Result<Self, Response> {
        let arguments = arguments(&request.params).map_err(Err)?;
        if let Err(reason) = entry.contract.check_arguments(&arguments) {
            return Err(Success::complete(CallToolResult::error(reason), request.parts.revision));
        }
        let input = request.parts.input.take();
        let (name, contract) = (entry.name.clone(), entry.contract.clone());
        let call = Call::new(request, Called { name, arguments, contract }, kit);
        if let Some(input) = input {
            resume(&call, *input).map_err(Err)?;
        }
        let handler = Some(entry.tool.handler.call(call.clone()));
        Ok(Self { entry, call, handler })
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        let Some(handler) = &mut self.handler else { return Poll::Pending };
        let response = match catch_poll(handler, cx) {
            Ok(Poll::Ready(outcome)) => self.complete(outcome),
            Ok(Poll::Pending) => match self.pause(cx) {
                Some(response) => response,
                None => return Poll::Pending,
            },
            Err(Panicked) => Err(self.entry.panicked()),
        };
        self.handler = None;
        self.call.over().raise();
        Poll::Ready(response)
    }

    /// The answer to a call whose handler has ended.
    fn complete(&self, outcome: HandlerResult<CallToolResult>) -> Response {
        let revision = self.call.parts().revision;
        let result = match outcome {
            Ok(result) => result,
            Err(error) => return error.into_tool_response(revision),
        };
        if !result.is_error {
            let output = result.structured_content.as_ref();
            self.entry.contract.check_output(output).map_err(|reason| {
                ErrorObject::internal(format!("the tool `{}` failed: {reason}", self.entry.name))
            })?;
        }
        Success::complete(result, revision)
    }

    /// The answer to a call whose handler waits for answers; `None` if it waits for anything else.
    fn pause(&self, cx: &Context<'_>) -> Option<Response> {
        let paused = self.call.rounds()?.pause(&self.call.kit().limits, cx.waker())?;
        Some(match paused {
            Ok(pause) => self.ask(pause),
            Err(reason) => {
                Success::complete(CallToolResult::error(reason), self.call.parts().revision)
            }
        })
    }

    fn ask(&self, pause: Pause) -> Response {
        let failed = |error: &dyn std::fmt::Display| {
            ErrorObject::internal(format!("the tool `{}` cannot ask: {error}", self.entry.name))
        };
        let binding = binding(&self.call).map_err(|error| failed(&error))?;
        let sealer = &self.call.kit().sealer;
        let state = sealer
            .seal(&pause.memory, &binding, SystemTime::now())
            .map_err(|error| failed(&error))?;
        Success::input_required(&InputRequired::new(pause.requests).with_request_state(state))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(handler) = self.handler.take() else { return };
        self.call.over().raise();
        if self.entry.tool.signature.lingers() {
            linger(handler, self.entry.tool.grace);
        }
    }
}

/// Lets a handler whose call was cancelled go on for a while. Nobody hears its answer.
fn linger(handler: BoxFuture<HandlerResult<CallToolResult>>, grace: Duration) {
    // Without a runtime there is nobody to go on for.
    if let Ok(runtime) = Handle::try_current() {
        runtime.spawn(async move { _ = tokio::time::timeout(grace, handler).await });
    }
}

/// The arguments of a call; none given means none needed.
fn arguments(params: &Members) -> Result<Bytes, ErrorObject> {
    match params.bytes("arguments") {
        None => Ok(Bytes::from_static(b"{}")),
        Some(text) if &*text == b"null" => Ok(Bytes::from_static(b"{}")),
        Some(text) if text.starts_with(b"{") => Ok(text),
        Some(_) => Err(ErrorObject::invalid_params("`arguments`: expected an object")),
    }
}

/// Goes on where an earlier round ended. Answers without the state of their questions say nothing.
fn resume(call: &Call, input: Input) -> Result<(), ErrorObject> {
    let Some(state) = input.state else { return Ok(()) };
    let binding = binding(call).map_err(|_| BadState)?;
    let memory = call.kit().sealer.open(&state, &binding, SystemTime::now())?;
    call.set_rounds(Rounds::next(&memory, input.responses).map_err(|_| BadState)?);
    Ok(())
}

/// What the state of a call is bound to.
fn binding(call: &Call) -> Result<Binding, serde_json::Error> {
    let parts = call.parts();
    Binding::new(&parts.owner, parts.method, call.name(), call.arguments())
}
