//! Changes that the server reports, and the subscriptions that they go to.
//!
//! Since 2026-07-28 a notification names the subscription that it belongs to (SUB-8, SUB-9).
//! Before, a server reports changes to the session, and
//! [`session_subscriptions`](super::session_subscriptions) says which subscriptions want them. The
//! cache hears of every change first.

use std::time::Instant;

use bowline_types::id::RequestId;
use bowline_types::meta::key;
use bowline_types::method::Method;

use super::calls::FOREVER;
use super::{ClientConnection, ClientEvent, Purpose};
use crate::members::Members;
use crate::request::{ExchangeId, ReportedChange};
use crate::table::outgoing::Timing;

impl ClientConnection {
    /// Reports the change that a notification announces, if it announces one.
    pub(super) fn changed(&mut self, method: Method, params: &Members, now: Instant) {
        let Some(change) = change(method, params) else { return };
        if let Some(cache) = &mut self.cache {
            cache.changed(&change);
        }
        self.report_to_subscriptions(&change);
        let Ok(meta) = params.object("_meta") else { return };
        let exchange = match meta.parse(key::SUBSCRIPTION_ID) {
            Ok(None) => None,
            // The subscription was closed before, so the change is dropped.
            named => match named.ok().flatten().and_then(|id| self.subscription(&id)) {
                Some((id, exchange)) => {
                    if let ReportedChange::Acknowledged(_) = change {
                        self.keep_open(id, now);
                    }
                    Some(exchange)
                }
                None => return,
            },
        };
        self.events.push_back(ClientEvent::Change(exchange, change));
    }

    /// A subscription that is acknowledged stays open until one side ends it.
    fn keep_open(&mut self, id: i64, now: Instant) {
        let maximum = now.checked_add(FOREVER).unwrap_or(now);
        self.waiting.retime(id, Timing { timeout: FOREVER, maximum }, now);
    }

    /// The open subscription with this id on the wire: the id as an integer, and its number.
    fn subscription(&mut self, id: &RequestId) -> Option<(i64, ExchangeId)> {
        let id = id.as_integer()?;
        match self.waiting.get_mut(id)? {
            Purpose::Call(flight) if flight.request.method.streams() => Some((id, flight.exchange)),
            _ => None,
        }
    }
}

/// The change that a notification announces.
fn change(method: Method, params: &Members) -> Option<ReportedChange> {
    match method {
        Method::ToolsListChanged => Some(ReportedChange::Tools),
        Method::PromptsListChanged => Some(ReportedChange::Prompts),
        Method::ResourcesListChanged => Some(ReportedChange::Resources),
        Method::ResourcesUpdated => {
            params.parse("uri").ok().flatten().map(ReportedChange::Resource)
        }
        Method::SubscriptionsAcknowledged => {
            params.parse("notifications").ok().flatten().map(ReportedChange::Acknowledged)
        }
        _ => None,
    }
}
