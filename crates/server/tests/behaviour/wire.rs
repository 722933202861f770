//! A client of a served server: writes and reads lines of JSON.

use std::collections::VecDeque;

use bowline_proto::codec::Received;
use bowline_proto::limits::Limits;
use bowline_proto::request::ExchangeId;
use bowline_proto::transmit::{Role, Route, Transmit};
use bowline_server::{ServeError, Server};
use bowline_transport::duplex::{Duplex, duplex};
use bowline_transport::transport::{Reader, Transport, Writer};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// A client that speaks lines of JSON.
pub(crate) struct Wire {
    reader: <Duplex as Transport>::Reader,
    writer: <Duplex as Transport>::Writer,
    serving: JoinHandle<Result<(), ServeError>>,
}

impl Wire {
    pub(crate) fn to(server: &Server) -> Self {
        let (ours, theirs) = duplex();
        let serving = tokio::spawn(server.serve(theirs));
        let (reader, writer) = ours.split(&Limits::default());
        Self { reader, writer, serving }
    }

    /// Goes away, and waits until the server is done with this client.
    pub(crate) async fn hang_up(self) {
        drop((self.reader, self.writer));
        self.serving.await.unwrap().unwrap();
    }

    pub(crate) async fn send(&mut self, message: Value) {
        let frame = message.to_string().into();
        let route = Route::Exchange(ExchangeId(0));
        let mut queue = VecDeque::from([Transmit { route, role: Role::Ends, frame, mirror: None }]);
        self.writer.write(&mut queue).await.unwrap();
    }

    pub(crate) async fn hear(&mut self) -> Value {
        match self.reader.read().await.unwrap().unwrap() {
            Received::Message(text) => serde_json::from_slice(&text).unwrap(),
            other => panic!("{other:?}"),
        }
    }

    pub(crate) async fn ask(&mut self, message: Value) -> Value {
        self.send(message).await;
        self.hear().await
    }

    pub(crate) async fn initialize(&mut self, capabilities: Value) -> Value {
        self.initialize_in("2025-06-18", capabilities).await
    }

    /// Shakes hands in a revision.
    pub(crate) async fn initialize_in(&mut self, revision: &str, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": revision,
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.ask(request(1, "initialize", &params)).await;
        self.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        answer
    }
}

pub(crate) fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(crate) fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    request(id, method, &params)
}

/// A call of a tool without arguments.
pub(crate) fn call(id: u64, name: &str) -> Value {
    request(id, "tools/call", &json!({ "name": name }))
}

/// An answer to a question of the server's.
pub(crate) fn answer(question: &Value, result: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })
}
