//! A server over HTTP that declares every kind of list, and whose answers a test may replace.

use serde_json::{Value, json};

use super::http_script::{HttpRequest, HttpScript};

/// A result, or the error that the server answers with.
pub(crate) type Reply = Result<Value, Value>;

/// Starts the server, which speaks 2025-11-25. The function gets the method and the params of each
/// request; `None` stands for the usual answer.
pub(crate) fn start(
    answer: impl Fn(&str, &Value) -> Option<Reply> + Send + Sync + 'static,
) -> HttpScript {
    HttpScript::start(move |request| match reply(request, &answer) {
        _ if request.verb != "POST" => ("405 Method Not Allowed", "text/plain", String::new()),
        Some(reply) => ("200 OK", "application/json", reply.to_string()),
        None => ("202 Accepted", "text/plain", String::new()),
    })
}

fn reply(request: &HttpRequest, answer: &impl Fn(&str, &Value) -> Option<Reply>) -> Option<Value> {
    let message: Value = serde_json::from_str(&request.body).ok()?;
    let (id, method) = (message.get("id")?, message["method"].as_str()?);
    Some(match answer(method, &message["params"]).unwrap_or_else(|| usual(method)) {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(error) => json!({"jsonrpc": "2.0", "id": id, "error": error}),
    })
}

/// One tool, one resource, no template, one prompt.
fn usual(method: &str) -> Reply {
    Ok(match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
            "serverInfo": {"name": "lists", "version": "1.0.0"},
        }),
        "ping" => json!({}),
        "tools/list" => json!({"tools": [{"name": "dig", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({"content": [{"type": "text", "text": "dug"}]}),
        "resources/list" => json!({"resources": [{"uri": "x://a", "name": "a"}]}),
        "resources/read" => json!({"contents": [{"uri": "x://a", "text": "A"}]}),
        "resources/templates/list" => json!({"resourceTemplates": []}),
        "prompts/list" => json!({"prompts": [{"name": "ask"}]}),
        "prompts/get" => json!({"messages": []}),
        _ => return refusal(),
    })
}

/// The same as a server of 2026-07-28 answers.
pub(crate) fn modern(method: &str) -> Reply {
    let mut result = match method {
        "server/discover" => json!({
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        }),
        _ => usual(method)?,
    };
    result["resultType"] = json!("complete");
    Ok(result)
}

fn refusal() -> Reply {
    Err(json!({"code": -32601, "message": "Method not found"}))
}

/// A server that refuses lists whose method begins so.
pub(crate) fn refusing(beginning: &'static str) -> HttpScript {
    start(move |method, _| {
        let is_refused = method.ends_with("/list") && method.starts_with(beginning);
        is_refused.then(refusal)
    })
}
