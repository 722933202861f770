//! Lists of a server that answers slowly, or not at all: the lists of other servers do not wait for it.
//!
//! A list waits for [`GatewayLimits::patience`](crate::GatewayLimits::patience) and then fails, so that
//! a gateway leaves the server out. It goes on in the background; when it has ended, callers that
//! listen are notified that the lists changed. Meanwhile lists of the same lane fail at once.

use bowline_proto::request::{Request, Response};
use tokio::time::{Instant, timeout_at};

use super::key::LaneKey;
use super::late_lists::LateList;
use super::{Discovery, Lanes};
use crate::refusal;

impl Lanes {
    /// Passes a list on.
    pub(super) async fn list(&self, request: Request) -> Response {
        let method = request.parts.method;
        // A caller that asks for a further page of this server, or for the list of this server alone,
        // waits for it.
        let waits = request.params.value("cursor").is_some();
        if waits || self.0.discovery == Discovery::Asked {
            return self.pass(request).await;
        }
        let begin = Instant::now();
        let until = begin + self.0.late.patience(&self.0.limits);
        let lane = timeout_at(until, self.lane_of(&request.parts)).await;
        let lane = lane.unwrap_or_else(|_| Err(refusal::busy(&self.0.name)))?;
        let supervised = lane.supervised.clone();
        if self.0.late.is_running(&supervised, method) {
            return Err(refusal::slow(&self.0.name, method));
        }
        let key = LaneKey::of(&request.parts, (self.0.sharing, self.0.isolation), None);
        let lanes = self.clone();
        let mut listing = Box::pin(async move { lanes.pass_on(lane, request).await });
        if let Ok(response) = timeout_at(until, &mut listing).await {
            if response.is_ok() {
                self.0.late.note(begin.elapsed(), &self.0.limits);
            }
            return response;
        }
        if let Some(running) = LateList::begin(&self.0.late, supervised, method) {
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
}
