//! Sessions that go on elsewhere: what is taken along, in every revision that has a handshake.

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bowline_proto::codec::lines::Unit;
use bowline_proto::request::{
    EveryResource, ExchangeId, Outgoing, Owner, Question, Reply, Request, Sink, Success,
};
use bowline_proto::server::{Event, ServerConfig, ServerConnection, Snapshot};
use bowline_types::capability::ServerCapabilities;
use bowline_types::deprecated::logging::{LogMessageParams, LoggingLevel};
use bowline_types::discover::DiscoverResult;
use bowline_types::implementation::Implementation;
use bowline_types::input::InputRequest;
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

const REVISIONS: [Revision; 4] =
    [Revision::V2024_11_05, Revision::V2025_03_26, Revision::V2025_06_18, Revision::V2025_11_25];

/// Nobody says anything through it: what handlers say is handed in by the tests.
struct Deaf;

impl Sink for Deaf {
    fn poll_ready(&self, _: ExchangeId, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn emit(&self, _: ExchangeId, _: Outgoing) -> Result<(), Outgoing> {
        Ok(())
    }
}

struct Server(ServerConnection);

impl Server {
    fn new() -> Self {
        let config = ServerConfig::new(Implementation::new("test", "1"));
        Self(ServerConnection::new(Arc::new(config), Owner::anonymous(), Arc::new(Deaf)))
    }

    /// A server that a client has shaken hands with.
    fn greeted(revision: Revision) -> Self {
        let mut server = Self::new();
        let client = json!({ "name": "client", "version": "7" });
        let params = json!({
            "protocolVersion": revision.to_string(),
            "capabilities": { "roots": { "listChanged": true }, "sampling": {} },
            "clientInfo": client,
        });
        server.hear(json!({ "id": 0, "method": "initialize", "params": params }));
        let number = server.calls()[0].parts.exchange;
        let capabilities = ServerCapabilities::new()
            .with_logging()
            .with_tools_list_changed()
            .with_resources_subscribe();
        let discovered = DiscoverResult::new([revision], capabilities);
        server.0.complete(number, Success::complete(discovered, revision));
        server.said();
        server
    }

    fn hear(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.0.receive(Unit::Text(message.to_string().into()), now());
    }

    fn calls(&mut self) -> Vec<Request> {
        let events = std::iter::from_fn(|| self.0.poll_event());
        events
            .filter_map(|event| match event {
                Event::Call(request) => Some(*request),
                Event::Cancelled(_) => None,
            })
            .collect()
    }

    fn said(&mut self) -> Vec<Value> {
        let frames = std::iter::from_fn(|| self.0.poll_transmit());
        frames.map(|it| serde_json::from_slice(&it.frame).unwrap()).collect()
    }

    /// Follows a resource, to which the service agrees.
    fn follow(&mut self, uri: &str) {
        let params = json!({ "uri": uri });
        self.hear(json!({ "id": 1, "method": "resources/subscribe", "params": params }));
        let number = self.calls()[0].parts.exchange;
        self.0.complete(number, Ok(Success::empty()));
        self.said();
    }

    fn set_level(&mut self, level: &str) {
        let params = json!({ "level": level });
        self.hear(json!({ "id": 2, "method": "logging/setLevel", "params": params }));
        self.said();
    }

    fn initialized(&mut self) {
        self.hear(json!({ "method": "notifications/initialized" }));
    }

    /// The same session on another connection, which its store has only seen as text.
    fn elsewhere(&self) -> Self {
        let text = serde_json::to_string(&self.0.snapshot().unwrap()).unwrap();
        let snapshot: Snapshot = serde_json::from_str(&text).unwrap();
        let mut other = Self::new();
        other.0.restore(snapshot, 1 << 32);
        assert_eq!(other.0.snapshot(), self.0.snapshot());
        other
    }

    /// A call of a tool, as the service sees it.
    fn call(&mut self) -> Request {
        let params = json!({ "name": "tool", "arguments": {} });
        self.hear(json!({ "id": 3, "method": "tools/call", "params": params }));
        self.calls().remove(0)
    }

    /// Whether a log message of a level is told.
    fn tells(&mut self, level: LoggingLevel) -> bool {
        let number = self.call().parts.exchange;
        let message = LogMessageParams::new(level, bowline_types::json::Json::empty_object());
        self.0.emit(number, Outgoing::Log(message), now());
        !self.said().is_empty()
    }
}

#[allow(clippy::disallowed_methods, reason = "a test needs some instant to count from")]
fn now() -> Instant {
    Instant::now()
}

fn is_standing(request: &Request) -> bool {
    request.parts.method == Method::SubscriptionsListen
        && request.parts.extensions.get::<EveryResource>().is_some()
}

#[test]
fn what_the_handshake_fixed_is_known_elsewhere() {
    for revision in REVISIONS {
        let mut there = Server::greeted(revision).elsewhere();
        assert_eq!(there.0.revision(), Some(revision));
        let parts = there.call().parts;
        assert_eq!(parts.revision, revision);
        assert_eq!(parts.client.info.as_ref().unwrap().name, "client");
        assert!(parts.client.capabilities.supports_roots(), "{revision}");
    }
}

#[test]
fn what_the_client_set_is_known_elsewhere() {
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
        for (uri, is_told) in [("note://a", true), ("note://b", false)] {
            let change = bowline_proto::request::Change::Resource(uri.to_owned());
            there.0.emit(standing, Outgoing::Change(change), now());
            assert_eq!(!there.said().is_empty(), is_told, "{revision}: {uri}");
        }
        assert!(!there.tells(LoggingLevel::Warning), "{revision}");
        assert!(there.tells(LoggingLevel::Error), "{revision}");
    }
}

#[test]
fn a_session_that_is_not_open_yet_is_opened_elsewhere() {
    for revision in REVISIONS {
        let mut there = Server::greeted(revision).elsewhere();
        assert!(there.calls().is_empty());
        there.initialized();
        assert_eq!(there.calls().iter().filter(|call| is_standing(call)).count(), 1);
    }
}

#[test]
fn what_is_set_elsewhere_later_is_taken_over_and_calls_run_on() {
    for revision in REVISIONS {
        let mut here = Server::greeted(revision);
        let mut there = here.elsewhere();
        let running = there.call().parts.exchange;
        here.follow("note://a");
        here.set_level("debug");
        here.initialized();
        for _ in 0..2 {
            there.0.adopt(here.0.snapshot().unwrap());
        }
        assert_eq!(there.0.snapshot(), here.0.snapshot());
        assert_eq!(there.calls().len(), 1, "the subscription is made once");
        there.0.complete(running, Ok(Success::empty()));
        assert_eq!(there.said()[0]["id"], 3);
    }
}

// spec: RPC-4
#[test]
fn two_connections_of_a_session_ask_under_different_ids() {
    let ask = |server: &mut Server| {
        let number = server.call().parts.exchange;
        let request = InputRequest::ListRoots;
        let question = Question { request, reply: Reply::new(|_| ()) };
        server.0.emit(number, Outgoing::Ask(question), now());
        server.said()[0]["id"].as_i64().unwrap()
    };
    let mut here = Server::greeted(Revision::V2025_11_25);
    let mut there = here.elsewhere();
    assert_eq!((ask(&mut here), ask(&mut there)), (1, (1 << 32) + 1));
}
