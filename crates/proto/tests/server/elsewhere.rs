//! Sessions that continue on another connection, in every revision that has a handshake.

use bowline_proto::request::{
    EveryResource, Outgoing, OutgoingQuestion, Reply, ReportedChange, Request, Success,
};
use bowline_proto::server::SessionSnapshot;
use bowline_proto::transmit::Route;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::input::InputRequest;
use bowline_types::json::RawJson;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::json;

use crate::Server;

const REVISIONS: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

impl Server {
    /// Subscribes to a resource, and the service accepts.
    fn follow(&mut self, uri: &str) {
        let params = json!({ "uri": uri });
        self.hear(json!({ "id": 1, "method": "resources/subscribe", "params": params }));
        let number = self.calls()[0].parts.exchange;
        self.connection.complete(number, Ok(Success::empty()));
        self.said();
    }

    fn set_level(&mut self, level: &str) {
        let params = json!({ "level": level });
        self.hear(json!({ "id": 2, "method": "logging/setLevel", "params": params }));
        self.said();
    }

    /// The same session on another connection, restored from the text in its store.
    fn elsewhere(&self) -> Self {
        let text = serde_json::to_string(&self.connection.snapshot().unwrap()).unwrap();
        let snapshot: SessionSnapshot = serde_json::from_str(&text).unwrap();
        let mut other = Self::default();
        other.connection.restore(snapshot, 1 << 32);
        assert_eq!(other.connection.snapshot(), self.connection.snapshot());
        other
    }

    /// Whether a log message of this level is sent.
    fn tells(&mut self, level: LoggingLevel) -> bool {
        let number = self.call(3).parts.exchange;
        let message = LogMessageParams::new(level, RawJson::empty_object());
        self.emit(number, Outgoing::Log(message));
        !self.said().is_empty()
    }
}

fn is_standing(request: &Request) -> bool {
    request.parts.method == Method::SubscriptionsListen
        && request.parts.extensions.get::<EveryResource>().is_some()
}

#[test]
fn the_result_of_the_handshake_is_known_on_another_connection() {
    for revision in REVISIONS {
        let mut there = Server::greeted(revision).elsewhere();
        assert_eq!(there.connection.revision(), Some(revision));
        let parts = there.call(3).parts;
        assert_eq!(parts.revision, revision);
        assert_eq!(parts.client.info.as_ref().unwrap().name, "client");
        assert!(parts.client.capabilities.supports_roots(), "{revision}");
    }
}

#[test]
fn settings_of_the_client_are_known_on_another_connection() {
    for revision in REVISIONS {
        let mut here = Server::greeted(revision);
        here.initialized();
        let standing = here.calls();
        assert!(matches!(&standing[..], [one] if is_standing(one)), "{revision}");
        here.follow("note://a");
        here.set_level("error");
        let mut there = here.elsewhere();
        let standing = there.calls();
        assert!(matches!(&standing[..], [one] if is_standing(one)), "{revision}");
        let standing = standing[0].parts.exchange;
        for (uri, is_reported) in [("note://a", true), ("note://b", false)] {
            let change = ReportedChange::Resource(uri.to_owned());
            there.emit(standing, Outgoing::Change(change));
            assert_eq!(!there.said().is_empty(), is_reported, "{revision}: {uri}");
        }
        assert!(!there.tells(LoggingLevel::Warning), "{revision}");
        assert!(there.tells(LoggingLevel::Error), "{revision}");
    }
}

#[test]
fn a_session_can_be_opened_on_another_connection() {
    for revision in REVISIONS {
        let mut there = Server::greeted(revision).elsewhere();
        assert!(there.calls().is_empty());
        there.initialized();
        assert_eq!(there.calls().iter().filter(|call| is_standing(call)).count(), 1);
    }
}

#[test]
fn later_settings_from_another_connection_are_adopted_and_calls_continue() {
    for revision in REVISIONS {
        let mut here = Server::greeted(revision);
        let mut there = here.elsewhere();
        let running = there.call(3).parts.exchange;
        here.follow("note://a");
        here.set_level("debug");
        here.initialized();
        for _ in 0..2 {
            there.connection.adopt(here.connection.snapshot().unwrap());
        }
        assert_eq!(there.connection.snapshot(), here.connection.snapshot());
        assert_eq!(there.calls().len(), 1, "the subscription is made once");
        there.connection.complete(running, Ok(Success::empty()));
        assert_eq!(there.said()[0]["id"], 3);
    }
}

#[test]
fn a_session_is_opened_by_its_client_alone_and_once() {
    let mut here = Server::greeted(Revision::V2025_11_25);
    let closed = here.connection.snapshot().unwrap();
    let mut there = here.elsewhere();
    there.connection.adopt(closed);
    assert!(there.calls().is_empty() && !there.connection.snapshot().unwrap().is_initialized);
    here.initialized();
    let open = here.connection.snapshot().unwrap();
    there.connection.adopt(open.clone());
    let standing = there.calls().remove(0).parts.exchange;
    // A service that reports no changes ends the subscription at once.
    there.connection.complete(standing, Ok(Success::empty()));
    there.connection.adopt(open);
    assert!(there.calls().is_empty());
}

#[test]
fn a_change_in_a_session_belongs_to_no_call() {
    let mut server = Server::greeted(Revision::V2025_11_25);
    server.initialized();
    let standing = server.calls().remove(0).parts.exchange;
    server.emit(standing, Outgoing::Change(ReportedChange::Tools));
    assert_eq!(server.transmits()[0].route, Route::Standalone);
}

// spec: RPC-4
#[test]
fn two_connections_of_a_session_ask_under_different_ids() {
    let ask = |server: &mut Server| {
        let number = server.call(3).parts.exchange;
        let request = InputRequest::ListRoots;
        let question = OutgoingQuestion { request, reply: Reply::new(|_| ()), task: None };
        server.emit(number, Outgoing::Ask(question));
        server.said()[0]["id"].as_i64().unwrap()
    };
    let mut here = Server::greeted(Revision::V2025_11_25);
    let mut there = here.elsewhere();
    assert_eq!((ask(&mut here), ask(&mut there)), (1, (1 << 32) + 1));
}
