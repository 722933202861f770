//! Several gateways with one store serve the same sessions, and those with the same keys go on with
//! each other's calls.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use bowline::{Ask, Server, tool, tools};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::redis_server::RedisServer;
use crate::support::{BOWLINE, Gateway};

/// A gateway to the server of `bowline demo`.
fn config() -> Value {
    json!({ "mcpServers": { "near": { "command": BOWLINE, "args": ["demo", "--stdio"] } } })
}

/// The message in an answer, as JSON or as an event.
fn message(answer: &str) -> Value {
    let begin = answer.find("{\"").unwrap_or_else(|| panic!("no message: {answer}"));
    let mut messages = serde_json::Deserializer::from_str(&answer[begin..]).into_iter();
    messages.next().unwrap().unwrap()
}

/// A session of 2025-11-25.
struct Session(String);

impl Session {
    fn open(gateway: &Gateway) -> Self {
        let client = json!({ "name": "caller", "version": "1.0.0" });
        let params =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
        let initialize =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = gateway.post("", &initialize);
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.to_owned())
        };
        Self(answer.lines().find_map(header).unwrap_or_else(|| panic!("no session: {answer}")))
    }

    fn post(&self, gateway: &Gateway, message: &Value) -> String {
        let headers = format!("Mcp-Session-Id: {}\r\nMCP-Protocol-Version: 2025-11-25\r\n", self.0);
        gateway.post(&headers, message)
    }

    /// Calls `echo`, and checks the answer.
    #[track_caller]
    fn echo(&self, gateway: &Gateway, number: usize) {
        let params = json!({ "name": "near__echo", "arguments": { "message": "hello" } });
        let call =
            json!({ "jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params });
        let answer = self.post(gateway, &call);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{number}: {answer}");
        let message = message(&answer);
        assert_eq!(
            (&message["id"], &message["result"]["content"][0]["text"]),
            (&number.into(), &"hello".into())
        );
    }
}

#[test]
fn two_gateways_with_one_redis_serve_one_session_and_one_may_be_killed() {
    let redis = RedisServer::start();
    let url = redis.url();
    let first = Gateway::with_options(&config(), &["--store", &url]);
    let second = Gateway::with_variable(&config(), ("BOWLINE_STORE_URL", &url));
    let session = Session::open(&first);
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let answer = session.post(&second, &initialized);
    assert!(answer.starts_with("HTTP/1.1 202 "), "{answer}");
    for number in 1..=10 {
        session.echo([&first, &second][number % 2], number);
    }
    first.process().kill();
    drop(first);
    for number in 11..=13 {
        session.echo(&second, number);
    }
    // Without the store the session is unknown.
    let alone = Gateway::of(&config());
    let answer = session.post(&alone, &json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }));
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
}

#[cfg(feature = "sqlite")]
#[test]
fn a_session_in_a_file_survives_the_end_of_its_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", folder.path().join("sessions.db").display());
    let before = Gateway::with_options(&config(), &["--store", &store]);
    let session = Session::open(&before);
    session.echo(&before, 1);
    before.process().kill();
    drop(before);
    session.echo(&Gateway::with_options(&config(), &["--store", &store]), 2);
}

/// One round of a call of `greet_user` (2026-07-28).
fn greet(gateway: &Gateway, round: &Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    let mut params = json!({ "name": "far__greet_user", "arguments": {}, "_meta": meta });
    for (name, value) in round.as_object().unwrap() {
        params[name] = value.clone();
    }
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
                   Mcp-Name: far__greet_user\r\n";
    message(&gateway.post(headers, &call))
}

/// The answer to the question of a round.
fn answered(round: &Value) -> Value {
    let result = &round["result"];
    let questions = result["inputRequests"].as_object().unwrap_or_else(|| panic!("{round}"));
    let key = questions.keys().next().unwrap();
    let answer = json!({ "action": "accept", "content": { "name": "Ada" } });
    json!({ "inputResponses": { key: answer }, "requestState": result["requestState"] })
}

/// Greet the user by name
#[tool]
async fn greet_user(ask: Ask) -> bowline::Result<String> {
    let Name { name } = ask.form("What is your name?").await?;
    Ok(format!("Hello, {name}!"))
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    name: String,
}

/// The server behind the gateways opens its own state, whichever of them passes it on.
#[tokio::test(flavor = "multi_thread")]
async fn gateways_with_the_same_keys_go_on_with_calls_that_asked() {
    let server = Server::new("far", "1.0.0").tools(tools![greet_user]);
    let bound = server.http().listen("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", bound.address().unwrap());
    tokio::spawn(bound.serve_until(std::future::pending()));
    let config = json!({ "mcpServers": { "far": { "url": url } } });
    let folder = tempfile::tempdir().unwrap();
    let keys = folder.path().join("keys");
    fs::write(&keys, "AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE=\n").unwrap();
    fs::set_permissions(&keys, fs::Permissions::from_mode(0o600)).unwrap();
    let options = ["--state-keys", keys.to_str().unwrap()];
    let [first, second] = [(); 2].map(|()| Gateway::with_options(&config, &options));
    let question = greet(&first, &json!({}));
    let greeting = greet(&second, &answered(&question));
    assert_eq!(greeting["result"]["content"][0]["text"], "Hello, Ada!", "{greeting}");
    let refused = greet(&Gateway::of(&config), &answered(&question));
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}
