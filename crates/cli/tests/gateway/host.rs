//! A host that starts the gateway over stdio is its only client.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{BOWLINE, REFUSING_THE_PROBE};
use crate::user::at_home;

#[test]
fn a_server_with_a_handshake_gets_the_roots_of_the_only_client_of_a_gateway() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bowline.json");
    let entry = json!({ "command": "/bin/sh", "args": ["-c", REFUSING_THE_PROBE, BOWLINE] });
    fs::write(&file, json!({ "mcpServers": { "near": entry } }).to_string()).unwrap();
    let mut command = Command::new(BOWLINE);
    at_home(&mut command, folder.path()).args(["gateway", "--stdio"]).arg(&file);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut to_gateway = child.stdin.take().unwrap();
    let client = json!({ "name": "host", "version": "1" });
    let initialize = json!({ "protocolVersion": "2025-11-25", "capabilities": { "roots": {} },
        "clientInfo": client });
    let call = json!({ "name": "near__folders", "arguments": {} });
    for message in [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }),
    ] {
        writeln!(to_gateway, "{message}").unwrap();
    }
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let answer = loop {
        let message: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        if message["method"] == "roots/list" {
            let roots = json!({ "roots": [{ "uri": "file:///tmp/work" }] });
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": roots });
            writeln!(to_gateway, "{answer}").unwrap();
        } else if message["id"] == 2 {
            break message;
        }
    };
    drop(to_gateway);
    child.wait().unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "file:///tmp/work", "{answer}");
}
