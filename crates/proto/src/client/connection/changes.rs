//! News of changes on the server, and whom they concern.

use std::time::Instant;

use bowline_types::id::RequestId;
use bowline_types::meta::key;
use bowline_types::method::Method;

use super::calls::FOREVER;
use super::{ClientConnection, Event, Waiting};
use crate::members::Members;
use crate::request::{Change, ExchangeId};
use crate::table::outgoing::Timing;

impl ClientConnection {
    /// Hands on what a notification tells of, if it tells of a change.
    pub(super) fn changed(&mut self, method: Method, params: &Members, now: Instant) {
        let Some(change) = change(method, params) else { return };
        if let Some(cache) = &mut self.cache {
            cache.changed(&change);
        }
        self.tell_followers(&change);
        let subscription = self.subscription(params);
        if let (Some((id, _)), Change::Acknowledged(_)) = (subscription, &change) {
            self.stand(id, now);
        }
        let exchange = subscription.map(|(_, exchange)| exchange);
        self.events.push_back(Event::Change(exchange, change));
    }

    /// A subscription that is acknowledged stays open until somebody ends it.
    fn stand(&mut self, id: i64, now: Instant) {
        let maximum = now.checked_add(FOREVER).unwrap_or(now);
        self.waiting.retime(id, Timing { timeout: FOREVER, maximum }, now);
    }

    /// The subscription that a notification names: its id on the wire, and our own number.
    fn subscription(&mut self, params: &Members) -> Option<(i64, ExchangeId)> {
        let meta = params.object("_meta").ok()?;
        let id: RequestId = meta.parse(key::SUBSCRIPTION_ID).ok()??;
        let id = id.as_integer()?;
        match self.waiting.get_mut(id)? {
            Waiting::Call(flight) if flight.request.method.streams() => Some((id, flight.exchange)),
            _ => None,
        }
    }
}

/// The change that a notification tells of.
fn change(method: Method, params: &Members) -> Option<Change> {
    match method {
        Method::ToolsListChanged => Some(Change::Tools),
        Method::PromptsListChanged => Some(Change::Prompts),
        Method::ResourcesListChanged => Some(Change::Resources),
        Method::ResourcesUpdated => params.parse("uri").ok().flatten().map(Change::Resource),
        Method::SubscriptionsAcknowledged => {
            params.parse("notifications").ok().flatten().map(Change::Acknowledged)
        }
        _ => None,
    }
}
