//! The resources that a session is subscribed to.

use std::collections::BTreeSet;

use crate::request::ExchangeId;
use crate::table::exchanges::ExchangeTable;

/// The resources that a session is subscribed to.
///
/// The service decides whether a resource exists. Until it has answered `resources/subscribe`, the
/// resource is pending: it counts against the limits, but its changes are not reported.
///
/// Names of resources are compared as text; a subscription covers what lies below it too.
#[derive(Debug, Default)]
pub(super) struct SubscribedResources {
    /// Accepted by the service. Part of a [`SessionSnapshot`](super::super::SessionSnapshot).
    agreed: BTreeSet<String>,
    /// By the call that subscribes.
    awaited: ExchangeTable<String>,
}

impl SubscribedResources {
    /// A call subscribes to a resource.
    pub(super) fn begin(&mut self, uri: String, call: ExchangeId) {
        self.awaited.insert(call, uri);
    }

    /// The service accepted the subscription of a call, unless the client has unsubscribed
    /// meanwhile.
    pub(super) fn agree(&mut self, call: ExchangeId) {
        self.agreed.extend(self.awaited.remove(call));
    }

    /// A call has ended: its subscription is dropped if the service did not accept it.
    pub(super) fn end(&mut self, call: ExchangeId) {
        self.awaited.remove(call);
    }

    /// The resources that the service accepted.
    pub(super) fn agreed(&self) -> &BTreeSet<String> {
        &self.agreed
    }

    /// Sets the accepted resources, as another connection of the session has them.
    pub(super) fn settle(&mut self, agreed: BTreeSet<String>) {
        self.agreed = agreed;
    }

    /// The client unsubscribes from a resource.
    pub(super) fn stop(&mut self, uri: &str) {
        self.agreed.remove(uri);
        self.awaited.retain(|awaited| awaited != uri);
    }

    pub(super) fn len(&self) -> usize {
        self.agreed.len() + self.awaited.len()
    }

    /// The bytes of all URIs.
    pub(super) fn bytes(&self) -> usize {
        let awaited = self.awaited.iter().map(|(_, uri)| uri);
        self.agreed.iter().chain(awaited).map(String::len).sum()
    }

    /// Whether to report a change of this resource: the session subscribed to it, or to a resource
    /// that contains it.
    pub(super) fn wants(&self, uri: &str) -> bool {
        let is_subscribed =
            |whole: Option<&str>| whole.is_some_and(|whole| self.agreed.contains(whole));
        let is_part = |(slash, _): (usize, &str)| {
            is_subscribed(uri.get(..slash)) || is_subscribed(uri.get(..=slash))
        };
        is_subscribed(Some(uri)) || uri.match_indices('/').any(is_part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subscribed_to(uris: &[&str]) -> SubscribedResources {
        let mut resources = SubscribedResources::default();
        for (number, uri) in (1..).map(ExchangeId).zip(uris) {
            resources.begin((*uri).to_owned(), number);
            resources.agree(number);
        }
        resources
    }

    // spec: RSRC-8
    #[test]
    fn a_change_of_a_part_counts_as_a_change_of_the_whole() {
        let resources = subscribed_to(&["a://b", "c://d/"]);
        for wanted in ["a://b", "a://b/part", "a://b/part/of", "c://d/", "c://d/e"] {
            assert!(resources.wants(wanted), "{wanted}");
        }
        for unwanted in ["a://bc", "a://", "c://d", "c://de", "b"] {
            assert!(!resources.wants(unwanted), "{unwanted}");
        }
    }

    #[test]
    fn no_change_is_reported_before_the_service_accepts() {
        let mut resources = SubscribedResources::default();
        resources.begin("a://b".to_owned(), ExchangeId(1));
        assert!(!resources.wants("a://b"));
        resources.agree(ExchangeId(2));
        assert!(!resources.wants("a://b"));
        resources.agree(ExchangeId(1));
        resources.end(ExchangeId(1));
        assert!(resources.wants("a://b"));
    }

    #[test]
    fn a_subscription_that_was_not_accepted_is_dropped() {
        let mut resources = SubscribedResources::default();
        resources.begin("a://b".to_owned(), ExchangeId(1));
        resources.end(ExchangeId(1));
        assert_eq!(resources.len(), 0);
    }

    #[test]
    fn a_client_that_unsubscribed_gets_no_changes() {
        let mut resources = SubscribedResources::default();
        resources.begin("a://b".to_owned(), ExchangeId(1));
        resources.begin("a://c".to_owned(), ExchangeId(2));
        resources.stop("a://b");
        resources.agree(ExchangeId(1));
        resources.agree(ExchangeId(2));
        assert!(!resources.wants("a://b"));
        assert!(resources.wants("a://c"));
    }

    #[test]
    fn a_second_subscription_to_a_resource_keeps_the_first() {
        let mut resources = subscribed_to(&["a://b"]);
        resources.begin("a://b".to_owned(), ExchangeId(2));
        resources.end(ExchangeId(2));
        assert!(resources.wants("a://b"));
    }
}
