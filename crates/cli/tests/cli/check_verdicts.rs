//! What `bowline check` sends to servers, what it blames them for, and with which evidence.

use std::fs;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::http_script::{HttpRequest, HttpScript};
use super::{run, wrong_server};

/// A server of 2025-11-25 over HTTP with these capabilities and tools. The function answers calls.
fn server(
    capabilities: Value,
    tools: Value,
    call: impl Fn(&Value) -> Value + Send + Sync + 'static,
) -> HttpScript {
    HttpScript::start(move |request| {
        let message: Value = serde_json::from_str(&request.body).unwrap_or_default();
        let (id, method) = (&message["id"], message["method"].as_str().unwrap_or_default());
        let is_foreign = request.headers.iter().any(|it| it.contains("evil.example"));
        let is_strange = request.headers.iter().any(|it| it.contains("1999-01-01"));
        let outcome = match method {
            _ if is_foreign => return ("403 Forbidden", "text/plain", String::new()),
            _ if is_strange => return ("400 Bad Request", "text/plain", String::new()),
            _ if request.verb != "POST" => return ("405 Method Not Allowed", "", String::new()),
            "" => return ("400 Bad Request", "text/plain", String::new()),
            _ if id.is_null() => return ("202 Accepted", "", String::new()),
            "initialize" => json!({"result": {
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "serverInfo": {"name": "script", "version": "1"},
            }}),
            "ping" => json!({"result": {}}),
            "tools/list" if message.pointer("/params/cursor").is_none() => {
                json!({"result": {"tools": tools}})
            }
            "tools/call"
                if !message["params"]["name"].as_str().unwrap_or("?").contains(['?', '-']) =>
            {
                call(&message["params"])
            }
            "tools/list" | "tools/call" => json!({"error": {"code": -32602, "message": "no"}}),
            _ => json!({"error": {"code": -32601, "message": "Method not found"}}),
        };
        let mut answer = json!({"jsonrpc": "2.0", "id": id});
        answer.as_object_mut().unwrap().extend(outcome.as_object().unwrap().clone());
        ("200 OK", "application/json", answer.to_string())
    })
}

fn done() -> Value {
    json!({"result": {"content": [{"type": "text", "text": "done"}]}})
}

/// The JSON report of a check of 2025-11-25.
fn report(url: &str, code: i32) -> Value {
    let checked = run(&["check", "--timeout", "2", "--revision", "2025-11-25", "--json", url]);
    assert_eq!(checked.code, Some(code), "{checked:?}");
    serde_json::from_str(&checked.stdout).unwrap()
}

fn finding<'a>(report: &'a Value, rule: &str) -> Option<&'a Value> {
    report["findings"].as_array().unwrap().iter().find(|it| it["rule"] == rule)
}

/// Clients must not write anything else (STDIO-5).
#[cfg(unix)]
#[test]
fn every_line_that_the_check_writes_to_a_process_is_a_message() {
    let folder = tempfile::tempdir().unwrap();
    let written = folder.path().join("written");
    let recorded = r#"tee -a "$1" | "$0" demo --stdio"#;
    let target = ["check", "--", "sh", "-c", recorded, env!("CARGO_BIN_EXE_bowline")];
    let checked = run(&[&target[..], &[written.to_str().unwrap()]].concat());
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let written = fs::read_to_string(written).unwrap();
    assert!(written.lines().count() > 100, "{written}");
    for line in written.lines() {
        let message: Value = serde_json::from_str(line).expect(line);
        let items = message.as_array().cloned().unwrap_or_else(|| vec![message]);
        for item in items {
            let is_answer = item.get("result").is_some() || item.get("error").is_some();
            assert!(
                item["jsonrpc"] == "2.0" && (item["method"].is_string() || is_answer),
                "{line}"
            );
        }
    }
}

#[test]
fn a_tool_that_takes_longer_than_the_check_waits_breaks_no_rule() {
    let tools = json!([{"name": "slow", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}]);
    let server = server(json!({"tools": {}}), tools, |_| {
        loop {
            std::thread::park();
        }
    });
    let options = ["check", "--timeout", "1", "--revision", "2025-11-25"];
    let checked = run(&[&options[..], &[&server.url]].concat());
    assert_eq!(checked.code, Some(0), "{checked:?}");
    let note = "not judged, because no answer came in time: `tools/call` of `slow` in 2025-11-25\n";
    assert!(checked.stdout.contains(note), "{checked:?}");
    let report = report(&server.url, 0);
    assert_eq!(report["findings"], json!([]), "{report:#}");
    // One call was enough: it is not called again.
    assert_eq!(report["late"].as_array().unwrap().len(), 1, "{report:#}");
}

#[test]
fn tools_are_called_with_arguments_that_fit_or_not_at_all() {
    let list = json!({"type": "array", "minItems": 2, "items": {"type": "string", "minLength": 3}});
    let picky = json!({"type": "object", "required": ["list"], "properties": {"list": list}});
    let never = json!({"type": "object", "required": ["x"], "properties": {"x": {"pattern": "^no such text$"}}});
    let hint = json!({"readOnlyHint": true});
    let tools = json!([
        {"name": "picky", "inputSchema": picky, "annotations": hint},
        {"name": "never", "inputSchema": never, "annotations": hint},
    ]);
    let called: Arc<Mutex<Vec<Value>>> = Arc::default();
    let noted = called.clone();
    let server = server(json!({"tools": {}}), tools, move |params| {
        noted.lock().unwrap().push(json!([params["name"], params["arguments"]]));
        done()
    });
    let report = report(&server.url, 0);
    assert_eq!(report["uncalled"], json!(["never"]), "{report:#}");
    let called = called.lock().unwrap();
    assert!(!called.is_empty());
    for call in called.iter() {
        assert_eq!(*call, json!(["picky", {"list": ["aa-1", "aa-1"]}]));
    }
}

#[test]
fn a_call_that_only_fails_with_a_task_and_a_list_that_is_declared_and_missing_are_found() {
    let tools = json!([{"name": "a", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}]);
    let server = server(json!({"tools": {}, "resources": {}}), tools, |params| {
        match params.get("task") {
            Some(_) => {
                json!({"error": {"code": -32603, "message": "Server does not support task creation"}})
            }
            None => done(),
        }
    });
    let report = report(&server.url, 6);
    let task = finding(&report, "TASK-15").unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!(task["verdict"], "violated");
    assert_eq!(task["occurrences"][0]["request"]["params"]["task"]["ttl"], 60_000, "{task:#}");
    let list = finding(&report, "CAP-7").unwrap_or_else(|| panic!("{report:#}"));
    assert_eq!((&list["verdict"], &list["inferred"]), (&json!("warning"), &json!(true)));
}

/// A server of both eras tells them apart by these.
#[test]
fn notifications_of_the_stateless_era_carry_its_headers() {
    let posted = Arc::new(Mutex::new(Vec::<(Vec<String>, Value)>::new()));
    let noted = posted.clone();
    let server = HttpScript::start(move |HttpRequest { headers, body, .. }| {
        let message: Value = serde_json::from_str(body).unwrap_or_default();
        noted.lock().unwrap().push((headers.clone(), message.clone()));
        let info =
            json!({"io.modelcontextprotocol/serverInfo": {"name": "script", "version": "1"}});
        let result = json!({
            "supportedVersions": ["2026-07-28"], "capabilities": {}, "resultType": "complete",
            "ttlMs": 0, "cacheScope": "private", "_meta": info,
        });
        let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        match message["method"].as_str() {
            Some("server/discover") => ("200 OK", "application/json", answer.to_string()),
            _ => ("404 Not Found", "text/plain", String::new()),
        }
    });
    run(&["check", "--timeout", "2", "--revision", "2026-07-28", "--json", &server.url]);
    let posted = posted.lock().unwrap();
    let is_notification =
        |message: &Value| message["method"].is_string() && message.get("id").is_none();
    let mut notifications =
        posted.iter().filter(|(_, message)| is_notification(message)).peekable();
    assert!(notifications.peek().is_some(), "{posted:?}");
    for (headers, message) in notifications {
        let method = format!("mcp-method: {}", message["method"].as_str().unwrap());
        for header in ["mcp-protocol-version: 2026-07-28", &method] {
            assert!(headers.iter().any(|it| it == header), "{headers:?}");
        }
        let version = &message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
        assert_eq!(version, "2026-07-28");
    }
}

#[test]
fn a_rule_that_the_specification_only_implies_decides_the_exit_code_if_the_check_is_strict() {
    let server = wrong_server::start();
    let ignored = ["--ignore", "HSEC-1", "--ignore", "http-10", "--ignore", "PV-4"];
    let checked = |more: &[&str]| {
        let options = ["check", "--timeout", "2", "--revision", "2025-11-25"];
        run(&[&options[..], &ignored, more, &[&server.url]].concat())
    };
    let lenient = checked(&[]);
    assert_eq!(lenient.code, Some(0), "{lenient:?}");
    assert!(lenient.stdout.contains("\nwarnings\n  TOOL-13†  "), "{lenient:?}");
    assert!(lenient.stdout.contains("\nignored: HSEC-1, HTTP-10, PV-4\n"), "{lenient:?}");
    let strict = checked(&["--strict"]);
    assert_eq!(strict.code, Some(6), "{strict:?}");
    assert!(strict.stdout.contains("\nviolations\n  TOOL-13†  "), "{strict:?}");
}

#[test]
fn a_rule_to_ignore_that_does_not_exist_is_a_mistake_of_the_command_line() {
    let checked = run(&["check", "--ignore", "RCP-19", "http://127.0.0.1:1/mcp"]);
    assert_eq!((checked.code, checked.stdout.as_str()), (Some(2), ""), "{checked:?}");
    assert!(checked.stderr.contains("`--ignore RCP-19` names no rule"), "{checked:?}");
    assert!(checked.stderr.contains("did you mean `RPC-19`"), "{checked:?}");
}

#[test]
fn each_broken_rule_is_one_finding_with_the_whole_exchange_and_a_link_and_no_secret() {
    let server = wrong_server::start();
    let options = ["check", "--timeout", "2", "--json", "-H", "Authorization: Bearer s3cr3t"];
    let checked = run(&[&options[..], &[&server.url]].concat());
    assert!(!checked.stdout.contains("s3cr3t"), "{checked:?}");
    let report: Value = serde_json::from_str(&checked.stdout).unwrap();
    let findings = report["findings"].as_array().unwrap();
    let rules: std::collections::BTreeSet<&str> =
        findings.iter().map(|it| it["rule"].as_str().unwrap()).collect();
    assert_eq!(rules.len(), findings.len(), "{report:#}");
    let origin = &finding(&report, "HSEC-1").unwrap()["occurrences"][0];
    assert_eq!(origin["request"]["headers"]["origin"], "https://evil.example", "{origin:#}");
    assert_eq!(origin["request"]["body"]["method"], "ping", "{origin:#}");
    assert_eq!(origin["answer"]["status"], 200, "{origin:#}");
    assert_eq!(origin["answer"]["body"]["result"], json!({}), "{origin:#}");
    let page =
        "https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#streamable-http";
    assert_eq!((&origin["specification"], &origin["cut"]), (&json!(page), &json!(false)));
}
