//! One call of a handler: drives it, and ends the round when it asks.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use bowline_proto::request::{Input, Request, Response, Success};
use bowline_proto::sync::{Panicked, catch_poll};
use bowline_transport::task::spawn_on;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequired;
use bowline_types::method::Method;
use bowline_types::read::ReadError;
use bowline_types::revision::Revision;
use futures_core::future::BoxFuture;
use tokio::runtime::Handle;

use crate::call::{Call, CallTarget, RoundEnd, Rounds, ServerShared};
use crate::error::Result as HandlerResult;
use crate::seal::{BadState, Binding};

mod invoke;
mod scope;

pub(crate) use invoke::{Invocation, innermost, invoke};
pub(crate) use scope::ScopeRules;

/// How long a handler that takes [`Cancel`](crate::Cancel) may go on after a cancellation, unless
/// it says otherwise.
pub(crate) const GRACE: Duration = Duration::from_secs(5);

/// What can be called: a tool, a prompt, the reader of a resource, the completer of an argument.
pub(crate) trait Callee: Send + Sync + 'static {
    /// What its handler returns.
    type Output: Send + 'static;

    /// Its kind and name for error texts, such as ``tool `add` ``.
    fn label(&self) -> String;

    /// The scopes that its callers need, if it is a feature of its own.
    fn scopes(&self) -> Option<&ScopeRules> {
        None
    }

    /// Checks a call.
    ///
    /// # Errors
    ///
    /// Gives the answer to a call that does not even reach the handler.
    fn admit(&self, request: &Request) -> Result<CallTarget, Response>;

    /// Calls the handler, which runs when the future is polled.
    fn call(&self, call: Call) -> BoxFuture<'static, HandlerResult<Self::Output>>;

    /// The answer to a call whose handler has ended.
    fn complete(&self, call: &Call, outcome: HandlerResult<Self::Output>) -> Response;

    /// The answer to a call that is refused before its handler runs, or that cannot ask its
    /// questions.
    fn fail(&self, reason: String, revision: Revision) -> Response;

    /// How long the handler goes on after a cancellation, if it does at all.
    fn grace(&self) -> Option<Duration> {
        None
    }

    /// The answer to a call whose handler panicked. The panic message is not sent to the peer.
    fn panicked(&self) -> ErrorObject {
        ErrorObject::internal(format!("the {} panicked", self.label()))
    }
}

/// One call of a handler.
///
/// Dropping it before it ends cancels the call: the handler is dropped too, unless it wants time
/// to clean up.
pub(crate) struct HandlerRun<C: Callee>(RunState<C>);

enum RunState<C: Callee> {
    /// The handler runs.
    Running(Running<C>),
    /// The handler was not even called.
    Refused(Option<Response>),
}

struct Running<C: Callee> {
    callee: Arc<C>,
    call: Call,
    /// Gone once the call has ended.
    handler: Option<BoxFuture<'static, HandlerResult<C::Output>>>,
}

impl<C: Callee> HandlerRun<C> {
    /// Checks a call and calls the handler, which runs when this is polled.
    pub(crate) fn start(callee: Arc<C>, request: Request, shared: Arc<ServerShared>) -> Self {
        let state = match Running::start(callee, request, shared) {
            Ok(running) => RunState::Running(running),
            Err(refusal) => RunState::Refused(Some(refusal)),
        };
        Self(state)
    }

    /// A call that is refused before its layers and its handler.
    pub(crate) fn refused(error: ErrorObject) -> Self {
        Self(RunState::Refused(Some(Err(error))))
    }
}

impl<C: Callee> Future for HandlerRun<C> {
    type Output = Response;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Response> {
        match &mut self.0 {
            RunState::Running(running) => running.poll(cx),
            RunState::Refused(response) => response.take().map_or(Poll::Pending, Poll::Ready),
        }
    }
}

impl<C: Callee> Running<C> {
    fn start(
        callee: Arc<C>,
        mut request: Request,
        shared: Arc<ServerShared>,
    ) -> Result<Self, Response> {
        let target = callee.admit(&request)?;
        let input = request.parts.input.take();
        let call = Call::new(request, target, shared);
        if let Some(input) = input {
            restore_round(&call, *input).map_err(Err)?;
        }
        let handler = Some(callee.call(call.clone()));
        Ok(Self { callee, call, handler })
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Response> {
        let Some(handler) = &mut self.handler else { return Poll::Pending };
        #[cfg(feature = "tracing")]
        let _entered = crate::call::polled::enter(&self.call);
        let response = match catch_poll(handler, cx) {
            Ok(Poll::Ready(outcome)) => self.callee.complete(&self.call, outcome),
            Ok(Poll::Pending) => match self.pause(cx) {
                Some(response) => response,
                None => return Poll::Pending,
            },
            Err(Panicked) => Err(self.callee.panicked()),
        };
        self.handler = None;
        self.call.end();
        Poll::Ready(response)
    }

    /// The answer that ends the round, if a question is open and no `once` step runs; otherwise
    /// `None`, and the handler runs on.
    fn pause(&self, cx: &Context<'_>) -> Option<Response> {
        let ended = self.call.rounds()?.end_if_asking(&self.call.shared().limits, cx.waker())?;
        Some(match ended {
            Ok(end) => self.ask(end),
            Err(reason) => self.callee.fail(reason, self.call.parts().revision),
        })
    }

    fn ask(&self, end: RoundEnd) -> Response {
        let failed = |error: &dyn std::fmt::Display| {
            ErrorObject::internal(format!("the {} cannot ask: {error}", self.callee.label()))
        };
        let binding = binding(&self.call).map_err(|error| failed(&error))?;
        let sealer = &self.call.shared().sealer;
        let state = sealer
            .seal(&end.memory, &binding, SystemTime::now())
            .map_err(|error| failed(&error))?;
        let required = InputRequired::new(end.requests).with_request_state(state);
        Success::input_required(required, self.call.parts().revision)
    }
}

impl<C: Callee> Drop for Running<C> {
    fn drop(&mut self) {
        let Some(handler) = self.handler.take() else { return };
        self.call.end();
        if let Some(grace) = self.callee.grace() {
            linger(handler, grace);
        }
    }
}

/// Lets the handler of a cancelled call run on for a while. Its answer is dropped.
fn linger<T: Send + 'static>(handler: BoxFuture<'static, HandlerResult<T>>, grace: Duration) {
    // Without a runtime the process is ending, and the handler is dropped.
    if let Ok(runtime) = Handle::try_current() {
        spawn_on(&runtime, async move { _ = tokio::time::timeout(grace, handler).await });
    }
}

/// Restores the state of an earlier round. Answers without the state of their questions are ignored.
fn restore_round(call: &Call, input: Input) -> Result<(), ErrorObject> {
    let Some(state) = input.state else { return Ok(()) };
    let binding = binding(call).map_err(|_| BadState)?;
    let memory = call.shared().sealer.open(&state, &binding, SystemTime::now())?.plain;
    call.set_rounds(Rounds::next(&memory, input.responses).ok_or(BadState)?);
    Ok(())
}

/// What the state of a call is bound to; the same as [`Binding::of_request`] of its request.
fn binding(call: &Call) -> Result<Binding, ReadError> {
    let parts = call.parts();
    let arguments = match parts.method {
        // A read has no arguments beside its URI, which is the name.
        Method::ResourcesRead => b"{}",
        _ => call.arguments(),
    };
    Binding::new(&parts.owner, parts.method, call.name(), arguments)
}
