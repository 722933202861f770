//! The lists of one server that are late, and how long the next ones may take.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bowline_proto::sync::lock;
use bowline_types::method::Method;

use crate::limits::GatewayLimits;
use crate::supervise::Supervised;

/// The lists of one server that are late.
#[derive(Debug, Default)]
pub(super) struct LateLists(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    running: Vec<Running>,
    /// How long the next list may take. Set while the server needs longer than usual for its lists,
    /// since it would never be listed otherwise.
    patience: Option<Duration>,
}

#[derive(Debug)]
struct Running {
    lane: Supervised,
    method: Method,
    /// How long its caller waited for it.
    limit: Duration,
}

impl LateLists {
    /// How long a list may take.
    pub(super) fn patience(&self, limits: &GatewayLimits) -> Duration {
        lock(&self.0).patience.unwrap_or(limits.patience)
    }

    /// Notes how long the server took for a list.
    pub(super) fn note(&self, took: Duration, limits: &GatewayLimits) {
        let longer = took.saturating_mul(2).min(limits.list);
        lock(&self.0).patience = (took >= limits.patience).then_some(longer);
    }

    /// How long the caller waited for such a list that is late on this lane. `None` if none is.
    pub(super) fn running(&self, lane: &Supervised, method: Method) -> Option<Duration> {
        lock(&self.0).running(lane, method)
    }

    /// The same for a list of any kind.
    pub(super) fn any_running(&self, lane: &Supervised) -> Option<Duration> {
        lock(&self.0).running.iter().find(|it| it.lane == *lane).map(|it| it.limit)
    }
}

impl State {
    fn running(&self, lane: &Supervised, method: Method) -> Option<Duration> {
        let found = self.running.iter().find(|it| it.lane == *lane && it.method == method);
        found.map(|it| it.limit)
    }
}

/// A list that is late, until it is dropped.
pub(super) struct LateList {
    all: Arc<LateLists>,
    lane: Supervised,
    method: Method,
}

impl LateList {
    /// `None` if such a list is late already.
    pub(super) fn begin(
        all: &Arc<LateLists>,
        (lane, method): (Supervised, Method),
        limit: Duration,
    ) -> Option<Self> {
        let mut state = lock(&all.0);
        if state.running(&lane, method).is_some() {
            return None;
        }
        state.running.push(Running { lane: lane.clone(), method, limit });
        // The server needed longer than it was given, so it hangs, as far as it is known.
        state.patience = None;
        drop(state);
        Some(Self { all: all.clone(), lane, method })
    }
}

impl Drop for LateList {
    fn drop(&mut self) {
        let mut state = lock(&self.all.0);
        state.running.retain(|it| it.lane != self.lane || it.method != self.method);
    }
}
