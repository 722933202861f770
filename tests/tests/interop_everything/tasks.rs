//! Clients of other SDKs call the tools of the everything-server that run as tasks, in both forms:
//! that of 2025-11-25, and the extension of 2026-07-28.
//!
//! The official SDK for TypeScript 1.x has the first form. For 2.x there is a package of its own,
//! `ext-tasks`, with both. The Python SDK refuses tasks of 2025-11-25, and has none of 2026-07-28,
//! but its extensions can add them. FastMCP has none of either.

use std::time::Duration;

use bowline::{Ask, Server, tool, tools};
use bowline_tests::serving::Serving;
use bowline_types::revision::Revision;
use serde_json::{Value, json};

use crate::{Over, Peer};

const TYPESCRIPT_V1: Peer = Peer {
    name: "@modelcontextprotocol/sdk",
    program: ["node", "tasks/ts-v1.mjs"],
    options: &[],
    speaks: Revision::has_core_tasks,
};

const TYPESCRIPT_V2: Peer = Peer {
    name: "@modelcontextprotocol/client",
    program: ["node", "tasks/ts-v2.mjs"],
    options: &[],
    speaks: has_tasks,
};

const PYTHON: Peer = Peer {
    name: "mcp",
    program: ["python", "tasks/run.py"],
    options: &[],
    speaks: Revision::has_extensions,
};

fn has_tasks(revision: Revision) -> bool {
    revision.has_core_tasks() || revision.has_extensions()
}

impl Peer {
    /// Runs the tools in each revision for which the peer has tasks.
    fn runs_tasks(&self) {
        for over in [Over::Stdio, Over::Http] {
            for revision in Revision::ALL.into_iter().filter(|revision| (self.speaks)(*revision)) {
                self.runs_tasks_in(revision, over);
            }
        }
    }

    fn runs_tasks_in(&self, revision: Revision, over: Over) {
        let scene = format!("tasks of {} in {revision} over {over:?}", self.name);
        let serving = Serving::start(bowline_conformance::server().http());
        let report = match over {
            Over::Stdio => {
                let server = ["--", env!("CARGO_BIN_EXE_everything"), "stdio"];
                self.report(revision, &server, &scene)
            }
            _ => self.report(revision, &["--url", serving.url()], &scene),
        };
        assert_eq!(report["peer"], self.name);
        assert_eq!(report["protocolVersion"], revision.as_str());
        check(&report, revision, &scene);
        check_failures(&report, revision, &scene);
        let lists = revision.has_core_tasks() && over == Over::Stdio;
        let all = json!(["cancelled", "completed", "completed", "failed", "failed"]);
        assert_eq!(report["listed"], if lists { all } else { Value::Null }, "{scene}");
    }
}

fn check(report: &Value, revision: Revision, scene: &str) {
    let done = |text: &str| json!({ "text": text, "isError": false });
    let compute = &report["compute"];
    assert_eq!(compute["states"], json!(["working", "completed"]), "{scene}");
    assert_eq!(compute["end"], done("knots: done after 1 s"), "{scene}");
    let question = &report["question"];
    assert_eq!(question["end"], done("Deleted old.txt"), "{scene}");
    let states = question["states"].as_array().unwrap();
    assert_eq!(states[..2], ["working", "input_required"], "{scene}");
    // On 2025-11-25 the client may wait for the result from then on.
    let last = states.last().unwrap();
    assert!(revision.has_core_tasks() || last == "completed", "{scene}: {states:?}");
    assert_eq!(report["cancelled"], json!(["working", "cancelled"]), "{scene}");
}

/// A tool's own error is a failure of the task on 2025-11-25, and a result on 2026-07-28. Neither
/// TypeScript SDK fetches the result of a task that failed on 2025-11-25, so they do not have its
/// text, and 2.x not even its code.
fn check_failures(report: &Value, revision: Revision, scene: &str) {
    let (tool, protocol) = (&report["toolError"], &report["protocolError"]);
    assert_eq!(protocol["states"], json!(["working", "failed"]), "{scene}");
    if revision.has_core_tasks() {
        assert_eq!(tool["states"], json!(["working", "failed"]), "{scene}");
        assert!(tool["end"].get("code").is_some(), "{scene}: {tool}");
        return;
    }
    assert_eq!(protocol["end"], json!({ "code": -32603 }), "{scene}");
    assert_eq!(tool["states"], json!(["working", "completed"]), "{scene}");
    assert_eq!(tool["end"], json!({ "text": "the job failed", "isError": true }), "{scene}");
}

// spec: TASK-34, TASK-35, TASK-48, TASK-57, TASK-65
#[test]
fn typescript_v1_runs_tasks() {
    TYPESCRIPT_V1.runs_tasks();
}

// spec: TASK-34, TASK-48, TASK-57, XTASK-22, XTASK-30, XTASK-45
#[test]
fn typescript_v2_runs_tasks_of_both_forms() {
    TYPESCRIPT_V2.runs_tasks();
}

// spec: XTASK-22, XTASK-30, XTASK-45
#[test]
fn python_runs_tasks_of_the_extension() {
    PYTHON.runs_tasks();
}

/// Ask something that can wait
#[tool]
async fn release(ask: Ask) -> bowline::Result<bool> {
    Ok(ask.as_task(Duration::from_secs(60)).confirm("Release?").await?)
}

/// Ask something, and give up soon
#[tool]
async fn hurry(ask: Ask) -> &'static str {
    let asking = ask.as_task(Duration::from_secs(60)).confirm("In a hurry?");
    match tokio::time::timeout(Duration::from_secs(1), asking).await {
        Ok(_) => "answered",
        Err(_) => "gave up",
    }
}

/// Runs the questions of a server as tasks of a client of another SDK.
fn answers_questions_as_tasks(name: &str, script: &'static str) {
    let peer = Peer {
        name: "asked",
        program: ["node", script],
        options: &[],
        speaks: Revision::has_core_tasks,
    };
    let serving = Serving::start(Server::new("asks", "1.0.0").tools(tools![release, hurry]).http());
    let revision = Revision::V2025_11_25;
    let report = peer.report(revision, &["--url", serving.url()], name);
    let said = |text: &str| json!({ "text": text, "isError": false });
    let asked = |message: &str| json!({ "message": message, "ttl": 60_000 });
    let expected = json!({
        "peer": name,
        "release": said("true"),
        "hurry": said("gave up"),
        "asked": [asked("Release?"), asked("In a hurry?")],
    });
    assert_eq!(report, expected);
}

// spec: TASK-2, TASK-34, TASK-49, TASK-56
#[test]
fn typescript_v1_answers_questions_as_tasks() {
    answers_questions_as_tasks("@modelcontextprotocol/sdk", "tasks/asked-ts-v1.mjs");
}

// spec: TASK-2, TASK-34, TASK-49, TASK-56
#[test]
fn typescript_v2_answers_questions_as_tasks() {
    answers_questions_as_tasks("@modelcontextprotocol/client", "tasks/asked-ts-v2.mjs");
}
