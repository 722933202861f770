//! Clients of other SDKs call our `echo` server over stdio, in every revision they speak.
//!
//! The peers (`tests/peers`) run one fixed scenario and print a report; the tests here say what it
//! must have.

use std::process::{Command, Stdio};

use bowline_tests::peers;
use serde_json::{Value, json};

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// Runs a peer against `echo stdio` and returns its report.
fn report(peer: &[&str], options: &[&str]) -> Value {
    let (program, script) = peers::program(peer);
    let output = Command::new(program)
        .arg(script)
        .args(options)
        .args(["--", env!("CARGO_BIN_EXE_echo"), "stdio"])
        .stdin(Stdio::null())
        .output()
        .expect("the peer starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{peer:?} {options:?} failed: {stderr}");
    serde_json::from_slice(&output.stdout).expect("the peer prints one JSON object")
}

/// Checks what every client must have seen, whatever its SDK and era.
fn check(report: &Value, revision: &str) {
    assert_eq!(report["protocolVersion"], revision);
    assert_eq!(report["oddities"], json!([]));
    assert_eq!(report["serverInfo"]["name"], "echo");
    let tools = report["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["echo", "add", "sleep", "greet"]);
    assert!(tools.iter().all(|tool| tool["inputSchema"] == "valid"), "{tools:?}");
    assert_eq!(report["echo"]["unchanged"], true);
    assert_eq!(report["add"]["result"]["text"], r#"{"sum":42}"#);
    let wrong = &report["addWrongTypes"]["result"];
    assert_eq!(wrong["isError"], true);
    assert!(
        wrong["text"].as_str().unwrap().contains("`arguments.a`: expected an integer"),
        "{wrong}"
    );
    assert_eq!(report["unknownTool"]["error"]["code"], -32602);
    check_progress_and_cancellation(report);
    assert_eq!(report["exit"]["code"], 0, "the server exits when its input ends");
}

fn check_progress_and_cancellation(report: &Value) {
    let progress = &report["progress"];
    assert_eq!(progress["text"], "slept 0.5 s");
    assert_eq!(progress["increasing"], true);
    // The last report and the answer are sent together; some SDKs drop what comes with an answer.
    let seen = progress["values"].as_array().unwrap().len();
    assert!((4..=5).contains(&seen), "{progress}");
    let cancellation = &report["cancellation"];
    assert_eq!(cancellation["aborted"], true);
    assert_eq!(cancellation["echoAfterwards"], "still here");
    assert!(cancellation["milliseconds"].as_u64().unwrap() < 5_000, "{cancellation}");
}

fn check_greeting(report: &Value) {
    assert_eq!(report["greetAccepted"]["result"]["text"], "Hello, Ada!");
    assert_eq!(report["greetAccepted"]["questions"][0]["message"], "What is your name?");
    assert_eq!(report["greetDeclined"]["result"]["isError"], true);
}

fn check_structure(report: &Value, has_structure: bool) {
    let expected = if has_structure { json!({ "sum": 42 }) } else { Value::Null };
    assert_eq!(report["add"]["result"]["structuredContent"], expected);
}

/// Elicitation and structured output came with 2025-06-18.
fn is_rich(revision: &str) -> bool {
    !matches!(revision, "2024-11-05" | "2025-03-26")
}

// spec: LIFE-9, PING-1, TOOL-31, ELIC-29
#[test]
fn typescript_v1_calls_everything_in_every_handshake_revision() {
    for revision in LEGACY {
        let report = report(&["node", "ts-v1-client.mjs"], &["--revision", revision]);
        check(&report, revision);
        check_structure(&report, is_rich(revision));
        assert_eq!(report["ping"], true);
        if is_rich(revision) {
            check_greeting(&report);
        } else {
            let refusal = &report["greetAccepted"]["result"];
            assert_eq!(refusal["isError"], true, "{revision} has no questions: {refusal}");
        }
    }
}

// spec: ERA-2
#[test]
fn typescript_v2_calls_everything_in_both_eras() {
    check_both_eras(&["node", "ts-v2-client.mjs"]);
}

// spec: ERA-2
#[test]
fn python_calls_everything_in_both_eras() {
    check_both_eras(&["python", "py_client.py"]);
}

/// Checks a client in every legacy revision, as a modern one, and with its own choice of the era.
fn check_both_eras(peer: &[&str]) {
    for revision in LEGACY {
        let report = report(peer, &["--era", "legacy", "--revision", revision]);
        check(&report, revision);
        check_structure(&report, is_rich(revision));
        if is_rich(revision) {
            check_greeting(&report);
        }
    }
    for era in ["modern", "auto"] {
        let report = report(peer, &["--era", era]);
        check(&report, "2026-07-28");
        check_structure(&report, true);
        check_greeting(&report);
    }
}
