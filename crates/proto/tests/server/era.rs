//! What a server speaks, and what it promises whom.

use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::revision::Revision;
use serde_json::json;

use crate::{LEGACY, Server, config};

#[test]
fn revisions_are_spoken_newest_first_however_they_are_named() {
    let newest_first: Vec<_> = Revision::ALL.into_iter().rev().collect();
    assert_eq!(config().revisions(), newest_first);
    let two = [Revision::V2025_03_26, Revision::V2025_11_25];
    assert_eq!(config().with_revisions(two).revisions(), [two[1], two[0]]);
    assert_eq!(config().with_revisions([]).revisions(), newest_first, "none changes nothing");
}

// spec: LOG-4
#[test]
fn a_session_begins_with_the_log_level_of_the_server() {
    for level in [LoggingLevel::Debug, LoggingLevel::Alert] {
        let mut server = Server::new(config().with_log_level(level));
        server.greet(LEGACY);
        assert_eq!(server.connection.snapshot().unwrap().log_level, level);
    }
}

// spec: CAP-2
#[test]
fn a_server_that_forgets_its_clients_promises_nothing_that_needs_memory() {
    for forgets in [false, true] {
        let config = if forgets { config().without_sessions() } else { config() };
        let promised = &Server::new(config).greet(LEGACY)["result"]["capabilities"];
        let expected = match forgets {
            false => json!({
                "logging": {}, "tools": { "listChanged": true }, "resources": { "subscribe": true },
            }),
            true => json!({ "tools": {}, "resources": {} }),
        };
        assert_eq!(promised, &expected);
    }
}

#[test]
fn a_client_that_shook_hands_elsewhere_may_call_and_is_asked_for_nothing() {
    let mut server = Server::default();
    server.connection.assume(LEGACY);
    let parts = server.call(1).parts;
    assert_eq!(parts.revision, LEGACY);
    assert!(parts.client.info.is_none() && !parts.client.capabilities.supports_roots());
}
