//! Lists of a server that answers slowly, or not at all: the lists of other servers do not wait for it.
//!
//! A list waits for [`GatewayLimits::patience`](crate::GatewayLimits::patience) and then fails, so that
//! a gateway leaves the server out. It goes on in the background; when it has ended, callers that
//! listen are notified that the lists changed. If it fails, it is begun again as long as one listens.
//! Meanwhile lists of the same kind fail at once, and those of other kinds after a moment, until one of
//! these has come. A caller that does not listen waits longer for a server that is being started. The only server of a gateway is
//! awaited in any case.

use std::time::Duration;

use bowline_proto::request::{Request, Response};
use futures_core::future::BoxFuture;
use tokio::time::{Instant, sleep, timeout_at};

use super::guards::LaneUse;
use super::late_lists::LateList;
use super::{Discovery, Lanes};
use crate::refusal::{self, UpstreamFailure};

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
        let patience = self.0.late.patience(request.parts.method, &self.0.limits);
        let longest = patience.min(self.0.limits.lane_wait);
        let lane = self.lane(&request.parts, None, longest).await?;
        if let Some(limit) = self.0.late.running(lane.lane(), request.parts.method) {
            return Err(refusal::slow(&self.0.name, limit, self.keys()));
        }
        let (wait, limit) = match self.0.late.hanging(lane.lane()) {
            Some(limit) => (GRACE, limit),
            None => {
                let patience = self.patience(&lane, &request);
                (patience, patience)
            }
        };
        self.list_until((begin + wait, limit), lane, request).await
    }

    /// How long a list waits for a server on a lane.
    fn patience(&self, lane: &LaneUse, request: &Request) -> Duration {
        let limits = &self.0.limits;
        let owner = self.0.sharing.owner(&request.parts);
        let listens = self.0.sessions.listens(&request.parts.client, &owner);
        match listens || self.0.driver.running(lane.lane()).is_some() {
            true => self.0.late.patience(request.parts.method, limits),
            // Nothing would tell the caller that the server has come.
            false => limits.start_patience.max(limits.patience),
        }
    }

    /// Passes a list on, and leaves it to the background at a time. The limit is what the error names.
    async fn list_until(
        &self,
        (until, limit): (Instant, Duration),
        lane: LaneUse,
        request: Request,
    ) -> Response {
        let begin = Instant::now();
        let key = (lane.lane(), request.parts.method);
        let (lanes, again) = (self.clone(), request.clone());
        let mut listing: BoxFuture<'static, Response> =
            Box::pin(async move { lanes.pass_on(lane, request).await });
        if let Ok(response) = timeout_at(until, &mut listing).await {
            if response.is_ok() {
                self.0.late.note(key, begin.elapsed(), &self.0.limits);
            }
            return response;
        }
        if let Some(late) = LateList::begin(&self.0.late, key, limit) {
            tokio::spawn(self.clone().finish(late, listing, (again, begin)));
        }
        Err(refusal::slow(&self.0.name, limit, self.keys()))
    }

    /// Awaits a late list. If it fails on its way, and a caller listens, begins it again after a pause.
    async fn finish(
        self,
        late: LateList,
        mut listing: BoxFuture<'static, Response>,
        (request, mut begin): (Request, Instant),
    ) {
        let (owner, mut failures) = (self.0.sharing.owner(&request.parts), 0);
        let response = loop {
            let response = listing.await;
            if let Some(health) = &self.0.health {
                health.note(request.parts.method, &response, &self);
            }
            let is_of_gateway = response
                .as_ref()
                .is_err_and(|error| error.parse_data::<UpstreamFailure>().is_some());
            if !is_of_gateway {
                break response;
            }
            failures += 1;
            sleep(self.0.limits.pause(failures)).await;
            if self.is_closed() || !self.0.sessions.has_listener(&owner) {
                break response;
            }
            begin = Instant::now();
            let (lanes, request) = (self.clone(), request.clone());
            listing = Box::pin(async move { lanes.pass(request).await });
        };
        if response.is_ok() {
            self.0.late.note(late.key(), begin.elapsed(), &self.0.limits);
        }
        drop(late);
        if response.is_ok() {
            self.0.sessions.notify_of_list(&owner, request.parts.method);
        }
    }
}
