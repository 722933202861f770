//! The messages that clients send and receive.

use serde_json::{Value, json};

use crate::ledger::{Call, Message, Question};
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
        Some("elicitation/create") => question(&value["id"].to_string(), &value["params"], None)
            .unwrap_or_else(|| Message::Other(text.to_owned())),
        Some(_) => Message::Other(text.to_owned()),
        None if value["error"].is_object() => {
            let (code, text) = (&value["error"]["code"], &value["error"]["message"]);
            let text = text.as_str().unwrap_or_default().to_owned();
            Message::Error(number(&value["id"]), code.as_i64().unwrap_or_default(), text)
        }
        None => read_result(number(&value["id"]), &value["result"])
            .unwrap_or_else(|| Message::Other(text.to_owned())),
    }
}

/// A result, or the questions that come instead of it on 2026-07-28. What a tool returns as its own
/// error has the code 0.
fn read_result(id: u64, result: &Value) -> Option<Message> {
    if result["resultType"] == "input_required" {
        let mut questions = result["inputRequests"].as_object()?.iter();
        let (Some((key, asked)), None) = (questions.next(), questions.next()) else { return None };
        let state = result["requestState"].as_str()?.to_owned();
        return question(key, &asked["params"], Some(state));
    }
    let text = result["content"][0]["text"].as_str()?.to_owned();
    Some(match result["isError"] == true {
        true => Message::Error(id, 0, text),
        false => Message::Answer(id, text),
    })
}

/// `question 1 of 7`
fn question(id: &str, params: &Value, state: Option<String>) -> Option<Message> {
    let text = params["message"].as_str()?.strip_prefix("question ")?;
    let (number, nonce) = text.split_once(" of ")?;
    let (number, nonce) = (number.parse().ok()?, nonce.parse().ok()?);
    Some(Message::Question(Question { id: id.to_owned(), nonce, number, state }))
}

/// A request.
pub(super) fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn tool(call: &Call) -> &'static str {
    match (call.touches, call.questions) {
        (Some(_), _) => "touch",
        (None, 0) => "count",
        (None, _) => "ask",
    }
}

fn call_params(call: &Call, pause: u64, meta: &Value) -> Value {
    let arguments = match (call.touches, call.questions) {
        (Some(client), _) => json!({ "nonce": call.nonce, "client": client }),
        (None, 0) => json!({ "nonce": call.nonce, "events": call.wanted, "pause": pause }),
        (None, questions) => json!({ "nonce": call.nonce, "questions": questions }),
    };
    json!({ "name": tool(call), "arguments": arguments, "_meta": meta })
}

fn accepted(value: u64) -> Value {
    json!({ "action": "accept", "content": { "number": value } })
}

/// A call without a session, with the answer to a question if there was one.
pub(super) fn modern_call(
    call: &Call,
    pause: u64,
    answer: Option<(&Question, u64)>,
) -> HttpRequest {
    let mut meta = modern_meta();
    meta["progressToken"] = json!(call.nonce);
    let mut params = call_params(call, pause, &meta);
    if let Some((question, value)) = answer {
        params["inputResponses"] = json!({ &question.id: accepted(value) });
        params["requestState"] = json!(question.state);
    }
    modern("tools/call", tool(call), &request(call.request, "tools/call", &params))
}

/// A request of 2026-07-28. `name` is the member of its params that the headers repeat.
pub(super) fn modern(method: &'static str, name: &str, text: &str) -> HttpRequest {
    HttpRequest::post(text.to_owned())
        .with("MCP-Protocol-Version", MODERN)
        .with("Mcp-Method", method)
        .with("Mcp-Name", name)
}

/// What each request of 2026-07-28 says about its client.
pub(super) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    })
}

/// The handshake of a session.
pub(super) fn initialize() -> HttpRequest {
    let client = json!({ "name": "chaos", "version": "1" });
    let params = json!({ "protocolVersion": LEGACY, "capabilities": { "elicitation": {} }, "clientInfo": client });
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

/// Subscribes to a resource.
pub(super) fn subscribe(session: &str, uri: &str) -> HttpRequest {
    let text = request(1, "resources/subscribe", &json!({ "uri": uri }));
    named(HttpRequest::post(text), session)
}

/// The GET stream, or the rest of it.
pub(super) fn get_stream(session: &str, after: Option<&str>) -> HttpRequest {
    match after {
        Some(after) => resume(session, after),
        None => named(HttpRequest::get(), session),
    }
}

/// Follows a resource without a session.
pub(super) fn listen(id: u64, uri: &str) -> HttpRequest {
    let filter = json!({ "resourceSubscriptions": [uri] });
    let params = json!({ "notifications": filter, "_meta": modern_meta() });
    let text = request(id, "subscriptions/listen", &params);
    HttpRequest::post(text)
        .with("MCP-Protocol-Version", MODERN)
        .with("Mcp-Method", "subscriptions/listen")
}

/// Whether a message acknowledges what [`listen`] asks for.
pub(super) fn is_acknowledgement(text: &str) -> bool {
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    message["method"] == "notifications/subscriptions/acknowledged"
        && message["params"]["notifications"]["resourceSubscriptions"][0].is_string()
}

/// Whether a message is the result of a request.
pub(super) fn is_result(text: &str, id: u64) -> bool {
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    message["id"] == id && message["result"].is_object()
}

/// A call in a session.
pub(super) fn legacy_call(call: &Call, session: &str, pause: u64) -> HttpRequest {
    let params = call_params(call, pause, &json!({ "progressToken": call.nonce }));
    named(HttpRequest::post(request(call.nonce, "tools/call", &params)), session)
}

/// The answer to a question in a session. The id of the question is JSON.
pub(super) fn legacy_answer(session: &str, question: &Question, value: u64) -> HttpRequest {
    let (id, result) = (&question.id, accepted(value));
    let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
    named(HttpRequest::post(text), session)
}

/// The rest of a stream.
pub(super) fn resume(session: &str, after: &str) -> HttpRequest {
    named(HttpRequest::get(), session).with("Last-Event-ID", after)
}

/// A request in a session.
pub(super) fn named(request: HttpRequest, session: &str) -> HttpRequest {
    request.with("Mcp-Session-Id", session).with("MCP-Protocol-Version", LEGACY)
}
