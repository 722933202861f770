//! Capabilities of both sides of a session, as far as the revision has them.

use bowline_proto::request::{Outgoing, QuestionError, ReportedChange, Success};
use bowline_types::capability::ServerCapabilities;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::elicitation::ElicitParams;
use bowline_types::elicitation::schema::FormSchema;
use bowline_types::error::ErrorObject;
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use bowline_types::revision::Revision;
use serde_json::json;

use crate::{LEGACY, Server, config, limited};

// spec: CAP-2
#[test]
fn a_capability_that_the_revision_lacks_is_not_agreed_on() {
    for (revision, has_elicitation) in [(Revision::V2025_03_26, false), (LEGACY, true)] {
        let client = Server::greeted(revision).call(1).parts.client;
        let elicits = client.capabilities.elicitation.is_some();
        assert_eq!(elicits, has_elicitation, "{revision}");
    }
}

// spec: CAP-2
#[test]
fn a_capability_that_the_revision_lacks_is_not_declared() {
    for (revision, has_completions) in [(Revision::V2024_11_05, false), (LEGACY, true)] {
        let capabilities = ServerCapabilities::new().with_completions();
        let answer = Server::default().greet_as(revision, capabilities);
        let promised = answer["result"]["capabilities"].get("completions").is_some();
        assert_eq!(promised, has_completions, "{revision}");
    }
}

// spec: CAP-2
#[test]
fn a_server_without_sessions_declares_nothing_that_needs_one() {
    for forgets in [false, true] {
        let config = if forgets { config().without_sessions() } else { config() };
        let capabilities = ServerCapabilities::new()
            .with_logging()
            .with_tools_list_changed()
            .with_prompts_list_changed()
            .with_resources_list_changed()
            .with_resources_subscribe();
        let answer = Server::new(config).greet_as(LEGACY, capabilities);
        let expected = match forgets {
            false => json!({
                "logging": {}, "tools": { "listChanged": true }, "prompts": { "listChanged": true },
                "resources": { "listChanged": true, "subscribe": true },
            }),
            true => json!({ "tools": {}, "prompts": {}, "resources": {} }),
        };
        assert_eq!(answer["result"]["capabilities"], expected);
    }
}

// spec: CAP-2, LOG-1
#[test]
fn notifications_of_undeclared_capabilities_are_not_sent() {
    let changes = ServerCapabilities::new()
        .with_logging()
        .with_tools_list_changed()
        .with_prompts_list_changed()
        .with_resources_list_changed();
    for (capabilities, sent) in [(changes, 4), (ServerCapabilities::new(), 0)] {
        let mut server = Server::default();
        server.greet_as(LEGACY, capabilities);
        server.initialized();
        let standing = server.calls().remove(0).parts.exchange;
        for change in [ReportedChange::Tools, ReportedChange::Prompts, ReportedChange::Resources] {
            server.emit(standing, Outgoing::Change(change));
        }
        let call = server.call(1).parts.exchange;
        let message = LogMessageParams::new(LoggingLevel::Error, RawJson::empty_object());
        server.emit(call, Outgoing::Log(message));
        assert_eq!(server.said().len(), sent);
    }
}

#[test]
fn a_session_follows_as_many_resources_as_the_limits_allow() {
    let subscribe = |server: &mut Server, uri: &str| {
        let params = json!({ "uri": uri });
        server.hear(json!({ "id": 1, "method": "resources/subscribe", "params": params }));
        server.said().is_empty()
    };
    let mut server = Server::new(limited(|limits| limits.subscribed_resources = 2));
    server.greet(LEGACY);
    assert!(subscribe(&mut server, "a:1"));
    let agreed = server.calls().remove(0).parts.exchange;
    server.connection.complete(agreed, Ok(Success::empty()));
    server.said();
    assert!(subscribe(&mut server, "a:2"));
    let refused = server.calls().remove(0).parts.exchange;
    assert!(!subscribe(&mut server, "a:3"), "what the service has not agreed to counts too");
    server.connection.complete(refused, Err(ErrorObject::internal("no")));
    server.said();
    assert!(subscribe(&mut server, "a:3"), "what the service refused does not count any more");

    let mut server = Server::new(limited(|limits| limits.subscribed_bytes = 10));
    server.greet(LEGACY);
    let fits = ["a:1234", "a:123", "a:12", "a:"].map(|uri| subscribe(&mut server, uri));
    assert_eq!(fits, [true, false, true, false], "10 bytes, not 11");
}

// spec: ELIC-1
#[test]
fn a_question_that_the_revision_lacks_is_not_asked() {
    let mut server = Server::greeted(Revision::V2025_03_26);
    let number = server.call(1).parts.exchange;
    let form = ElicitParams::form("your name?", FormSchema::new());
    let answer = server.ask_for(number, InputRequest::Elicit(form));
    assert_eq!(answer.try_recv().unwrap(), Err(QuestionError::NoBackChannel));
    server.emit(number, Outgoing::ElicitationComplete("e1".to_owned()));
    assert!(server.said().is_empty());
}
