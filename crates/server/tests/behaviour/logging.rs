//! Log messages: which clients get them, from which level on, and how many.

use std::time::Duration;

use bowline_proto::limits::Limits;
use bowline_server::{Log, Server, Tool};
use bowline_types::deprecated::logging::LoggingLevel;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use crate::peer::{BOTH, Peer};
use crate::wire::{Wire, call, modern, request};

/// Says something on every level.
fn chatty() -> Tool {
    Tool::new("chat", |log: Log| async move {
        for level in LoggingLevel::ALL {
            log.data(level, level.as_str());
        }
    })
}

fn server() -> Server {
    Server::new("chatty", "1").tool(chatty())
}

/// What a call says before its answer.
async fn levels(wire: &mut Wire, call: Value) -> Vec<String> {
    let mut said = wire.ask(call).await;
    let mut levels = Vec::new();
    while said["method"] == "notifications/message" {
        levels.push(said["params"]["level"].as_str().unwrap().to_owned());
        said = wire.hear().await;
    }
    assert!(said["result"].is_object(), "{said}");
    levels
}

fn names(from: LoggingLevel) -> Vec<&'static str> {
    LoggingLevel::ALL.iter().filter(|level| from <= **level).map(|level| level.as_str()).collect()
}

// spec: LOG-1, LOG-4
#[tokio::test]
async fn a_session_hears_what_is_informative_until_it_sets_a_level() {
    let mut wire = Wire::to(&server());
    let answer = wire.initialize(json!({})).await;
    assert_eq!(answer["result"]["capabilities"]["logging"], json!({}));
    assert_eq!(levels(&mut wire, call(2, "chat")).await, names(LoggingLevel::Info));
    let mut wire = Wire::to(&server().log_level(LoggingLevel::Alert));
    wire.initialize(json!({})).await;
    assert_eq!(levels(&mut wire, call(2, "chat")).await, ["alert", "emergency"]);
}

// spec: LOG-2, LOG-3
#[tokio::test]
async fn a_session_hears_from_the_level_on_that_it_sets() {
    let mut wire = Wire::to(&server());
    wire.initialize(json!({})).await;
    for level in LoggingLevel::ALL {
        let set = request(2, "logging/setLevel", &json!({ "level": level }));
        assert_eq!(wire.ask(set).await["result"], json!({}));
        assert_eq!(levels(&mut wire, call(3, "chat")).await, names(level));
    }
}

// spec: LOG-3
#[tokio::test]
async fn a_level_belongs_to_its_session() {
    let server = server();
    let (mut quiet, mut other) = (Wire::to(&server), Wire::to(&server));
    quiet.initialize(json!({})).await;
    other.initialize(json!({})).await;
    quiet.ask(request(2, "logging/setLevel", &json!({ "level": "emergency" }))).await;
    assert_eq!(levels(&mut quiet, call(3, "chat")).await, ["emergency"]);
    assert_eq!(levels(&mut other, call(3, "chat")).await, names(LoggingLevel::Info));
}

fn with_level(id: u64, level: &Value) -> Value {
    let mut call = modern(id, "tools/call", json!({ "name": "chat" }));
    call["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = level.clone();
    call
}

// spec: LOG-18, LOG-19
#[tokio::test]
async fn a_modern_request_hears_what_it_asks_for_and_nothing_otherwise() {
    let mut wire = Wire::to(&server());
    let silent = modern(1, "tools/call", json!({ "name": "chat" }));
    assert!(levels(&mut wire, silent.clone()).await.is_empty());
    for level in LoggingLevel::ALL {
        assert_eq!(levels(&mut wire, with_level(2, &json!(level))).await, names(level));
    }
    assert!(levels(&mut wire, silent).await.is_empty());
}

// spec: LOG-18
#[tokio::test]
async fn what_a_modern_request_does_not_want_to_hear_is_not_even_written() {
    let peer = Peer::new(&server(), Revision::LATEST);
    peer.call("chat", json!({})).await.unwrap();
    assert!(peer.inbox.logs().is_empty());
}

// spec: LOG-20
#[tokio::test]
async fn log_messages_belong_to_their_request_and_to_no_subscription() {
    let mut wire = Wire::to(&server());
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    let acknowledged = wire.ask(modern(1, "subscriptions/listen", listen)).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    let mut said = wire.ask(with_level(2, &json!("alert"))).await;
    for level in ["alert", "emergency"] {
        assert_eq!(said["params"]["level"], level);
        assert_eq!(said["params"].get("_meta"), None);
        said = wire.hear().await;
    }
    assert_eq!(said["id"], 2);
}

// spec: LOG-5
#[tokio::test]
async fn an_unknown_level_is_an_invalid_parameter() {
    let mut wire = Wire::to(&server());
    let error = wire.ask(with_level(1, &json!("loud"))).await;
    assert_eq!(error["error"]["code"], -32602);
    wire.initialize(json!({})).await;
    for level in [json!("loud"), json!(3), Value::Null] {
        let error = wire.ask(request(2, "logging/setLevel", &json!({ "level": level }))).await;
        assert_eq!(error["error"]["code"], -32602, "{error}");
    }
    assert_eq!(levels(&mut wire, call(3, "chat")).await, names(LoggingLevel::Info));
}

// spec: LOG-1, ERR-3
#[tokio::test]
async fn who_was_not_told_that_there_are_log_messages_hears_none() {
    let server = Server::new("quiet", "1").tool(Tool::new("it", || async {}));
    let mut wire = Wire::to(&server);
    wire.initialize(json!({})).await;
    let error = wire.ask(request(2, "logging/setLevel", &json!({ "level": "info" }))).await;
    assert_eq!(error["error"]["code"], -32601);
    server.registry().insert(chatty()).unwrap();
    assert_eq!(wire.hear().await["method"], "notifications/tools/list_changed");
    assert!(levels(&mut wire, call(3, "chat")).await.is_empty());
}

// spec: LOG-1
#[tokio::test]
async fn logging_can_be_declared_for_handlers_to_come() {
    let server = Server::new("quiet", "1").tool(Tool::new("it", || async {})).logging();
    let mut wire = Wire::to(&server.clone().title("a fork says the same"));
    let answer = wire.initialize(json!({})).await;
    assert_eq!(answer["result"]["capabilities"]["logging"], json!({}));
    let mut wire = Wire::to(&server);
    wire.initialize(json!({})).await;
    wire.ask(request(2, "ping", &json!({}))).await;
    server.registry().insert(chatty()).unwrap();
    assert_eq!(wire.hear().await["method"], "notifications/tools/list_changed");
    assert_eq!(levels(&mut wire, call(3, "chat")).await, names(LoggingLevel::Info));
}

// spec: LOG-7
#[tokio::test(start_paused = true)]
async fn a_call_says_so_much_per_minute() {
    let flood = |log: Log| async move {
        for second in 0..60 {
            (0..1000).for_each(|number| log.info(format_args!("{second} {number}")));
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    };
    let mut limits = Limits::default();
    limits.logs_per_minute = 6;
    let server = Server::new("flood", "1").tool(Tool::new("flood", flood)).limits(limits);
    let mut wire = Wire::to(&server);
    wire.initialize(json!({})).await;
    // As many at once as fit into a minute, and then one every ten seconds.
    assert_eq!(levels(&mut wire, call(2, "flood")).await.len(), 6 + 5);
    // The next call begins anew.
    assert_eq!(levels(&mut wire, call(3, "flood")).await.len(), 6 + 5);
}

// spec: LOG-8, LOG-10, LOG-12, LOG-15
#[tokio::test]
async fn secrets_are_blacked_out() {
    let leak = |log: Log| async move {
        log.data(LoggingLevel::Error, &json!({ "user": "ann", "db": { "password": "hunter2" } }));
        log.data(LoggingLevel::Error, &json!({ "apiKey": ["k-1"], "tokens": 7 }));
    };
    let server = Server::new("leak", "1").tool(Tool::new("leak", leak));
    for revision in BOTH {
        let mut peer = Peer::new(&server, revision);
        peer.log_level = Some(LoggingLevel::Debug);
        peer.call("leak", json!({})).await.unwrap();
        let said: Vec<_> = peer.inbox.logs().into_iter().map(|log| log.data.to_string()).collect();
        let expected = [
            r#"{"db":{"password":"[redacted]"},"user":"ann"}"#,
            r#"{"apiKey":"[redacted]","tokens":7}"#,
        ];
        assert_eq!(said, expected);
    }
}

// spec: LOG-6, LOG-14, ERR-5
#[tokio::test]
async fn what_a_panic_says_is_neither_logged_nor_answered() {
    async fn burst(log: Log) {
        log.info("fine so far");
        panic!("at 10.0.0.7, key k-1");
    }
    let server = Server::new("burst", "1").tool(Tool::new("burst", burst));
    let mut wire = Wire::to(&server);
    wire.initialize(json!({})).await;
    let said = wire.ask(call(2, "burst")).await;
    assert_eq!(said["params"]["data"], "fine so far");
    let answer = wire.hear().await;
    assert_eq!(answer["error"]["code"], -32603);
    assert!(!answer.to_string().contains("k-1"), "{answer}");
}
