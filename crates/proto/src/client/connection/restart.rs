//! A server that is gone and started again: what is lost with the old process, what waits for the
//! new one, and what the new one is told.

use std::time::Instant;

use bowline_types::subscription::SubscriptionFilter;

use super::super::cache::Cache;
use super::super::negotiate::Step;
use super::super::rounds::Flight;
use super::{CallError, ClientConnection, ClientEvent, Waiting};
use crate::request::{Change, ExchangeId};
use crate::transmit::FailureKind;

impl ClientConnection {
    /// The server is gone, and another is going to be started in its place; `reason` says how it
    /// went.
    ///
    /// Calls in flight fail and are not made again, because they may have run. Subscriptions stay,
    /// and calls that are made from now on wait, until [`restarted`](Self::restarted) leads to a
    /// new agreement.
    pub fn lost(&mut self, reason: &str) {
        self.is_restarting = true;
        self.transmits.clear();
        (self.noise, self.probes) = (0, 0);
        (self.late_probe, self.life) = (None, None);
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
                Some(Waiting::Call(flight)) if flight.request.method.streams() => {
                    self.flights.remove(&flight.exchange);
                    self.stranded.push(flight);
                }
                Some(Waiting::Call(flight)) => self.fail_lost(flight.exchange, reason),
                // What a session follows is followed again on the next one.
                Some(
                    Waiting::Follow(_) | Waiting::Probe(_) | Waiting::Handshake | Waiting::Life,
                )
                | None => {}
            }
        }
    }

    /// Another server stands in the place of the one that was [lost](Self::lost): comes to terms
    /// with it, in the revision that was spoken before.
    pub fn restarted(&mut self, now: Instant) {
        let Some(profile) = &self.profile else { return };
        let revision = profile.revision;
        let step = match revision.is_modern() {
            true => Step::Probe(revision),
            false => Step::Shake(revision),
        };
        self.step(step, now);
    }

    /// Both sides agree again: goes on as before, and tells subscribers that anything may have changed
    /// meanwhile.
    pub(super) fn go_on(&mut self, now: Instant) {
        self.watch(now);
        let listening = self.stranded.iter().filter(|flight| flight.request.method.streams());
        let listening = listening
            .filter_map(|flight| Some((flight.exchange, self.followed(&flight.request).ok()?)));
        let subscriptions: Vec<_> = listening.chain(self.following.filters()).collect();
        for (exchange, filter) in subscriptions {
            for change in all_of(filter) {
                self.events.push_back(ClientEvent::Change(Some(exchange), change));
            }
        }
    }

    /// Makes a call that waited for a new session.
    pub(super) fn send_again(&mut self, flight: Flight, now: Instant) {
        match flight.again {
            true => self.send(flight, "", now),
            // It was never sent, so that it is not certain yet that it can be.
            false => self.call(flight.exchange, flight.request, now),
        }
    }

    /// Ends a call that waited for a server that will not come.
    pub(super) fn fail_unsent(&mut self, exchange: ExchangeId) {
        let reason = "it was not sent, because the server is gone and was not started again";
        let (kind, reason) = (FailureKind::NotSent, reason.to_owned());
        self.end(exchange, Err(CallError::Failed { kind, reason }));
    }

    fn fail_lost(&mut self, exchange: ExchangeId, reason: &str) {
        let reason = format!("{reason}; the call may have run, so it is not made again");
        self.end(exchange, Err(CallError::Failed { kind: FailureKind::Lost, reason }));
    }
}

/// Every change that a subscription wants to hear of.
fn all_of(filter: SubscriptionFilter) -> impl Iterator<Item = Change> {
    let lists = [
        (filter.tools_list_changed, Change::Tools),
        (filter.prompts_list_changed, Change::Prompts),
        (filter.resources_list_changed, Change::Resources),
    ];
    let lists = lists.into_iter().filter(|(is_wanted, _)| *is_wanted).map(|(_, change)| change);
    lists.chain(filter.resource_subscriptions.into_iter().map(Change::Resource))
}
