//! Lists of a server that answers slowly, or not at all: the lists of other servers do not wait for it.
//!
//! A list waits for [`GatewayLimits::patience`](crate::GatewayLimits::patience) and then fails, so that
//! a gateway leaves the server out. It goes on in the background; when it has ended, callers that
//! listen are notified that the lists changed. Meanwhile lists of the same lane fail at once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_proto::request::{Request, Response};
use bowline_proto::sync::lock;
use bowline_types::method::Method;
use tokio::time::{Instant, timeout_at};

use super::key::LaneKey;
use super::{Discovery, Lanes};
use crate::limits::GatewayLimits;
use crate::refusal;
use crate::supervise::Supervised;

/// The lists of one server that are late.
#[derive(Debug, Default)]
pub(super) struct LateLists(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: Vec<(Supervised, Method)>,
    /// How long the next list may take. Set while the server needs longer than usual for its lists,
    /// since it would never be listed otherwise.
    patience: Option<Duration>,
}

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

impl LateLists {
    fn patience(&self, limits: &GatewayLimits) -> Duration {
        lock(&self.0).patience.unwrap_or(limits.patience)
    }

    /// Notes how long the server took for a list.
    fn note(&self, took: Duration, limits: &GatewayLimits) {
        let longer = took.saturating_mul(2).min(limits.list);
        lock(&self.0).patience = (took >= limits.patience).then_some(longer);
    }

    fn is_running(&self, lane: &Supervised, method: Method) -> bool {
        lock(&self.0).running.iter().any(|(other, its)| other == lane && *its == method)
    }
}

/// A list that is late, until it is dropped.
struct LateList {
    all: Arc<LateLists>,
    lane: Supervised,
    method: Method,
}

impl LateList {
    /// `None` if such a list is late already.
    fn begin(all: &Arc<LateLists>, lane: Supervised, method: Method) -> Option<Self> {
        if all.is_running(&lane, method) {
            return None;
        }
        let mut state = lock(&all.0);
        state.running.push((lane.clone(), method));
        // The server needed longer than it was given, so it hangs, as far as it is known.
        state.patience = None;
        drop(state);
        Some(Self { all: all.clone(), lane, method })
    }
}

impl Drop for LateList {
    fn drop(&mut self) {
        let mut state = lock(&self.all.0);
        state.running.retain(|(lane, method)| *lane != self.lane || *method != self.method);
    }
}
