//! `--admin`, `--log json` and the export by OTLP of the commands that serve.

use std::io::Read as _;
use std::net::TcpStream;

use serde_json::{Value, json};

use super::redis_server::RedisServer;
use super::serving::Serving;
use super::*;

/// Status and body of a page of the admin listener.
fn page(serving: &Serving, path: &str) -> (u16, String) {
    let address = serving.admin.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer.split_once("\r\n\r\n").unwrap().1.to_owned())
}

fn serve(options: &[&str]) -> Command {
    let mut command = bowline();
    command.args(["serve", "--json", "--http", "127.0.0.1:0"]).args(options);
    command.arg("--").arg(exhibit());
    command
}

#[test]
fn metrics_and_health_are_served_on_request() {
    let observed = Serving::start(&mut serve(&["--admin", "127.0.0.1:0"]));
    assert_eq!(page(&observed, "/livez"), (200, "ok\n".to_owned()));
    assert_eq!(page(&observed, "/readyz"), (200, "ok\n".to_owned()));
    let called = run(&["call", &observed.url, "echo", "message=canary4711"]);
    assert_eq!(called.code, Some(0), "{}", called.stderr);
    let (status, metrics) = page(&observed, "/metrics");
    assert_eq!(status, 200);
    for side in ["server", "client"] {
        let row = |line: &&str| {
            line.starts_with(&format!("mcp_{side}_operation_duration_seconds_count{{"))
                && line.contains("gen_ai_tool_name=\"echo\"")
                && line.contains("mcp_method_name=\"tools/call\"")
                && line.ends_with(" 1")
        };
        assert!(metrics.lines().any(|line| row(&line)), "{metrics}");
    }
    for gauge in ["bowline_sessions", "bowline_streams", "bowline_refused_total"] {
        let row = format!("{gauge}{{otel_scope_name=\"bowline\"");
        assert!(metrics.lines().any(|line| line.starts_with(&row)), "{gauge}: {metrics}");
    }
    assert!(!metrics.contains("canary4711"), "{metrics}");
    observed.stop();
}

#[test]
fn operations_of_the_store_are_measured() {
    let redis = RedisServer::start_with(&["--save", ""]);
    let options = ["--admin", "127.0.0.1:0", "--store", &redis.url()];
    let observed = Serving::start(&mut serve(&options));
    let called = run(&["call", &observed.url, "--revision", "2025-11-25", "echo", "message=hi"]);
    assert_eq!(called.code, Some(0), "{}", called.stderr);
    let (_, metrics) = page(&observed, "/metrics");
    let row = |line: &&str| {
        line.starts_with("bowline_store_operation_duration_seconds_count{")
            && line.contains("bowline_store_operation=\"renew\"")
    };
    assert!(metrics.lines().any(|line| row(&line)), "{metrics}");
    observed.stop();
}

#[test]
fn the_admin_listener_is_for_this_machine_only() {
    let refused: Run = serve(&["--admin", "0.0.0.0:0"]).output().unwrap().into();
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert!(refused.stderr.contains("other machines"), "{}", refused.stderr);
}

#[test]
fn a_line_of_the_log_has_the_ids_of_the_trace() {
    let observed = Serving::start(&mut serve(&["--log", "json"]));
    assert_eq!(observed.admin, "", "no listener without --admin");
    let called = run(&["call", &observed.url, "echo", "message=canary4711"]);
    assert_eq!(called.code, Some(0), "{}", called.stderr);
    let log = observed.stop();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let line = lines.into_iter().find(|line| line["method"] == "tools/call").expect(&log);
    assert_eq!((&line["name"], &line["outcome"]), (&"echo".into(), &"completed".into()));
    assert_eq!(line["trace_id"].as_str().map(str::len), Some(32), "{line}");
    assert_eq!(line["span_id"].as_str().map(str::len), Some(16), "{line}");
    assert!(!log.contains("canary4711"), "{log}");
}

/// The log tells which server was used, by which client, and how it ended; arguments stay out of it.
// spec: LOCAL-8
#[test]
fn a_gateway_logs_each_use_of_each_server() {
    let folder = tempfile::tempdir().unwrap();
    let entry = json!({ "command": bowline_path(), "args": ["demo", "--stdio"] });
    let config = json!({ "mcpServers": { "one": entry, "two": entry } });
    fs::write(folder.path().join("bowline.json"), config.to_string()).unwrap();
    let gateway = ["gateway", "bowline.json", "--json", "--http", "127.0.0.1:0", "--log", "json"];
    let observed = Serving::start_in(folder.path(), &gateway);
    for revision in BOTH {
        let revision = ["--revision", revision];
        let words = ["call", &observed.url, "one__echo", "message=canary4711"];
        assert_eq!(run(&[&words[..], &revision].concat()).code, Some(0));
        let words = ["call", &observed.url, "two__fail"];
        assert_eq!(run(&[&words[..], &revision].concat()).code, Some(1));
    }
    let log = observed.stop();
    let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let calls = lines.filter(|line| line["method"] == "tools/call");
    let keys = ["name", "client", "revision", "outcome"];
    let calls: Vec<Value> =
        calls.map(|line| keys.iter().map(|key| line[key].clone()).collect()).collect();
    let expected = BOTH.map(|revision| {
        [
            json!(["one__echo", "bowline", revision, "completed"]),
            json!(["two__fail", "bowline", revision, "tool_error"]),
        ]
    });
    assert_eq!(calls, expected.concat(), "{log}");
    assert!(!log.contains("canary4711"), "{log}");
}
