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
    running: Vec<(Supervised, Method)>,
    /// How long the next list may take. Set while the server needs longer than usual for its lists,
    /// since it would never be listed otherwise.
    patience: Option<Duration>,
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

    /// Whether such a list is late on this lane.
    pub(super) fn is_running(&self, lane: &Supervised, method: Method) -> bool {
        lock(&self.0).is_running(lane, method)
    }

    /// Whether any list is late on this lane.
    pub(super) fn is_any_running(&self, lane: &Supervised) -> bool {
        lock(&self.0).running.iter().any(|(other, _)| other == lane)
    }
}

impl State {
    fn is_running(&self, lane: &Supervised, method: Method) -> bool {
        self.running.iter().any(|(other, its)| other == lane && *its == method)
    }
}

/// A list that is late, until it is dropped.
pub(super) struct LateList {
    all: Arc<LateLists>,
    lane: Supervised,
    method: Method,
    /// Whether no other list was late on this lane.
    pub(super) is_first: bool,
}

impl LateList {
    /// `None` if such a list is late already.
    pub(super) fn begin(all: &Arc<LateLists>, lane: Supervised, method: Method) -> Option<Self> {
        let mut state = lock(&all.0);
        if state.is_running(&lane, method) {
            return None;
        }
        let is_first = !state.running.iter().any(|(other, _)| *other == lane);
        state.running.push((lane.clone(), method));
        // The server needed longer than it was given, so it hangs, as far as it is known.
        state.patience = None;
        drop(state);
        Some(Self { all: all.clone(), lane, method, is_first })
    }
}

impl Drop for LateList {
    fn drop(&mut self) {
        let mut state = lock(&self.all.0);
        state.running.retain(|(lane, method)| *lane != self.lane || *method != self.method);
    }
}
