//! The server connection without I/O, where transcripts cannot express it. All in virtual time.

mod calls;
mod capabilities;
mod closing;
mod elsewhere;
mod era;
mod extensions;
mod questions;
mod tasks;

use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use bowline_proto::codec::Received;
use bowline_proto::limits::Limits;
use bowline_proto::request::{ExchangeId, Outgoing, Owner, Request, Sink, Success};
use bowline_proto::server::{ServerConfig, ServerConnection, ServerEvent};
use bowline_proto::transmit::Transmit;
use bowline_types::capability::ServerCapabilities;
use bowline_types::discover::DiscoverResult;
use bowline_types::implementation::Implementation;
use bowline_types::json::RawJson;
use bowline_types::meta::Meta;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

const LEGACY: Revision = Revision::V2025_11_25;

fn config() -> ServerConfig {
    ServerConfig::new(Implementation::new("test", "1"))
}

fn limited(set: impl FnOnce(&mut Limits)) -> ServerConfig {
    let mut limits = Limits::default();
    set(&mut limits);
    config().with_limits(limits)
}

/// A sink that takes nothing: tests pass messages of handlers to `emit` themselves.
struct IgnoringSink;

impl Sink for IgnoringSink {
    fn poll_ready(&self, _: ExchangeId, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }

    fn emit(&self, _: ExchangeId, _: Outgoing) -> Result<(), Outgoing> {
        Ok(())
    }
}

/// A server, and the time.
struct Server {
    connection: ServerConnection,
    now: Instant,
}

impl Default for Server {
    fn default() -> Self {
        Self::new(config())
    }
}

impl Server {
    #[allow(clippy::disallowed_methods, reason = "a test needs some instant to count from")]
    fn new(config: ServerConfig) -> Self {
        let owner = Owner::anonymous();
        let connection = ServerConnection::new(Arc::new(config), owner, Arc::new(IgnoringSink));
        Self { connection, now: Instant::now() }
    }

    /// A server after the handshake of a client.
    fn greeted(revision: Revision) -> Self {
        let mut server = Self::default();
        server.greet(revision);
        server
    }

    /// Does the handshake of a client. Gives the answer.
    fn greet(&mut self, revision: Revision) -> Value {
        let capabilities = ServerCapabilities::new()
            .with_logging()
            .with_tools_list_changed()
            .with_resources_subscribe();
        self.greet_as(revision, capabilities)
    }

    /// The same, with a service of these capabilities.
    fn greet_as(&mut self, revision: Revision, capabilities: ServerCapabilities) -> Value {
        let client = json!({ "name": "client", "version": "7" });
        let params = json!({
            "protocolVersion": revision.to_string(),
            "capabilities": {
                "roots": { "listChanged": true }, "sampling": {}, "elicitation": { "url": {} },
            },
            "clientInfo": client,
        });
        self.hear(json!({ "id": 0, "method": "initialize", "params": params }));
        let number = self.calls()[0].parts.exchange;
        let discovered = DiscoverResult::new([revision], capabilities);
        let body = RawJson::from_value(&discovered).unwrap();
        self.connection.complete(number, Ok(Success::raw(body, Meta::new())));
        self.said().remove(0)
    }

    fn initialized(&mut self) {
        self.hear(json!({ "method": "notifications/initialized" }));
    }

    fn hear(&mut self, mut message: Value) {
        message["jsonrpc"] = "2.0".into();
        self.hear_text(&message.to_string());
    }

    fn hear_text(&mut self, text: &str) {
        self.connection.receive(Received::Message(text.to_owned().into()), self.now);
    }

    /// A call of a tool in a session.
    fn ask_for_tool(&mut self, id: i64) {
        let params = json!({ "name": "tool", "arguments": {} });
        self.hear(json!({ "id": id, "method": "tools/call", "params": params }));
    }

    /// The same, as the service sees it.
    fn call(&mut self, id: i64) -> Request {
        self.ask_for_tool(id);
        self.calls().remove(0)
    }

    /// The calls that the driver has to start.
    fn calls(&mut self) -> Vec<Request> {
        let events = self.events().into_iter();
        let calls = events.filter_map(|event| match event {
            ServerEvent::Call(request) => Some(*request),
            ServerEvent::Cancelled(_) => None,
        });
        calls.collect()
    }

    fn events(&mut self) -> Vec<ServerEvent> {
        std::iter::from_fn(|| self.connection.poll_event()).collect()
    }

    fn emit(&mut self, number: ExchangeId, outgoing: Outgoing) {
        self.connection.emit(number, outgoing, self.now);
    }

    fn transmits(&mut self) -> Vec<Transmit> {
        std::iter::from_fn(|| self.connection.poll_transmit()).collect()
    }

    fn said(&mut self) -> Vec<Value> {
        let frames = self.transmits().into_iter();
        frames.map(|it| serde_json::from_slice(&it.frame).unwrap()).collect()
    }
}

/// Params of a request of 2026-07-28.
fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "client", "version": "7" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}
