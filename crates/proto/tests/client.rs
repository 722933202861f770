//! The client as a machine: what its options change, and what it does when time goes by.

use std::sync::Arc;
use std::time::Instant;

use bowline_proto::client::{ClientConfig, ClientConnection};
use bowline_types::capability::ClientCapabilities;
use bowline_types::implementation::Implementation;
use bowline_types::revision::Revision;

fn config() -> ClientConfig {
    ClientConfig::new(Implementation::new("test", "1"), ClientCapabilities::new())
}

#[test]
fn revisions_are_tried_from_the_newest_whatever_order_they_are_given_in() {
    let given = [Revision::V2025_06_18, Revision::V2026_07_28, Revision::V2025_06_18];
    let config = config().with_revisions(given);
    assert_eq!(config.revisions(), [Revision::V2026_07_28, Revision::V2025_06_18]);
    let all = config.with_revisions([]);
    assert_eq!(all.revisions(), [Revision::V2026_07_28, Revision::V2025_06_18]);
}

/// Only HTTP repeats parts of a message in headers.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test needs some instant to count from")]
fn messages_have_mirrors_only_where_they_are_asked_for() {
    for (config, expected) in [(config(), None), (config().with_mirrors(), Some(Revision::LATEST))]
    {
        let mut client = ClientConnection::new(Arc::new(config));
        client.begin(Instant::now());
        let mirror = client.poll_transmit().unwrap().mirror;
        assert_eq!(mirror.map(|mirror| mirror.revision.unwrap()), expected);
    }
}
