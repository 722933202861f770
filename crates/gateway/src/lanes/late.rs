//! Lists of a server that answers slowly, or not at all: the lists of other servers do not wait for it.
//!
//! A list waits for [`GatewayLimits::patience`](crate::GatewayLimits::patience) and then fails, so that
//! a gateway leaves the server out. It goes on in the background; when it has ended, callers that
//! listen are notified that the lists changed. Meanwhile lists of the same kind fail at once, and those
//! of other kinds after a moment. A caller that does not listen waits longer for a server that is being
//! started. The only server of a gateway is awaited in any case.

use std::time::Duration;

use bowline_proto::request::{Request, Response};
use tokio::time::{Instant, timeout_at};

use super::key::LaneKey;
use super::late_lists::LateList;
use super::pool::TakenLane;
use super::{Discovery, Lanes};
use crate::refusal;

/// How long a list waits for a server that is late with a list of another kind.
const GRACE: Duration = Duration::from_millis(250);

impl Lanes {
    /// Passes a list on.
    pub(super) async fn list(&self, request: Request) -> Response {
        // A caller that asks for a further page of this server, or for the list of this server alone,
        // waits for it.
        let is_page = request.params.value("cursor").is_some();
        if is_page || self.0.discovery == Discovery::Asked || self.is_alone() {
            return self.pass(request).await;
        }
        let begin = Instant::now();
        let until = begin + self.0.late.patience(&self.0.limits);
        let lane = timeout_at(until, self.lane_of(&request.parts)).await;
        let lane = lane.unwrap_or_else(|_| Err(refusal::busy(&self.0.name)))?;
        if self.0.late.is_running(&lane.supervised, request.parts.method) {
            return Err(refusal::slow(&self.0.name, request.parts.method));
        }
        let until = match self.0.late.is_any_running(&lane.supervised) {
            true => begin + GRACE,
            false => begin + self.patience(&lane, &request),
        };
        self.list_until(until, lane, request).await
    }

    /// How long a list waits for a server on a lane.
    fn patience(&self, lane: &TakenLane, request: &Request) -> Duration {
        let limits = &self.0.limits;
        let key = LaneKey::of(&request.parts, (self.0.sharing, self.0.isolation), None);
        let listens = self.0.sessions.listens(&request.parts.client, &key);
        match listens || lane.supervised.running().is_some() {
            true => self.0.late.patience(limits),
            // Nothing would tell the caller that the server has come.
            false => limits.start_patience.max(limits.patience),
        }
    }

    /// Passes a list on, and leaves it to the background at a time.
    async fn list_until(&self, until: Instant, lane: TakenLane, request: Request) -> Response {
        let (begin, method) = (Instant::now(), request.parts.method);
        let key = LaneKey::of(&request.parts, (self.0.sharing, self.0.isolation), None);
        let (lanes, supervised) = (self.clone(), lane.supervised.clone());
        let mut listing = Box::pin(async move { lanes.pass_on(lane, request).await });
        if let Ok(response) = timeout_at(until, &mut listing).await {
            if response.is_ok() {
                self.0.late.note(begin.elapsed(), &self.0.limits);
            }
            return response;
        }
        if let Some(running) = LateList::begin(&self.0.late, supervised, method) {
            self.report_late(&running);
            let lanes = self.clone();
            tokio::spawn(async move {
                let response = listing.await;
                drop(running);
                if response.is_ok() {
                    lanes.0.late.note(begin.elapsed(), &lanes.0.limits);
                    lanes.0.sessions.notify_of_lists(&key);
                }
            });
        }
        Err(refusal::slow(&self.0.name, method))
    }

    /// Tells the operator that a server is left out. Once, however many kinds of lists it has.
    fn report_late(&self, late: &LateList) {
        if late.is_first
            && let Some(reporter) = &self.0.reporter
        {
            let problem = "did not answer in time, and is left out of lists until it answers";
            reporter.report(problem);
        }
    }
}
