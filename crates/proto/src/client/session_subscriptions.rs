//! Which subscriptions a session stands in for (up to 2025-11-25), and which resources they share.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use bowline_types::error::ErrorObject;
use bowline_types::subscription::SubscriptionFilter;

use crate::request::ExchangeId;

/// The subscriptions of one connection that its session stands in for.
#[derive(Debug, Default)]
pub(super) struct SessionSubscriptions {
    pub(super) open: BTreeMap<ExchangeId, SessionSubscription>,
    /// How many subscriptions want each resource.
    pub(super) resources: HashMap<String, usize>,
}

/// One subscription that a session stands in for.
#[derive(Debug)]
pub(super) struct SessionSubscription {
    /// The changes that it reports.
    pub(super) filter: SubscriptionFilter,
    /// Its `resources/subscribe` requests that await an answer.
    pub(super) unanswered: usize,
    /// The error of a server that refused one of its resources.
    pub(super) refusal: Option<ErrorObject>,
}

/// A `resources/subscribe` request for one resource of a subscription.
#[derive(Debug)]
pub(super) struct SubscribeRequest {
    pub(super) exchange: ExchangeId,
    pub(super) uri: String,
    pub(super) timeout: Duration,
}

impl SessionSubscriptions {
    /// The changes that each subscription reports.
    pub(super) fn filters(&self) -> impl Iterator<Item = (ExchangeId, SubscriptionFilter)> {
        self.open.iter().map(|(exchange, it)| (*exchange, it.filter.clone()))
    }

    /// Adds a subscription.
    pub(super) fn insert(&mut self, exchange: ExchangeId, subscription: SessionSubscription) {
        for uri in &subscription.filter.resource_subscriptions {
            *self.resources.entry(uri.clone()).or_default() += 1;
        }
        self.open.insert(exchange, subscription);
    }

    /// Notes how many `resources/subscribe` requests of a subscription await an answer.
    pub(super) fn expect_answers(&mut self, exchange: ExchangeId, count: usize) {
        if let Some(subscription) = self.open.get_mut(&exchange) {
            subscription.unanswered = count;
        }
    }

    /// Removes a subscription. Gives the resources that no other subscription wants.
    pub(super) fn remove(&mut self, exchange: ExchangeId) -> Option<Vec<String>> {
        let subscription = self.open.remove(&exchange)?;
        let mut resources = subscription.filter.resource_subscriptions;
        resources.retain(|uri| self.release(uri));
        Some(resources)
    }

    /// Counts one subscription less for a resource. Gives whether it was the last.
    pub(super) fn release(&mut self, uri: &str) -> bool {
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
