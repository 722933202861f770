//! The client connection without I/O, where transcripts cannot express it. All in virtual time.

mod authorized;
mod calls;
mod contact;
mod following;
mod lost;
mod relayed;
mod restarted;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bowline_proto::client::{
    AskId, CallError, CallRequest, ClientConfig, ClientConnection, ClientEvent, NegotiationError,
    Report,
};
use bowline_proto::codec::Received;
use bowline_proto::limits::Limits;
use bowline_proto::request::ExchangeId;
use bowline_proto::transmit::{FailureKind, SendFailure};
use bowline_types::capability::ClientCapabilities;
use bowline_types::implementation::Implementation;
use bowline_types::json::{Object, RawJson};
use bowline_types::method::Method;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

const LEGACY: Revision = Revision::V2025_06_18;

fn config() -> ClientConfig {
    let capabilities = ClientCapabilities::new().with_roots_list_changed();
    ClientConfig::new(Implementation::new("test", "1"), capabilities)
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn limits(set: impl FnOnce(&mut Limits)) -> Limits {
    let mut limits = Limits::default();
    set(&mut limits);
    limits
}

/// A client, and the time.
struct Client {
    connection: ClientConnection,
    now: Instant,
}

impl Client {
    #[allow(clippy::disallowed_methods, reason = "a test needs some instant to count from")]
    fn new(config: ClientConfig) -> Self {
        let mut connection = ClientConnection::new(Arc::new(config));
        let now = Instant::now();
        connection.begin(now);
        Self { connection, now }
    }

    /// A client that has agreed with its server on a revision.
    fn agreed(revision: Revision, limits: Limits) -> Self {
        let mut client = Self::new(config().with_revisions([revision]).with_limits(limits));
        client.agree(revision);
        assert!(matches!(client.events()[..], [ClientEvent::Ready(_)]));
        client.said();
        client
    }

    /// Answers the probe or the handshake that the client sent last.
    fn agree(&mut self, revision: Revision) {
        let tools = json!({ "listChanged": true });
        let capabilities = json!({ "tools": tools, "resources": { "subscribe": true } });
        self.agree_on(revision, &capabilities);
    }

    /// The same, with a server of these capabilities.
    fn agree_on(&mut self, revision: Revision, capabilities: &Value) {
        let id = self.said().pop().unwrap()["id"].clone();
        let result = match revision.is_modern() {
            true => json!({
                "resultType": "complete", "supportedVersions": [revision.to_string()],
                "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private",
            }),
            false => json!({
                "protocolVersion": revision.to_string(), "capabilities": capabilities,
                "serverInfo": { "name": "s", "version": "1" },
            }),
        };
        self.hear(json!({ "id": id, "result": result }));
    }

    /// Refuses the version of the probe that the client sent last, and offers another, or the same.
    fn refuse_version(&mut self, offered: Revision) {
        let id = self.said().pop().unwrap()["id"].clone();
        let data = json!({ "supported": [offered.to_string()], "requested": "?" });
        let error = json!({ "code": -32022, "message": "no", "data": data });
        self.hear(json!({ "id": id, "error": error }));
    }

    fn hear(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.hear_text(&message.to_string());
    }

    fn hear_text(&mut self, text: &str) {
        self.connection.receive(Received::Message(text.to_owned().into()), self.now);
    }

    /// Makes a call; gives its id on the wire.
    fn call(&mut self, exchange: u64) -> i64 {
        self.request(exchange, Method::ToolsCall, &json!({ "name": "a" }));
        self.said().pop().unwrap()["id"].as_i64().unwrap()
    }

    fn listen(&mut self, exchange: u64) {
        let filter = json!({ "notifications": { "toolsListChanged": true } });
        self.request(exchange, Method::SubscriptionsListen, &filter);
    }

    fn request(&mut self, exchange: u64, method: Method, params: &Value) {
        let params = Object::new(RawJson::from_value(params).unwrap()).unwrap();
        self.connection.call(ExchangeId(exchange), CallRequest::new(method, params), self.now);
    }

    fn fail(&mut self, id: i64, kind: FailureKind) {
        let failure = SendFailure { id: Some(id), kind, error: None, reason: "no".to_owned() };
        self.connection.receive(Report::Failed(Box::new(failure)), self.now);
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        self.connection.handle_timeout(self.now);
    }

    fn said(&mut self) -> Vec<Value> {
        let frames = std::iter::from_fn(|| self.connection.poll_transmit());
        frames.map(|it| serde_json::from_slice(&it.frame).unwrap()).collect()
    }

    fn methods(&mut self) -> Vec<String> {
        let said = self.said().into_iter();
        said.map(|message| message["method"].as_str().unwrap_or("answer").to_owned()).collect()
    }

    fn events(&mut self) -> Vec<ClientEvent> {
        std::iter::from_fn(|| self.connection.poll_event()).collect()
    }

    /// Expects that the negotiation has failed with this error, and nothing else happened.
    #[track_caller]
    fn has_failed(&mut self, expected: &NegotiationError) {
        let events = self.events();
        let [ClientEvent::Failed(error)] = &events[..] else { panic!("{events:?}") };
        assert_eq!(error, expected);
    }

    /// The calls that timed out.
    fn timed_out(&mut self) -> Vec<u64> {
        let ended = self.events().into_iter().filter_map(|event| match event {
            ClientEvent::Answered(exchange, Err(CallError::TimedOut(_))) => Some(exchange.0),
            _ => None,
        });
        ended.collect()
    }

    /// The question that the server has just asked.
    fn asked(&mut self) -> AskId {
        let asked = self.events().into_iter().find_map(|event| match event {
            ClientEvent::Ask(ask, ..) => Some(ask),
            _ => None,
        });
        asked.unwrap()
    }
}
