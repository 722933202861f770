//! Subscriptions in a session, where `subscriptions/listen` does not exist (up to 2025-11-25).
//!
//! A legacy server reports changes of its lists without being asked, and changes of a resource
//! after `resources/subscribe`. So a subscription becomes one such request per resource. It is
//! acknowledged when all of them are answered, and every change goes to each subscription that
//! wants it. Subscriptions may share a resource: the last of them unsubscribes it.

use std::time::Instant;

use bowline_types::error::ErrorObject;
use bowline_types::json::RawJson;
use bowline_types::legacy::subscribe::SubscribeParams;
use bowline_types::method::Method;
use bowline_types::subscription::{ListenParams, SubscriptionFilter};

use super::super::session_subscriptions::{SessionSubscription, SubscribeRequest};
use super::{Agreed, CallError, CallRequest, ClientConnection, ClientEvent, Purpose};
use crate::request::{ExchangeId, ReportedChange};
use crate::splice;

impl ClientConnection {
    /// Whether a request opens a subscription that this revision has no method for.
    pub(super) fn needs_session_subscription(&self, method: Method) -> bool {
        method.streams() && self.session().is_some()
    }

    /// Opens a subscription. A subscription to lists alone sends nothing and is acknowledged at
    /// once.
    pub(super) fn open_session_subscription(
        &mut self,
        exchange: ExchangeId,
        request: &CallRequest,
        now: Instant,
    ) {
        let filter = match self.honoured_filter(request) {
            Ok(filter) => filter,
            Err(error) => return self.end(exchange, Err(error)),
        };
        let timeout = request.timeout.unwrap_or(self.config.limits().request_timeout);
        for uri in &filter.resource_subscriptions {
            let subscribe =
                Purpose::Subscribe(SubscribeRequest { exchange, uri: uri.clone(), timeout });
            let id = self.await_answer(subscribe, timeout, timeout, now);
            self.send_subscribe(Method::ResourcesSubscribe, id, uri);
        }
        let unanswered = filter.resource_subscriptions.len();
        let subscription = SessionSubscription { filter, unanswered, refusal: None };
        if let Some(session) = self.session_mut() {
            session.subscriptions.insert(exchange, subscription);
        }
        self.acknowledge(exchange);
    }

    /// Takes the answer to a `resources/subscribe` request. A refused resource is taken out of the
    /// filter; the acknowledgement then lists the rest.
    pub(super) fn subscribe_answered(
        &mut self,
        subscribe: &SubscribeRequest,
        outcome: Result<RawJson, ErrorObject>,
    ) {
        let Some(session) = self.session_mut() else { return };
        let Some(subscription) = session.subscriptions.open.get_mut(&subscribe.exchange) else {
            return;
        };
        // Saturating, because the answer may be for a session that was lost meanwhile.
        subscription.unanswered = subscription.unanswered.saturating_sub(1);
        if let Err(error) = outcome {
            subscription.refusal = Some(error);
            subscription.filter.resource_subscriptions.retain(|uri| *uri != subscribe.uri);
            session.subscriptions.release(&subscribe.uri);
        }
        self.acknowledge(subscribe.exchange);
    }

    /// Ends the subscription whose `resources/subscribe` request has no answer.
    pub(super) fn subscribe_failed(&mut self, subscribe: &SubscribeRequest, error: CallError) {
        if self.close_session_subscription(subscribe.exchange) {
            self.end(subscribe.exchange, Err(error));
        }
    }

    /// Ends the subscription whose `resources/subscribe` request timed out.
    pub(super) fn subscribe_expired(&mut self, subscribe: &SubscribeRequest) {
        self.subscribe_failed(subscribe, CallError::TimedOut(subscribe.timeout));
    }

    /// Closes a subscription. Gives whether there was one. The answer to `resources/unsubscribe` is
    /// not awaited: whatever it is, the subscription is over here.
    pub(super) fn close_session_subscription(&mut self, exchange: ExchangeId) -> bool {
        let removed = self.session_mut().and_then(|session| session.subscriptions.remove(exchange));
        let Some(resources) = removed else { return false };
        for uri in &resources {
            let id = self.waiting.unawaited();
            self.send_subscribe(Method::ResourcesUnsubscribe, id, uri);
        }
        true
    }

    /// Subscribes to every resource again, on a new session. A subscriber is notified only if the
    /// server now refuses one of its resources.
    pub(super) fn resubscribe(&mut self, now: Instant) {
        let timeout = self.config.limits().request_timeout;
        let subscriptions: Vec<_> = self.session_filters().collect();
        for (exchange, filter) in subscriptions {
            let resources = filter.resource_subscriptions;
            if let Some(session) = self.session_mut() {
                session.subscriptions.expect_answers(exchange, resources.len());
            }
            for uri in resources {
                let subscribe = SubscribeRequest { exchange, uri: uri.clone(), timeout };
                let id = self.await_answer(Purpose::Subscribe(subscribe), timeout, timeout, now);
                self.send_subscribe(Method::ResourcesSubscribe, id, &uri);
            }
        }
    }

    /// Reports a change to every subscription that wants it. On 2026-07-28 there are none here: the
    /// server names the subscription itself.
    pub(super) fn report_to_subscriptions(&mut self, change: &ReportedChange) {
        let Some(session) = self.agreed.as_ref().and_then(Agreed::session) else { return };
        for (exchange, subscription) in &session.subscriptions.open {
            if change.is_wanted_by(&subscription.filter) {
                self.events.push_back(ClientEvent::Change(Some(*exchange), change.clone()));
            }
        }
    }

    /// Ends every subscription: the channel is gone.
    pub(super) fn end_session_subscriptions(&mut self) {
        let Some(session) = self.session_mut() else { return };
        for exchange in std::mem::take(&mut session.subscriptions).open.into_keys() {
            self.end(exchange, Err(CallError::Closed));
        }
    }

    /// The changes that each subscription in a session reports.
    pub(super) fn session_filters(&self) -> impl Iterator<Item = (ExchangeId, SubscriptionFilter)> {
        self.session().into_iter().flat_map(|session| session.subscriptions.filters())
    }

    /// The part of the requested filter that the server can honour.
    ///
    /// # Errors
    ///
    /// If nothing of it is left.
    pub(super) fn honoured_filter(
        &self,
        request: &CallRequest,
    ) -> Result<SubscriptionFilter, CallError> {
        let Some(profile) = self.profile() else { return Err(CallError::Closed) };
        let wish: ListenParams = request
            .params
            .parse()
            .map_err(|error| CallError::Refused(ErrorObject::misread_params(error)))?;
        let mut filter = wish.notifications.honoured_by(&profile.capabilities);
        filter.resource_subscriptions.sort_unstable();
        filter.resource_subscriptions.dedup();
        if filter.is_empty() {
            let missing = "any of the changes asked for".to_owned();
            return Err(CallError::NotOffered { method: request.method, missing });
        }
        Ok(filter)
    }

    /// Acknowledges a subscription once all its requests are answered. Ends it instead if the
    /// server refused every resource and nothing else was asked for.
    fn acknowledge(&mut self, exchange: ExchangeId) {
        let Some(session) = self.session_mut() else { return };
        let subscriptions = &mut session.subscriptions.open;
        let Some(subscription) = subscriptions.get_mut(&exchange) else { return };
        if subscription.unanswered > 0 {
            return;
        }
        match subscription.refusal.take() {
            Some(error) if subscription.filter.is_empty() => {
                subscriptions.remove(&exchange);
                self.end(exchange, Err(CallError::Refused(error)));
            }
            _ => {
                let acknowledged = ReportedChange::Acknowledged(subscription.filter.clone());
                self.events.push_back(ClientEvent::Change(Some(exchange), acknowledged));
            }
        }
    }

    /// Sends `resources/subscribe` or `resources/unsubscribe` for one resource.
    fn send_subscribe(&mut self, method: Method, id: i64, uri: &str) {
        if self.is_restarting {
            return;
        }
        self.send_request(id, method, &splice::json(&SubscribeParams::new(uri)));
    }
}
