//! Calls that wait for a new session, because the server lost the last one or is being restarted.
//!
//! A call waits for as long as it would wait for an answer, and is then given up. Once it is sent, it
//! has that time again. Subscriptions that were open stay open, however long the server is gone.

use std::time::Instant;

use super::super::rounds::InFlightCall;
use super::{CallError, ClientConnection};

/// A call that waits for a new session.
#[derive(Debug)]
pub(super) struct PostponedCall {
    pub(super) flight: InFlightCall,
    /// When it is given up; `None` for a subscription that was open.
    until: Option<Instant>,
}

impl ClientConnection {
    /// Makes a call wait for a new session.
    pub(super) fn postpone(&mut self, flight: InFlightCall, now: Instant) {
        let limits = self.config.limits();
        let longest = flight.request.timeout(limits).min(flight.request.deadline(limits));
        // A timeout that is too long to add never comes.
        let until = now.checked_add(longest);
        self.postponed.push(PostponedCall { flight, until });
    }

    /// Keeps a subscription open that was open before.
    pub(super) fn postpone_open(&mut self, flight: InFlightCall) {
        self.postponed.push(PostponedCall { flight, until: None });
    }

    /// When the next call is given up.
    pub(super) fn next_postponed(&self) -> Option<Instant> {
        self.postponed.iter().filter_map(|call| call.until).min()
    }

    /// Gives up the calls that have waited for too long.
    pub(super) fn expire_postponed(&mut self, now: Instant) {
        let is_due = |call: &mut PostponedCall| call.until.is_some_and(|until| until <= now);
        let due: Vec<_> = self.postponed.extract_if(.., is_due).collect();
        for PostponedCall { flight, .. } in due {
            let limits = self.config.limits();
            let after = flight.request.timeout(limits).min(flight.request.deadline(limits));
            self.end(flight.exchange, Err(CallError::TimedOut(after)));
        }
    }

    /// Sends the calls in the new session.
    pub(super) fn send_postponed(&mut self, now: Instant) {
        for PostponedCall { flight, .. } in std::mem::take(&mut self.postponed) {
            self.send_again(flight, now);
        }
    }
}
