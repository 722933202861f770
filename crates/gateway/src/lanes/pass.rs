//! Passes calls on to the lane of their caller, and repeats a call once if it certainly did not run.

use bowline_client::RelayFailure;
use bowline_proto::request::{Request, Response};
use bowline_types::error::ErrorObject;
use tokio::time::timeout;

use super::asking_outbox::asking_outbox;
use super::cursor::CursorScope;
use super::guards::{LaneUse, Lease};
use super::recall::{CallEnd, Recallable};
use super::{Lanes, call};
use crate::refusal;

impl Lanes {
    /// Passes a call on. It is repeated once if the server ended and a second call does no harm: it
    /// was not sent, or changes nothing.
    pub(super) async fn pass(&self, request: Request) -> Response {
        let lane = self.lane_for(&request).await?;
        self.pass_on(lane, request).await
    }

    /// The same, beginning with this lane.
    pub(super) async fn pass_on(&self, lane: LaneUse, request: Request) -> Response {
        let again = request.clone();
        match self.attempt(lane, request).await {
            Ok(response) => return response,
            Err(undone) if !undone.may_repeat => return Err(undone.error),
            Err(_) => {}
        }
        let lane = self.lane_of(&again.parts).await?;
        match self.attempt(lane, again).await {
            Ok(response) => response,
            Err(undone) => Err(undone.error),
        }
    }

    /// Passes a call on once.
    ///
    /// # Errors
    ///
    /// If the call failed on its way to the server.
    async fn attempt(&self, lane: LaneUse, request: Request) -> Result<Response, Undone> {
        let method = request.parts.method;
        let lease = match self.lease_on(lane).await {
            Ok(lease) => lease,
            Err(error) => return Ok(Err(error)),
        };
        let Some((outcome, is_closed)) = self.call_on(lease, request).await else {
            return Err(Undone { error: refusal::recalled(&self.0.name), may_repeat: false });
        };
        let Err(error) = &outcome else { return Ok(outcome) };
        let Some(failure) = RelayFailure::of(error) else { return Ok(outcome) };
        let may_have_run = failure.may_have_run && !refusal::is_repeatable(method);
        let error = match is_closed {
            true => refusal::ended(&self.0.name, may_have_run),
            false => refusal::undelivered(&self.0.name, error, may_have_run),
        };
        Err(Undone { error, may_repeat: is_closed && !may_have_run })
    }

    /// Makes a call. `None` if it was ended while it waited for an answer, because other calls need its
    /// lane.
    async fn call_on(&self, lease: Lease, mut request: Request) -> Option<CallEnd> {
        let Some(held) = lease.held() else {
            let outcome = self.call(&lease, request).await;
            return Some((outcome, lease.is_closed()));
        };
        let (lanes, recallable) = (self.clone(), Recallable::default());
        request.parts.outbox = asking_outbox(&request.parts, held, recallable.handle());
        let call = async move {
            let outcome = lanes.call(&lease, request).await;
            (outcome, lease.is_closed())
        };
        recallable.run(Box::pin(call)).await
    }

    async fn call(&self, lease: &Lease, request: Request) -> Response {
        let method = request.parts.method;
        if !refusal::is_list(method) {
            return call(lease, request).await;
        }
        let scope = CursorScope::of(lease, self.0.dial.is_process());
        let request = scope.open(request)?;
        let limit = self.0.limits.list;
        let answer = timeout(limit, call(lease, request)).await;
        let late = || Err(refusal::slow(&self.0.name, limit, self.keys()));
        scope.close(answer.unwrap_or_else(|_| late())?)
    }
}

/// A call that failed on its way to the server.
struct Undone {
    error: ErrorObject,
    may_repeat: bool,
}
