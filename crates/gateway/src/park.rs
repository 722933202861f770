//! Calls of modern callers that wait for answers, while a server of an older revision waits for them.
//!
//! A server with a handshake asks in the middle of a call and waits. A caller of 2026-07-28 gets
//! questions as the answer to its call, and calls again with the answers. Between the two calls the
//! running call is parked: its future lies in the [`ParkingLot`], its name in the sealed
//! `requestState` that the caller returns.
//!
//! * [`ParkingLot`] holds the parked calls, counts them and lets them expire.
//! * `Switch` is the outbox of a call: it keeps questions, and passes everything else to the round
//!   that is open.
//! * `round` drives a call until it ends or asks.
//! * `state` is what the caller carries between rounds.
//!
//! Between two modern ends nothing is parked. The server's state is sealed anew, because a server
//! that knows only the gateway cannot bind it to the gateway's callers.

mod limits;
mod lot;
mod round;
mod state;
mod switch;

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use bowline_proto::request::{AnsweredWithin, Input, Outbox, Request, Response};
use bowline_proto::upstream::Upstream;
use bowline_server::seal::Binding;
use bowline_types::capability::ServerCapabilities;
use bowline_types::error::ErrorObject;
use bowline_types::implementation::Implementation;
use futures_core::future::BoxFuture;
use tower_service::Service;

use crate::layered::call;

pub use self::limits::ParkLimits;
pub use self::lot::ParkingLot;
use self::lot::Taken;
use self::round::{CallerOfRound, Round};
use self::state::State;
use self::switch::Switch;

/// An upstream whose calls are parked while modern callers answer its questions.
///
/// Callers with a session pass through: they are asked while the call runs.
///
/// ```no_run
/// use bowline_gateway::park::{ParkLimits, Parking, ParkingLot};
///
/// # fn example(client: bowline_client::Client) -> Result<(), Box<dyn std::error::Error>> {
/// let lot = ParkingLot::new(ParkLimits::default())?;
/// let upstream = Parking::new(client.relay(), "git", lot);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Parking<U> {
    upstream: U,
    /// The configured name of the upstream, which states are bound to.
    name: Arc<str>,
    lot: Arc<ParkingLot>,
}

impl<U: Upstream> Parking<U> {
    /// Parks the calls of an upstream. The name tells it apart from other upstreams of the same lot.
    pub fn new(upstream: U, name: impl Into<Arc<str>>, lot: Arc<ParkingLot>) -> Self {
        Self { upstream, name: name.into(), lot }
    }

    async fn answer(mut self, mut request: Request) -> Response {
        let binding = Binding::of_request(&request).filter(|_| may_park(&request));
        let Some(binding) = binding.map(|binding| binding.within(&self.name)) else {
            return call(&mut self.upstream, request).await;
        };
        let caller = CallerOfRound::of(&request.parts, binding, self.lot.clone());
        let input = request.parts.input.take().map(|input| *input).unwrap_or_default();
        let Some(sealed) = &input.state else {
            return self.begin(request, caller).await;
        };
        match self.lot.read(sealed, &caller.binding)? {
            State::Passed(state) => {
                request.parts.input = Some(Box::new(Input { state, ..input }));
                self.begin(request, caller).await
            }
            State::Parked { replica, id, round } => match self.lot.take(replica, id, round) {
                Taken::Parked(parked) => {
                    let responses = &input.responses;
                    Round::resume(*parked, caller, &request.parts.outbox, responses).await
                }
                Taken::Outcome(outcome) => outcome,
                Taken::Running => Err(ErrorObject::invalid_request(
                    "the answers to this call have arrived already; await the first answer",
                )),
                Taken::Elsewhere => Err(ErrorObject::invalid_request(
                    "this call belongs to another process of the gateway, or to one that has ended; \
                     call again without a state",
                )),
                Taken::Unknown => Err(bowline_server::seal::BadState.into()),
            },
        }
    }

    /// Makes a call, and drives it until it ends or asks.
    async fn begin(self, mut request: Request, caller: CallerOfRound) -> Response {
        let switch = Arc::new(Switch::new(request.parts.outbox, self.lot.limits().questions));
        request.parts.outbox = Outbox::new(request.parts.exchange, switch.clone());
        let mut upstream = self.upstream;
        let call = Box::pin(async move { call(&mut upstream, request).await });
        Round::first(call, switch, caller).await
    }
}

/// Whether the questions of a call have to be kept: its caller has no session, and may answer them
/// by another call.
fn may_park(request: &Request) -> bool {
    let is_answered = request.parts.extensions.get::<AnsweredWithin>().is_some();
    request.parts.revision.has_input_requests() && request.parts.method.may_ask() && !is_answered
}

impl<U: Upstream> Service<Request> for Parking<U> {
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let parking = self.clone();
        Box::pin(async move { Ok(parking.answer(request).await) })
    }
}

impl<U: Upstream> Upstream for Parking<U> {
    fn capabilities(&self) -> ServerCapabilities {
        self.upstream.capabilities()
    }

    fn info(&self) -> Option<Implementation> {
        self.upstream.info()
    }

    fn instructions(&self) -> Option<String> {
        self.upstream.instructions()
    }

    fn needs_authorization(&self) -> Option<String> {
        self.upstream.needs_authorization()
    }
}

#[cfg(test)]
mod tests;
