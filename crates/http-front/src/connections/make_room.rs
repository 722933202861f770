//! Room for a new connection where there is none: ends those whose clients keep the server waiting
//! longest.
//!
//! The alternative, to refuse the newest, would let clients that never finish a request keep all
//! others out.

use std::time::Duration;

use crate::address::AddressKey;
use crate::sync::lock;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::{Connections, Open};

/// The shortest time between two searches. A search looks at every connection, so a flood of new
/// connections must not cause one for each.
const PAUSE: Duration = Duration::from_millis(100);

/// Which part of the connections one search ends at most.
const PART: usize = 64;

impl Connections {
    /// Ends connections that have kept the server waiting for `crowded` or longer, of all clients or of
    /// one address. Returns whether there were any. They may take a moment to end.
    pub(crate) fn make_room(&mut self, address: Option<AddressKey>) -> bool {
        let now = Instant::now();
        if self.searched.is_some_and(|last| now < last + PAUSE) {
            return false;
        }
        self.searched = Some(now);
        let crowded = self.capacity.crowded;
        let table = lock(&self.table);
        let most = table.open.len().div_ceil(PART);
        let candidates = table
            .open
            .values()
            .filter(|open| address.is_none_or(|address| open.address == address));
        let mut waiting: Vec<(Instant, &Open)> = candidates
            .filter_map(|open| Some((open.waits_since()?, open)))
            .filter(|(since, _)| now >= *since + crowded)
            .collect();
        waiting.sort_unstable_by_key(|(since, _)| *since);
        let longest = waiting.into_iter().take(most);
        let ended: Vec<Option<AbortHandle>> = longest.map(|(_, open)| open.give_up()).collect();
        drop(table);
        ended.iter().flatten().for_each(AbortHandle::abort);
        !ended.is_empty()
    }
}

impl Open {
    /// Since when the server waits for the client: for a head, for bodies, or for the next request.
    /// `None` if the client waits for the server, or has sent a request since the last check.
    fn waits_since(&self) -> Option<Instant> {
        let used = &self.used;
        if used.traffic.waits() {
            // `WatchedSocket` watches it.
            return None;
        }
        match used.is_in_flight() {
            true => used.bodies_awaited_since(),
            false => (used.requests() == self.before).then_some(self.used_at),
        }
    }

    /// Asks an idle connection to end in the way of its protocol. Gives the task to abort if that was
    /// done before, or if a request has begun.
    fn give_up(&self) -> Option<AbortHandle> {
        let is_idle = !self.has_begun && !self.used.is_in_flight();
        if is_idle && !self.used.is_ending() {
            self.used.end();
            return None;
        }
        self.task.clone()
    }
}
