//! The export by OTLP: a receiver in Python decodes it with the official messages, and knows the
//! official names.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::*;

/// The metrics that the conventions have no name for. That of stores has no values without a store.
const OWN_METRICS: [&str; 3] = ["bowline.refused", "bowline.sessions", "bowline.streams"];

/// A receiver that prints what it gets.
struct Receiver {
    child: Child,
    lines: BufReader<std::process::ChildStdout>,
    endpoint: String,
}

impl Receiver {
    fn start() -> Self {
        let [python, script] = peer("otlp_receiver.py");
        let mut command = Command::new(python);
        command.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        let mut port = String::new();
        lines.read_line(&mut port).unwrap();
        Self { child, lines, endpoint: format!("http://127.0.0.1:{}", port.trim()) }
    }

    /// Everything that it got.
    fn received(mut self) -> Vec<Value> {
        drop(self.child.stdin.take());
        let lines = (&mut self.lines).lines().map(Result::unwrap);
        let received = lines.map(|line| serde_json::from_str(&line).unwrap()).collect();
        self.child.wait().unwrap();
        received
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn traces_and_metrics_reach_a_receiver_under_official_names() {
    let receiver = Receiver::start();
    let server = peer("ts-v1-server.mjs");
    let mut command = Command::new(BOWLINE);
    command.args(["serve", "--json", "--http", "127.0.0.1:0", "--"]).args(&server);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.endpoint);
    let serving = Serving::spawn(&mut command);
    let list = Command::new(BOWLINE).args(["list", &serving.url]).output().unwrap();
    assert!(list.status.success(), "{list:?}");
    serving.terminate();
    let received = receiver.received();
    let unknown = received.iter().filter_map(|it| it["unknown"].as_str());
    let unknown: BTreeSet<_> = unknown.collect();
    assert_eq!(unknown, OWN_METRICS.into(), "names that the conventions lack");
    let kinds_of = |name: &str| -> BTreeSet<i64> {
        received
            .iter()
            .filter(|it| it["span"] == name)
            .filter_map(|it| it["kind"].as_i64())
            .collect()
    };
    // 2 is SERVER, 3 is CLIENT.
    assert_eq!(kinds_of("tools/list"), [2, 3].into(), "{received:?}");
    let of_kind = |kind: i64| {
        received.iter().find(|it| it["span"] == "tools/list" && it["kind"] == kind).unwrap()
    };
    assert_eq!(of_kind(3)["parent"], of_kind(2)["id"], "the call behind is a child");
    assert_eq!(of_kind(2)["service"], "bowline");
    for metric in ["mcp.server.operation.duration", "mcp.client.operation.duration"] {
        let row = received.iter().find(|it| it["metric"] == metric).expect(metric);
        assert_eq!(
            (row["unit"].as_str(), row["bounds"].as_array().map(Vec::len)),
            (Some("s"), Some(14))
        );
    }
}

/// A request, and the span that it leaves: the name, the attribute with the subject, the subject, and
/// the error.
type TracedRequest =
    (&'static [&'static str], &'static str, &'static str, &'static str, Option<&'static str>);

/// The requests of each revision.
const REQUESTS: [TracedRequest; 4] = [
    (&["call", "echo", "message=hi"], "tools/call echo", "gen_ai.tool.name", "echo", None),
    (&["call", "fail"], "tools/call fail", "gen_ai.tool.name", "fail", Some("tool_error")),
    (
        &["prompt", "review", "language=Rust"],
        "prompts/get review",
        "gen_ai.prompt.name",
        "review",
        None,
    ),
    (&["read", "demo://clock"], "resources/read", "mcp.resource.uri", "demo://clock", None),
];

#[test]
fn calls_prompts_reads_and_failures_of_both_eras_reach_a_receiver() {
    let receiver = Receiver::start();
    let mut command = at_home(BOWLINE);
    command.args(["serve", "--json", "--http", "127.0.0.1:0", "--", BOWLINE, "demo", "--stdio"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &receiver.endpoint);
    let serving = Serving::spawn(&mut command);
    for revision in BOTH {
        for (words, .., error) in REQUESTS {
            let [name, rest @ ..] = words else { panic!("a request has a command") };
            let mut request = at_home(BOWLINE);
            request.args([name, "--revision", revision, &serving.url]).args(rest);
            let output = request.output().unwrap();
            assert_eq!(output.status.code(), Some(error.map_or(0, |_| 1)), "{output:?}");
        }
    }
    serving.terminate();
    let received = receiver.received();
    let unknown: BTreeSet<_> = received.iter().filter_map(|it| it["unknown"].as_str()).collect();
    let strange: Vec<_> = unknown.iter().filter(|name| !OWN_METRICS.contains(name)).collect();
    assert!(strange.is_empty(), "names that the conventions lack: {strange:?}");
    for revision in BOTH {
        for (_, span, attribute, subject, error) in REQUESTS {
            // 2 is SERVER.
            let found = received.iter().find(|it| {
                let attributes = &it["attributes"];
                it["span"] == span
                    && it["kind"] == 2
                    && attributes["mcp.protocol.version"] == revision
            });
            let found = found.unwrap_or_else(|| panic!("{span} of {revision}: {received:#?}"));
            let attributes = &found["attributes"];
            assert_eq!(attributes[attribute], subject, "{found}");
            assert_eq!(attributes["error.type"].as_str(), error, "{found}");
            let behind = received.iter().find(|it| it["parent"] == found["id"]);
            let behind = behind.unwrap_or_else(|| panic!("no call behind {found}"));
            assert_eq!((&behind["span"], &behind["kind"]), (&found["span"], &3.into()));
            assert_eq!(behind["attributes"]["error.type"].as_str(), error, "{behind}");
        }
    }
}
