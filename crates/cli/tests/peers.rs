//! The era matrix through the bridge: clients and servers of other SDKs, which speak one era or both,
//! on the two sides of `bowline connect`, `serve` and `gateway`.
//!
//! The clients of `tests/peers` run one scenario against the built-in server of `bowline demo`, with
//! the era of the connection behind the bridge fixed. The servers of `tests/peers` are listed and
//! called by our client in both eras, and must look as they do without the bridge.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

const BOWLINE: &str = env!("CARGO_BIN_EXE_bowline");
const BOTH: [&str; 2] = ["2025-11-25", "2026-07-28"];

fn peers() -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/peers");
    let installed = folder.join(".venv/installed").exists();
    assert!(installed, "the peers are not installed: run tests/peers/install.sh");
    folder
}

/// The interpreter and the script of a peer.
fn peer(script: &str) -> [String; 2] {
    let folder = peers();
    let interpreter = match script.ends_with(".py") {
        true => folder.join(".venv/bin/python").display().to_string(),
        false => "node".to_owned(),
    };
    [interpreter, folder.join(script).display().to_string()]
}

/// The revisions that a bridge speaks to its server: one era, or both.
const UPSTREAMS: [&[&str]; 3] = [&["--revision", BOTH[0]], &["--revision", BOTH[1]], &[]];

/// Runs a client of another SDK against a command, and returns its report.
fn report(client: &str, options: &[&str], command: &[&str]) -> Value {
    let [interpreter, script] = peer(client);
    let mut run = Command::new(interpreter);
    run.arg(script).args(options).arg("--").args(command).stdin(Stdio::null());
    let output = run.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{client} {options:?} {command:?}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What every client must have seen, whatever the eras on both sides.
fn check(report: &Value, revision: &str) {
    assert_eq!(report["protocolVersion"], revision);
    assert_eq!(report["oddities"], Value::Array(Vec::new()));
    assert_eq!(report["echo"]["unchanged"], true, "{report}");
    assert_eq!(report["add"]["result"]["structuredContent"]["sum"], 42, "{report}");
    assert_eq!(report["progress"]["increasing"], true, "{report}");
    assert_eq!(report["cancellation"]["aborted"], true, "{report}");
    assert_eq!(report["cancellation"]["echoAfterwards"], "still here", "{report}");
    assert_eq!(report["greetAccepted"]["result"]["text"], "Hello, Ada!", "{report}");
    assert_eq!(report["greetDeclined"]["result"]["isError"], true, "{report}");
}

fn connects(client: &str, options: &[&str], revision: &str) {
    for upstream in UPSTREAMS {
        let command =
            [&[BOWLINE, "connect"], upstream, &["--", BOWLINE, "demo", "--stdio"]].concat();
        check(&report(client, options, &command), revision);
    }
}

#[test]
fn typescript_v1_reaches_servers_of_each_era() {
    connects("ts-v1-client.mjs", &[], BOTH[0]);
}

#[test]
fn typescript_v2_reaches_servers_of_each_era_as_a_modern_client_and_as_one_of_both() {
    connects("ts-v2-client.mjs", &["--era", "modern"], BOTH[1]);
    connects("ts-v2-client.mjs", &["--era", "auto"], BOTH[1]);
}

#[test]
fn python_reaches_servers_of_each_era_as_a_legacy_client_and_as_one_of_both() {
    connects("py_client.py", &["--era", "legacy", "--revision", BOTH[0]], BOTH[0]);
    connects("py_client.py", &["--era", "auto"], BOTH[1]);
}

/// A command that serves over HTTP until it is dropped.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(BOWLINE);
        let mut child = command.args(arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut output = String::new();
        let mut lines = BufReader::new(child.stdout.take().unwrap());
        while !output.ends_with("}\n") {
            assert_ne!(lines.read_line(&mut output).unwrap(), 0, "it ended: {output}");
        }
        let url = output.split('"').nth(3).unwrap().to_owned();
        Self { child, url }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

#[test]
fn clients_of_each_era_share_a_command_behind_serve() {
    for upstream in UPSTREAMS {
        let words = [
            &["serve", "--json", "--http", "127.0.0.1:0"],
            upstream,
            &["--", BOWLINE, "demo", "--stdio"],
        ];
        let serving = Serving::start(&words.concat());
        let command = [BOWLINE, "connect", &serving.url];
        check(&report("ts-v1-client.mjs", &[], &command), BOTH[0]);
        check(&report("ts-v2-client.mjs", &["--era", "modern"], &command), BOTH[1]);
        check(&report("py_client.py", &["--era", "auto"], &command), BOTH[1]);
    }
}

/// The list of tools that our client gets, as JSON.
fn tools(revision: Option<&str>, target: &[&str]) -> Value {
    let mut run = Command::new(BOWLINE);
    run.args(["list", "--json"]).args(revision.map(|it| ["--revision", it]).iter().flatten());
    let output = run.args(target).stdin(Stdio::null()).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{revision:?} {target:?}: {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn names(list: &Value) -> Vec<String> {
    let tools = list["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// A server of another SDK looks the same through each command, to clients of both eras.
fn looks_the_same(script: &str) {
    let [interpreter, script] = peer(script);
    let direct = names(&tools(None, &["--", &interpreter, &script]));
    assert!(!direct.is_empty());
    let serving =
        Serving::start(&["serve", "--json", "--http", "127.0.0.1:0", "--", &interpreter, &script]);
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("bowline.json");
    let entry = serde_json::json!({ "command": interpreter, "args": [script] });
    let text = serde_json::json!({ "mcpServers": { "peer": entry } }).to_string();
    std::fs::write(&config, text).unwrap();
    let prefixed: Vec<String> = direct.iter().map(|name| format!("peer__{name}")).collect();
    for revision in BOTH.map(Some) {
        let connected = ["--", BOWLINE, "connect", "--", &interpreter, &script];
        assert_eq!(names(&tools(revision, &connected)), direct);
        assert_eq!(names(&tools(revision, &[&serving.url])), direct);
        let gateway = ["--", BOWLINE, "gateway", "--stdio", config.to_str().unwrap()];
        assert_eq!(names(&tools(revision, &gateway)), prefixed);
    }
}

#[test]
fn a_server_of_typescript_v1_looks_the_same_through_each_command() {
    looks_the_same("ts-v1-server.mjs");
}

#[test]
fn a_server_of_typescript_v2_looks_the_same_through_each_command() {
    looks_the_same("ts-v2-server.mjs");
}

#[test]
fn a_server_of_python_looks_the_same_through_each_command() {
    looks_the_same("py_server.py");
}

#[test]
fn a_server_of_fastmcp_looks_the_same_through_each_command() {
    looks_the_same("fastmcp_server.py");
}
