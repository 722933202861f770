//! The messages that clients send and receive.

use serde_json::{Value, json};

use crate::ledger::{Call, Message};
use crate::wire::HttpRequest;

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// Reads a message of the server.
pub(super) fn read(text: &str) -> Message {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return Message::Other(text.to_owned());
    };
    let number = |value: &Value| value.as_u64().unwrap_or_default();
    match value["method"].as_str() {
        Some("notifications/progress") => {
            let params = &value["params"];
            let done = params["progress"].as_f64().unwrap_or_default();
            Message::Event(number(&params["progressToken"]), done as u32)
        }
        Some("notifications/message") => Message::Log,
        Some(_) => Message::Other(text.to_owned()),
        None if value["error"].is_object() => {
            let (code, text) = (&value["error"]["code"], &value["error"]["message"]);
            let text = text.as_str().unwrap_or_default().to_owned();
            Message::Error(number(&value["id"]), code.as_i64().unwrap_or_default(), text)
        }
        None => match value["result"]["content"][0]["text"].as_str() {
            Some(answer) => Message::Answer(number(&value["id"]), answer.to_owned()),
            None => Message::Other(text.to_owned()),
        },
    }
}

fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn call_params(call: &Call, pause: u64, meta: &Value) -> Value {
    let arguments = json!({ "nonce": call.nonce, "events": call.wanted, "pause": pause });
    json!({ "name": "count", "arguments": arguments, "_meta": meta })
}

/// A call without a session.
pub(super) fn modern_call(call: &Call, pause: u64) -> HttpRequest {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "progressToken": call.nonce,
    });
    HttpRequest::post(request(call.nonce, "tools/call", &call_params(call, pause, &meta)))
        .with("MCP-Protocol-Version", MODERN)
        .with("Mcp-Method", "tools/call")
        .with("Mcp-Name", "count")
}

/// The handshake of a session.
pub(super) fn initialize() -> HttpRequest {
    let client = json!({ "name": "chaos", "version": "1" });
    let params = json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client });
    HttpRequest::post(request(0, "initialize", &params))
}

/// The end of the handshake.
pub(super) fn initialized(session: &str) -> HttpRequest {
    let text = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    named(HttpRequest::post(text.to_owned()), session)
}

/// Sets the level of log messages.
pub(super) fn set_level(session: &str, level: &str) -> HttpRequest {
    let text = request(1, "logging/setLevel", &json!({ "level": level }));
    named(HttpRequest::post(text), session)
}

/// A call in a session.
pub(super) fn legacy_call(call: &Call, session: &str, pause: u64) -> HttpRequest {
    let params = call_params(call, pause, &json!({ "progressToken": call.nonce }));
    named(HttpRequest::post(request(call.nonce, "tools/call", &params)), session)
}

/// The rest of a stream.
pub(super) fn resume(session: &str, after: &str) -> HttpRequest {
    named(HttpRequest::get(), session).with("Last-Event-ID", after)
}

fn named(request: HttpRequest, session: &str) -> HttpRequest {
    request.with("Mcp-Session-Id", session).with("MCP-Protocol-Version", LEGACY)
}
