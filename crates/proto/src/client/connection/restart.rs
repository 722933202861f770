//! A server that exited and was started again: which calls fail, which wait for the new process,
//! and what the new process is sent.
//!
//! Only child processes are restarted. The driver calls [`lost`](ClientConnection::lost) when the
//! process has exited, and [`restarted`](ClientConnection::restarted) when the next one runs. The
//! application sees failed calls, [`ClientEvent::Renewed`], and a change of everything that it
//! subscribed to; its subscriptions stay.

use std::time::Instant;

use bowline_types::subscription::SubscriptionFilter;

use super::super::cache::Cache;
use super::super::negotiate::NegotiationStep;
use super::super::rounds::InFlightCall;
use super::{AgreedEra, CallError, ClientConnection, ClientEvent, Purpose};
use crate::request::{ExchangeId, ReportedChange};
use crate::transmit::FailureKind;

impl ClientConnection {
    /// The server has exited, and the driver is going to start another; `reason` describes the
    /// exit.
    ///
    /// Calls in flight fail and are not sent again, because they may have run. Subscriptions stay
    /// open, and new calls wait, until [`restarted`](Self::restarted) leads to a new agreement.
    ///
    /// Stored results are dropped too, since the new process may offer something else.
    pub fn lost(&mut self, reason: &str) {
        self.is_restarting = true;
        if let Some(session) = self.session_mut() {
            session.is_restoring = false;
        }
        self.transmits.clear();
        (self.noise, self.probes) = (0, 0);
        (self.late_probe, self.keep_alive) = (None, None);
        self.cache = self.config.cache().cloned().map(Cache::new);
        for ask in std::mem::take(&mut self.asks).into_keys() {
            self.events.push_back(ClientEvent::AskCancelled(ask));
        }
        let asking: Vec<_> = self.rounds.drain().map(|(exchange, _)| exchange).collect();
        for exchange in asking {
            self.fail_lost(exchange, reason);
        }
        for id in self.waiting.ids() {
            match self.waiting.abandon(id) {
                Some(Purpose::Call(flight)) if flight.request.method.streams() => {
                    self.in_flight.remove(&flight.exchange);
                    self.postpone_open(flight);
                }
                Some(Purpose::Call(flight)) => self.fail_lost(flight.exchange, reason),
                // The next session gets the resources and the level of this one.
                Some(
                    Purpose::Subscribe(_)
                    | Purpose::Probe(_)
                    | Purpose::Handshake
                    | Purpose::KeepAlive
                    | Purpose::RestoreLevel,
                )
                | None => {}
            }
        }
    }

    /// A new server has replaced the [lost](Self::lost) one: negotiates with it, in the same
    /// revision. Does nothing if there never was an agreement.
    pub fn restarted(&mut self, now: Instant) {
        let Some(agreed) = &self.agreed else { return };
        let step = match agreed.era {
            AgreedEra::Legacy(_) => NegotiationStep::Handshake(agreed.revision()),
            AgreedEra::Modern { .. } => NegotiationStep::Probe(agreed.revision()),
        };
        self.step(step, now);
    }

    /// Both sides agree again: reports to all subscriptions that anything may have changed
    /// meanwhile. A subscription on stdio has to be sent again (SUB-17), and changes between the
    /// two processes were reported by neither.
    pub(super) fn resume_after_restart(&mut self, now: Instant) {
        self.start_keep_alive(now);
        let waiting = self.postponed.iter().map(|call| &call.flight);
        let listening = waiting.filter(|flight| flight.request.method.streams());
        let listening = listening.filter_map(|flight| {
            Some((flight.exchange, self.honoured_filter(&flight.request).ok()?))
        });
        let subscriptions: Vec<_> = listening.chain(self.session_filters()).collect();
        for (exchange, filter) in subscriptions {
            for change in all_of(filter) {
                self.events.push_back(ClientEvent::Change(Some(exchange), change));
            }
        }
    }

    /// Sends a call that waited for a new session.
    pub(super) fn send_again(&mut self, flight: InFlightCall, now: Instant) {
        match flight.again {
            true => self.send_first(flight, now),
            // It was never sent, so it is checked like a new call.
            false => self.call(flight.exchange, flight.request, now),
        }
    }

    /// Ends a call that waited for a server which was not started.
    pub(super) fn fail_unsent(&mut self, exchange: ExchangeId) {
        let reason = "it was not sent, because the server is gone and was not started again";
        let (kind, reason) = (FailureKind::NotSent, reason.to_owned());
        self.end(exchange, Err(CallError::Failed { kind, reason }));
    }

    /// Ends a call that was in flight when the server exited.
    fn fail_lost(&mut self, exchange: ExchangeId, reason: &str) {
        let reason = format!("{reason}; the call may have run, so it is not made again");
        self.end(exchange, Err(CallError::Failed { kind: FailureKind::Lost, reason }));
    }
}

/// Every change that a subscription asked for.
fn all_of(filter: SubscriptionFilter) -> impl Iterator<Item = ReportedChange> {
    let lists = [
        (filter.tools_list_changed, ReportedChange::Tools),
        (filter.prompts_list_changed, ReportedChange::Prompts),
        (filter.resources_list_changed, ReportedChange::Resources),
    ];
    let lists = lists.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, change)| change);
    lists.chain(filter.resource_subscriptions.into_iter().map(ReportedChange::Resource))
}
