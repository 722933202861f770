//! The revisions that a server speaks, and how a session in one of them begins.

use bowline_proto::request::Handshake;
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::error::ErrorObject;
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

// spec: LIFE-9, LIFE-10, LIFE-11
#[test]
fn a_client_that_asks_for_a_revision_that_is_not_spoken_gets_the_newest_that_is() {
    let spoken = [Revision::V2024_11_05, Revision::V2025_03_26];
    for (asked, agreed) in [(Revision::V2025_11_25, spoken[1]), (spoken[0], spoken[0])] {
        let mut server = Server::new(config().with_revisions(spoken));
        let answer = server.greet(asked);
        assert_eq!(answer["result"]["protocolVersion"], agreed.to_string());
    }
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

#[test]
fn a_server_that_cannot_describe_itself_has_no_session_and_may_be_asked_again() {
    let mut server = Server::default();
    let params = json!({
        "protocolVersion": LEGACY.to_string(), "capabilities": {},
        "clientInfo": { "name": "c", "version": "1" },
    });
    server.hear(json!({ "id": 0, "method": "initialize", "params": params }));
    let handshake = server.calls().remove(0).parts;
    assert!(handshake.extensions.get::<Handshake>().is_some());
    server.connection.complete(handshake.exchange, Err(ErrorObject::internal("not now")));
    assert_eq!(server.said()[0]["error"]["message"], "not now");
    assert_eq!(server.connection.revision(), None);
    server.greet(LEGACY);
    assert_eq!(server.connection.revision(), Some(LEGACY));
}

#[test]
fn a_client_that_shook_hands_elsewhere_may_call_and_is_asked_for_nothing() {
    let mut server = Server::default();
    server.connection.open_without_handshake(LEGACY);
    assert!(server.calls().is_empty(), "what the client has not opened is not open");
    let parts = server.call(1).parts;
    assert_eq!(parts.revision, LEGACY);
    assert!(parts.client.info.is_none() && !parts.client.capabilities.supports_roots());
}
