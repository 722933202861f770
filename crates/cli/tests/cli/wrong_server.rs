//! A small server over HTTP that breaks a few rules on purpose.

use serde_json::{Value, json};

use super::http_script::{HttpRequest, HttpScript};

/// Speaks 2025-11-25. Its tool has no input schema (TOOL-13), it answers notifications with 200
/// (HTTP-10), serves requests of every web page (HSEC-1), and does not look at the version in the
/// header (PV-4).
pub(crate) fn start() -> HttpScript {
    HttpScript::start(|request| {
        let (status, body) = answer(request);
        (status, "application/json", body.map_or_else(String::new, |body| body.to_string()))
    })
}

fn answer(request: &HttpRequest) -> (&'static str, Option<Value>) {
    if request.verb != "POST" {
        return ("405 Method Not Allowed", None);
    }
    let Ok(message) = serde_json::from_str::<Value>(&request.body) else {
        return ("400 Bad Request", Some(error(&Value::Null, -32700, "no JSON")));
    };
    let method = message["method"].as_str().unwrap_or_default();
    match (message.get("id"), method) {
        (Some(id), _) if !id.is_string() && !id.is_number() => {
            ("400 Bad Request", Some(error(&Value::Null, -32600, "no request")))
        }
        (None, "") => ("400 Bad Request", Some(error(&Value::Null, -32600, "no request"))),
        (None, _) => ("200 OK", None),
        (Some(_), "") => ("202 Accepted", None),
        (Some(id), _) => ("200 OK", Some(reply(id, method, &message["params"]))),
    }
}

fn reply(id: &Value, method: &str, params: &Value) -> Value {
    let result = match method {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "wrong", "version": "1.0.0"},
        }),
        "ping" => json!({}),
        "tools/list" if params.get("cursor").is_some() => {
            return error(id, -32602, "there is one page");
        }
        "tools/list" => json!({"tools": [{"name": "bare"}]}),
        "tools/call" => return error(id, -32602, "no such tool"),
        _ => return error(id, -32601, "no such method"),
    };
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}
