//! The resources that a session is subscribed to.

use std::collections::BTreeSet;

use crate::request::ExchangeId;
use crate::table::exchanges::ExchangeTable;

/// The resources that a session is subscribed to.
///
/// The service decides whether a resource exists. Until it has answered `resources/subscribe`, the
/// resource is pending: it counts against the limits, but its changes are not reported.
#[derive(Debug, Default)]
pub(super) struct SubscribedResources {
    agreed: BTreeSet<String>,
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
        let is_followed =
            |whole: Option<&str>| whole.is_some_and(|whole| self.agreed.contains(whole));
        let is_part = |(slash, _): (usize, &str)| {
            is_followed(uri.get(..slash)) || is_followed(uri.get(..=slash))
        };
        is_followed(Some(uri)) || uri.match_indices('/').any(is_part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed(uris: &[&str]) -> SubscribedResources {
        let mut followed = SubscribedResources::default();
        for (number, uri) in (1..).map(ExchangeId).zip(uris) {
            followed.begin((*uri).to_owned(), number);
            followed.agree(number);
        }
        followed
    }

    // spec: RSRC-8
    #[test]
    fn a_change_of_a_part_counts_as_a_change_of_the_whole() {
        let followed = followed(&["a://b", "c://d/"]);
        for wanted in ["a://b", "a://b/part", "a://b/part/of", "c://d/", "c://d/e"] {
            assert!(followed.wants(wanted), "{wanted}");
        }
        for unwanted in ["a://bc", "a://", "c://d", "c://de", "b"] {
            assert!(!followed.wants(unwanted), "{unwanted}");
        }
    }

    #[test]
    fn nothing_is_told_until_the_service_has_agreed() {
        let mut followed = SubscribedResources::default();
        followed.begin("a://b".to_owned(), ExchangeId(1));
        assert!(!followed.wants("a://b"));
        followed.agree(ExchangeId(2));
        assert!(!followed.wants("a://b"));
        followed.agree(ExchangeId(1));
        followed.end(ExchangeId(1));
        assert!(followed.wants("a://b"));
    }

    #[test]
    fn what_was_not_agreed_on_is_forgotten() {
        let mut followed = SubscribedResources::default();
        followed.begin("a://b".to_owned(), ExchangeId(1));
        followed.end(ExchangeId(1));
        assert_eq!(followed.len(), 0);
    }

    #[test]
    fn a_client_that_changed_its_mind_is_told_nothing() {
        let mut followed = SubscribedResources::default();
        followed.begin("a://b".to_owned(), ExchangeId(1));
        followed.begin("a://c".to_owned(), ExchangeId(2));
        followed.stop("a://b");
        followed.agree(ExchangeId(1));
        followed.agree(ExchangeId(2));
        assert!(!followed.wants("a://b"));
        assert!(followed.wants("a://c"));
    }

    #[test]
    fn what_is_followed_stays_so_when_it_is_asked_for_again() {
        let mut followed = followed(&["a://b"]);
        followed.begin("a://b".to_owned(), ExchangeId(2));
        followed.end(ExchangeId(2));
        assert!(followed.wants("a://b"));
    }
}
