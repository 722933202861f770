//! Messages of the client that failed although the channel is open, as happens over HTTP.
//!
//! On stdio a lost message means a lost connection. Over HTTP each message is a request of its own,
//! which may be refused, never arrive, or break after it arrived. What becomes of the message
//! depends on its purpose and on whether the server can have processed it ([`FailureKind`]).

use std::time::Instant;

use bowline_types::error::ErrorObject;
use bowline_types::json::RawJson;
use bowline_types::revision::Revision;

use super::super::delivery::Report;
use super::super::negotiate::{self, NegotiationStep, SentProbe};
use super::super::rounds::InFlightCall;
use super::{CallError, ClientConnection, ClientEvent, NegotiationError, Purpose, ServerProfile};
use crate::transmit::{FailureKind, SendFailure};

/// How often a server is probed that refuses handshakes and does not answer in time.
const MOST_PROBES: usize = 2;

impl ClientConnection {
    /// Takes a report on a message of this client. One that a message failed is a sign of life; a
    /// login is none.
    pub(super) fn report(&mut self, report: Report, now: Instant) {
        match report {
            Report::Failed(failure) => {
                self.note_arrival(now);
                self.failed(*failure, now);
            }
            Report::Held(id) => self.held(id, now),
            Report::Granted(id) => self.granted(id, now),
        }
    }

    /// Takes the report that a message failed. A failed notification or answer is only reported:
    /// nothing waits for it.
    fn failed(&mut self, failure: SendFailure, now: Instant) {
        let Some(waiting) = failure.id.and_then(|id| self.waiting.abandon(id)) else {
            return self.diagnostic(failure.reason);
        };
        match waiting {
            Purpose::Probe(revision) => {
                let asked = SentProbe { revision, probes: self.probes };
                self.step(negotiate::after_failed_probe(&self.config, asked, &failure), now);
            }
            Purpose::Handshake => {
                let error = match &failure.error {
                    _ if failure.kind == FailureKind::Unauthorized => {
                        NegotiationError::Unauthorized(failure.reason)
                    }
                    Some(error) => NegotiationError::refused(error.clone(), &failure),
                    None => NegotiationError::unreachable(&failure),
                };
                let is_of_the_protocol = !negotiate::is_outside_of_the_protocol(failure.kind);
                let failed = NegotiationStep::Failed(error);
                let step = if is_of_the_protocol { self.or_probe_again(failed) } else { failed };
                self.step(step, now);
            }
            Purpose::Call(flight) => self.call_failed(flight, failure, now),
            Purpose::Subscribe(subscribe) => match failure.error {
                Some(error) => self.subscribe_answered(&subscribe, Err(error)),
                None => self.subscribe_failed(&subscribe, call_error(failure)),
            },
            Purpose::KeepAlive => match failure.kind {
                FailureKind::Refused(_)
                | FailureKind::Unauthorized
                | FailureKind::SessionLost
                | FailureKind::TooLong(_) => {
                    self.keep_alive_answered();
                }
                FailureKind::NotSent
                | FailureKind::Unreachable(_)
                | FailureKind::Lost
                | FailureKind::NoAnswer => {
                    self.keep_alive_failed();
                }
            },
            Purpose::RestoreLevel => self.level_failed(&failure.reason, now),
        }
    }

    /// A request waits for a credential. Its clock stops for as long as a user may take to answer a
    /// question, and then as long as the requests of a login may take.
    fn held(&mut self, id: i64, now: Instant) {
        let limits = self.config.limits();
        let longest = limits.question_timeout.saturating_add(limits.request_timeout);
        self.waiting.hold(id, longest, now);
    }

    /// A request was sent again with another credential.
    fn granted(&mut self, id: i64, now: Instant) {
        self.waiting.release(id, now);
        self.clear_cache();
    }

    /// Decides what a failed call becomes: sent again in a new session, or ended with an error. A
    /// lost session is renewed at most once for each call, so that a server which loses every
    /// session does not cause an endless loop.
    fn call_failed(&mut self, flight: InFlightCall, failure: SendFailure, now: Instant) {
        if failure.kind == FailureKind::SessionLost && !flight.again {
            return self.renew(flight, now);
        }
        match failure.error {
            Some(error) => self.answered(flight, Err(error), None, now),
            None => self.end(flight.exchange, Err(call_error(failure))),
        }
    }

    /// Sends `initialize` again, once for all calls that found the session lost. The call waits for
    /// the new session; the server did not process it. A new `initialize` without the old session
    /// id is what the protocol asks for (SESS-9).
    fn renew(&mut self, flight: InFlightCall, now: Instant) {
        self.in_flight.remove(&flight.exchange);
        self.postpone(InFlightCall { again: true, ..flight }, now);
        let is_handshake = |purpose: &Purpose| matches!(purpose, Purpose::Handshake);
        let is_renewing = self.is_restoring() || self.waiting.find(is_handshake).is_some();
        if let (false, Some(revision)) = (is_renewing, self.revision()) {
            self.step(NegotiationStep::Handshake(revision), now);
        }
    }

    /// A new session has replaced the lost one.
    ///
    /// The order: the client tells the server that the session is open, subscribes to resources
    /// again and sets the log level again, and only then do the calls follow. A server that now
    /// speaks another revision ends the connection, because calls were made for the old one.
    pub(super) fn renewed(&mut self, profile: &ServerProfile, now: Instant) {
        if self.revision() != Some(profile.revision) {
            let now_speaks = vec![profile.revision.to_string()];
            let error = NegotiationError::NoCommonRevision(now_speaks);
            return self.events.push_back(ClientEvent::Failed(error));
        }
        let was_restarted = std::mem::take(&mut self.is_restarting);
        self.notify_initialized();
        self.events.push_back(ClientEvent::Renewed);
        self.resubscribe(now);
        if was_restarted {
            self.resume_after_restart(now);
        }
        self.restore_level(profile, now);
    }

    /// The next step after a handshake. A server that was too slow to answer the probe and refuses
    /// the handshake may be modern, since it may answer the two in any order. So it is probed again,
    /// once.
    pub(super) fn or_probe_again(&self, step: NegotiationStep) -> NegotiationStep {
        match (&step, self.late_probe) {
            (NegotiationStep::Failed(NegotiationError::Refused { .. }), Some((_, revision)))
                if self.probes < MOST_PROBES && self.session().is_none() =>
            {
                NegotiationStep::Probe(revision)
            }
            _ => step,
        }
    }

    /// Takes the answer to a probe.
    pub(super) fn probed(
        &self,
        revision: Revision,
        outcome: Result<&RawJson, &ErrorObject>,
    ) -> NegotiationStep {
        let asked = SentProbe { revision, probes: self.probes };
        negotiate::after_probe(&self.config, asked, outcome)
    }
}

/// The error of a call that failed.
fn call_error(failure: SendFailure) -> CallError {
    match failure.kind {
        FailureKind::TooLong(why) => CallError::TooLong(why),
        kind => CallError::Failed { kind, reason: failure.reason },
    }
}
