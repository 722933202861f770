//! The lists of one server that are late, and how long the next ones may take.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_proto::sync::lock;
use bowline_types::method::Method;

use super::table::LaneId;
use crate::limits::GatewayLimits;

/// The lists of one server that are late.
#[derive(Debug, Default)]
pub(super) struct LateLists(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: Vec<Running>,
    /// How long the next list of a kind may take. Set while the server needs longer than usual for it,
    /// since it would never be listed otherwise.
    patience: HashMap<Method, Duration>,
}

#[derive(Debug)]
struct Running {
    lane: LaneId,
    method: Method,
    /// How long its caller waited for it.
    limit: Duration,
    /// Whether another list came from the lane meanwhile, so that only this one hangs.
    others_came: bool,
}

impl LateLists {
    /// How long a list may take.
    pub(super) fn patience(&self, method: Method, limits: &GatewayLimits) -> Duration {
        lock(&self.0).patience.get(&method).copied().unwrap_or(limits.patience)
    }

    /// Notes that the server gave a list, and how long it took.
    pub(super) fn note(
        &self,
        (lane, method): (LaneId, Method),
        took: Duration,
        limits: &GatewayLimits,
    ) {
        let mut state = lock(&self.0);
        for late in state.running.iter_mut().filter(|it| it.lane == lane) {
            late.others_came = true;
        }
        match took >= limits.patience {
            true => state.patience.insert(method, took.saturating_mul(2).min(limits.list)),
            false => state.patience.remove(&method),
        };
    }

    /// How long the caller waited for such a list that is late on this lane. `None` if none is.
    pub(super) fn running(&self, lane: LaneId, method: Method) -> Option<Duration> {
        lock(&self.0).running(lane, method)
    }

    /// The same for a list of any kind, unless the lane has given another list meanwhile: then it does
    /// not hang.
    pub(super) fn hanging(&self, lane: LaneId) -> Option<Duration> {
        let state = lock(&self.0);
        let mut of_lane = state.running.iter().filter(|it| it.lane == lane);
        let first = of_lane.next()?;
        (!first.others_came).then_some(first.limit)
    }
}

impl State {
    fn running(&self, lane: LaneId, method: Method) -> Option<Duration> {
        let found = self.running.iter().find(|it| it.lane == lane && it.method == method);
        found.map(|it| it.limit)
    }
}

/// A list that is late, until it is dropped.
pub(super) struct LateList {
    all: Arc<LateLists>,
    lane: LaneId,
    method: Method,
}

impl LateList {
    /// `None` if such a list is late already.
    pub(super) fn begin(
        all: &Arc<LateLists>,
        (lane, method): (LaneId, Method),
        limit: Duration,
    ) -> Option<Self> {
        let mut state = lock(&all.0);
        if state.running(lane, method).is_some() {
            return None;
        }
        state.running.push(Running { lane, method, limit, others_came: false });
        // The server needed longer than it was given, so it hangs, as far as it is known.
        state.patience.remove(&method);
        drop(state);
        Some(Self { all: all.clone(), lane, method })
    }

    pub(super) fn key(&self) -> (LaneId, Method) {
        (self.lane, self.method)
    }
}

impl Drop for LateList {
    fn drop(&mut self) {
        let mut state = lock(&self.all.0);
        state.running.retain(|it| it.lane != self.lane || it.method != self.method);
    }
}
