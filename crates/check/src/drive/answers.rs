//! What the check answers to questions of the server.

use serde_json::{Value, json};

/// The answer of a careful client: it has no roots, its user declines, and its model is off.
pub(super) fn answer_to(message: &Value) -> Option<Value> {
    let id = message.get("id").filter(|_| is_request(message))?;
    let result = match message["method"].as_str()? {
        "ping" => json!({}),
        "roots/list" => json!({"roots": []}),
        "elicitation/create" => json!({"action": "decline"}),
        _ => {
            let error = json!({"code": -32601, "message": "the check does not do this"});
            return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn is_request(message: &Value) -> bool {
    message.get("method").is_some() && message.get("id").is_some()
}
