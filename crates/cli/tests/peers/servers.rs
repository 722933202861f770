//! Servers of other SDKs are listed by our client in both eras, and must look as they do without
//! the bridge.

use std::process::Stdio;

use serde_json::Value;

use crate::{BOTH, BOWLINE, Serving, at_home, peer};

/// The list of tools that our client gets, as JSON.
fn tools(revision: Option<&str>, target: &[&str]) -> Value {
    let mut run = at_home(BOWLINE);
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
