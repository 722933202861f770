//! Keeps what the store holds of a shared session from expiring while the session is in use here: its
//! record, the logs of its open streams, and their marks.
//!
//! A request renews the record by itself. Only calls and streams that last longer need upkeep.

use std::sync::Arc;
use std::time::Instant;

use bowline_store::events::EventLog;

use super::super::event_id::GET_STREAM;
use super::HttpSession;
use super::copy::lifetime;

impl HttpSession {
    /// Whether upkeep is due: the session is in use, and a quarter of its lifetime has passed since
    /// the last time.
    pub(in super::super) fn is_upkeep_due(&self, now: Instant) -> bool {
        let mut state = self.lock();
        let Some(copy) = state.copy.as_mut().filter(|_| self.is_in_use()) else { return false };
        let pause = lifetime(self.core.limits(), &copy.record) / 4;
        let is_due = pause <= now.saturating_duration_since(copy.kept_up);
        if is_due {
            copy.kept_up = now;
        }
        is_due
    }

    /// Renews the record, logs and marks. What fails is tried again when upkeep is due next.
    pub(in super::super) async fn keep_up(self: &Arc<Self>) {
        if !matches!(self.refresh().await, Ok(true)) {
            return;
        }
        for log in self.open_logs() {
            let _ = log.keep().await;
        }
    }

    /// The logs that have to be kept: of the GET stream that is open here, and of the POST streams
    /// that have begun.
    fn open_logs(&self) -> Vec<EventLog> {
        let state = self.lock();
        let begun = state.open_streams.values().filter(|log| log.has_begun()).cloned();
        let get = state.get_streams.is_open().then(|| self.log(GET_STREAM));
        begun.chain(get).collect()
    }
}
