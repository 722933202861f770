//! Subscriptions on a session, which has none: what `subscriptions/listen` means in older words.
//!
//! Up to 2025-11-25 a server tells of its lists unasked, and of a resource after
//! `resources/subscribe`. A subscription of ours is so many of those requests, acknowledged when all
//! are answered, and every notice is handed to each subscription that wants it. Several may want the
//! same resource; it is unsubscribed with the last of them.

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use bowline_types::error::ErrorObject;
use bowline_types::json::RawJson;
use bowline_types::legacy::subscribe::SubscribeParams;
use bowline_types::method::Method;
use bowline_types::subscription::{ListenParams, SubscriptionFilter};

use super::{CallError, CallRequest, ClientConnection, ClientEvent, Waiting};
use crate::request::{Change, ExchangeId};
use crate::wire::splice;

/// The subscriptions that a session stands in for.
#[derive(Debug, Default)]
pub(super) struct Following {
    subscriptions: BTreeMap<ExchangeId, Subscription>,
    /// How many subscriptions want each resource.
    resources: HashMap<String, usize>,
}

#[derive(Debug)]
struct Subscription {
    /// What it is told of.
    filter: SubscriptionFilter,
    /// Requests of it that await an answer.
    unanswered: usize,
    /// Why one of its resources cannot be followed.
    refusal: Option<ErrorObject>,
}

/// One resource that a subscription asks to follow.
#[derive(Debug)]
pub(super) struct Follow {
    exchange: ExchangeId,
    uri: String,
    timeout: Duration,
}

impl Following {
    /// What each subscription is told of.
    pub(super) fn filters(&self) -> impl Iterator<Item = (ExchangeId, SubscriptionFilter)> {
        self.subscriptions.iter().map(|(exchange, it)| (*exchange, it.filter.clone()))
    }

    /// Takes a subscription away, with the resources that nobody wants any more.
    fn remove(&mut self, exchange: ExchangeId) -> Option<Vec<String>> {
        let subscription = self.subscriptions.remove(&exchange)?;
        let mut resources = subscription.filter.resource_subscriptions;
        resources.retain(|uri| self.release(uri));
        Some(resources)
    }

    /// Counts one subscription less for a resource; gives whether it was the last.
    fn release(&mut self, uri: &str) -> bool {
        match self.resources.get_mut(uri) {
            Some(count) if *count > 1 => {
                *count -= 1;
                false
            }
            _ => {
                self.resources.remove(uri);
                true
            }
        }
    }
}

impl ClientConnection {
    /// Whether a request opens a subscription that the session has to stand in for.
    pub(super) fn is_followed_by_session(&self, method: Method) -> bool {
        let profile = self.profile.as_ref();
        method.streams() && profile.is_some_and(|it| !method.is_from_client(it.revision))
    }

    /// Opens a subscription.
    pub(super) fn follow(&mut self, exchange: ExchangeId, request: &CallRequest, now: Instant) {
        let filter = match self.followed(request) {
            Ok(filter) => filter,
            Err(error) => return self.end(exchange, Err(error)),
        };
        let timeout = request.timeout.unwrap_or(self.config.limits().request_timeout);
        for uri in &filter.resource_subscriptions {
            *self.following.resources.entry(uri.clone()).or_default() += 1;
            let follow = Waiting::Follow(Follow { exchange, uri: uri.clone(), timeout });
            let id = self.await_answer(follow, timeout, timeout, now);
            self.ask_to(Method::ResourcesSubscribe, id, uri);
        }
        let unanswered = filter.resource_subscriptions.len();
        let subscription = Subscription { filter, unanswered, refusal: None };
        self.following.subscriptions.insert(exchange, subscription);
        self.acknowledge(exchange);
    }

    /// Takes the answer to a request to follow a resource.
    pub(super) fn follow_answered(
        &mut self,
        follow: &Follow,
        outcome: Result<RawJson, ErrorObject>,
    ) {
        let Some(subscription) = self.following.subscriptions.get_mut(&follow.exchange) else {
            return;
        };
        // An answer of a session that was lost meanwhile does not count.
        subscription.unanswered = subscription.unanswered.saturating_sub(1);
        if let Err(error) = outcome {
            subscription.refusal = Some(error);
            subscription.filter.resource_subscriptions.retain(|uri| *uri != follow.uri);
            self.following.release(&follow.uri);
        }
        self.acknowledge(follow.exchange);
    }

    /// Ends the subscription of a request to follow a resource that has no answer.
    pub(super) fn follow_failed(&mut self, follow: &Follow, error: CallError) {
        if self.unfollow(follow.exchange) {
            self.end(follow.exchange, Err(error));
        }
    }

    /// The same, because its time is over.
    pub(super) fn follow_expired(&mut self, follow: &Follow) {
        self.follow_failed(follow, CallError::TimedOut(follow.timeout));
    }

    /// Gives a subscription up; gives whether there was one.
    pub(super) fn unfollow(&mut self, exchange: ExchangeId) -> bool {
        let Some(resources) = self.following.remove(exchange) else { return false };
        for uri in &resources {
            let id = self.waiting.unawaited();
            self.ask_to(Method::ResourcesUnsubscribe, id, uri);
        }
        true
    }

    /// Follows everything again, on a new session. A subscription hears of it only if something is
    /// not followed any more.
    pub(super) fn follow_again(&mut self, now: Instant) {
        let timeout = self.config.limits().request_timeout;
        let subscriptions: Vec<_> = self.following.filters().collect();
        for (exchange, filter) in subscriptions {
            let resources = filter.resource_subscriptions;
            if let Some(subscription) = self.following.subscriptions.get_mut(&exchange) {
                subscription.unanswered = resources.len();
            }
            for uri in resources {
                let follow = Follow { exchange, uri: uri.clone(), timeout };
                let id = self.await_answer(Waiting::Follow(follow), timeout, timeout, now);
                self.ask_to(Method::ResourcesSubscribe, id, &uri);
            }
        }
    }

    /// Hands a notice of the session to every subscription that wants it.
    pub(super) fn tell_followers(&mut self, change: &Change) {
        for (exchange, subscription) in &self.following.subscriptions {
            if change.is_wanted_by(&subscription.filter) {
                self.events.push_back(ClientEvent::Change(Some(*exchange), change.clone()));
            }
        }
    }

    /// Ends every subscription: the channel is gone.
    pub(super) fn end_following(&mut self) {
        for exchange in std::mem::take(&mut self.following).subscriptions.into_keys() {
            self.end(exchange, Err(CallError::Closed));
        }
    }

    /// What of a wish the server can honour.
    pub(super) fn followed(&self, request: &CallRequest) -> Result<SubscriptionFilter, CallError> {
        let Some(profile) = &self.profile else { return Err(CallError::Closed) };
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

    /// Says that a subscription stands, or that nothing is left of it, once all its requests are
    /// answered.
    fn acknowledge(&mut self, exchange: ExchangeId) {
        let subscriptions = &mut self.following.subscriptions;
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
                let acknowledged = Change::Acknowledged(subscription.filter.clone());
                self.events.push_back(ClientEvent::Change(Some(exchange), acknowledged));
            }
        }
    }

    fn ask_to(&mut self, method: Method, id: i64, uri: &str) {
        if self.is_restarting {
            return;
        }
        self.open_with(id, method, &splice::json(&SubscribeParams::new(uri)));
    }
}
