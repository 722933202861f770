//! Messages of ours that came to nothing although the channel stands, as happens over HTTP.

use std::time::Instant;

use bowline_types::error::ErrorObject;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::revision::Revision;

use super::super::negotiate::{self, Asked, Step};
use super::super::rounds::Flight;
use super::{CallError, ClientConnection, ClientEvent, NegotiationError, ServerProfile, Waiting};
use crate::transmit::{FailureKind, SendFailure};

impl ClientConnection {
    /// Takes the news that a message came to nothing.
    pub(super) fn failed(&mut self, failure: SendFailure, now: Instant) {
        let Some(waiting) = failure.id.and_then(|id| self.waiting.abandon(id)) else {
            return self.odd(failure.reason);
        };
        match waiting {
            Waiting::Probe(revision) => {
                let asked = Asked { revision, probes: self.probes };
                self.step(negotiate::failed(&self.config, asked, &failure), now);
            }
            Waiting::Handshake => {
                let SendFailure { error, reason, .. } = failure;
                let error = match error {
                    Some(error) => NegotiationError::Refused { error, how: Some(reason) },
                    None => NegotiationError::Unreachable(reason),
                };
                self.step(Step::Failed(error), now);
            }
            Waiting::Call(flight) => self.call_failed(flight, failure, now),
            Waiting::Follow(follow) => match failure.error {
                Some(error) => self.follow_answered(&follow, Err(error)),
                None => self.follow_failed(&follow, call_error(failure)),
            },
            Waiting::Life => match failure.kind {
                FailureKind::Refused(_) | FailureKind::SessionLost => self.is_alive(),
                FailureKind::NotSent | FailureKind::Lost => self.is_dead(),
            },
        }
    }

    fn call_failed(&mut self, flight: Flight, failure: SendFailure, now: Instant) {
        if failure.kind == FailureKind::SessionLost && !flight.again {
            return self.renew(flight, now);
        }
        match failure.error {
            Some(error) => self.answered(flight, Err(error), None, now),
            None => self.end(flight.exchange, Err(call_error(failure))),
        }
    }

    /// Shakes hands again, once for all calls that found the session lost, and keeps the call until
    /// then: the server did nothing with it.
    fn renew(&mut self, flight: Flight, now: Instant) {
        self.flights.remove(&flight.exchange);
        let is_first = self.stranded.is_empty();
        self.stranded.push(Flight { again: true, ..flight });
        if let (true, Some(profile)) = (is_first, &self.profile) {
            self.step(Step::Shake(profile.revision), now);
        }
    }

    /// A new session stands in place of the one that was lost.
    pub(super) fn renewed(&mut self, profile: &ServerProfile, now: Instant) {
        let spoken = self.profile.as_ref().map(|profile| profile.revision);
        if spoken != Some(profile.revision) {
            let now_speaks = vec![profile.revision.to_string()];
            let error = NegotiationError::NoCommonRevision(now_speaks);
            return self.events.push_back(ClientEvent::Failed(error));
        }
        let was_restarted = std::mem::take(&mut self.is_restarting);
        if !profile.revision.is_modern() {
            self.notify(Method::Initialized, &Object::default());
        }
        self.events.push_back(ClientEvent::Renewed);
        self.follow_again(now);
        if was_restarted {
            self.go_on(now);
        }
        for flight in std::mem::take(&mut self.stranded) {
            self.send_again(flight, now);
        }
    }

    /// What follows from the answer to a probe.
    pub(super) fn probed(
        &self,
        revision: Revision,
        outcome: Result<&RawJson, &ErrorObject>,
    ) -> Step {
        let asked = Asked { revision, probes: self.probes };
        negotiate::probed(&self.config, asked, outcome)
    }
}

fn call_error(failure: SendFailure) -> CallError {
    CallError::Failed { kind: failure.kind, reason: failure.reason }
}
