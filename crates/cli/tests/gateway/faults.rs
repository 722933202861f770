//! Servers that hang, break off, or answer something else: each call ends once, in time, and its
//! caller hears what is known of it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use bowline_gateway::UpstreamFailure;
use bowline_types::error::code;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::proxy::{FAULTS, Fault, Proxied};
use crate::support::{BOTH, BOWLINE, Gateway, REFUSING_THE_PROBE, eventually};

/// How long callers wait.
const DEADLINE: Duration = Duration::from_secs(2);
/// How much later than that a call may end.
const GRACE: Duration = Duration::from_secs(1);

/// Makes a call that must fail, and returns the error. The caller's deadline holds.
async fn failed(client: &bowline::Client, tool: &str, arguments: Value) -> bowline::client::Error {
    let started = Instant::now();
    let outcome = client.call(tool, &arguments).timeout(DEADLINE).await;
    let took = started.elapsed();
    assert!(took < DEADLINE + GRACE, "{arguments} took {took:?}");
    outcome.expect_err(&arguments.to_string())
}

/// What the gateway's own error says besides its code: which words, and that the call may have run.
fn says(error: &bowline::client::Error, words: &str) {
    let told = error.rpc().unwrap_or_else(|| panic!("{error}"));
    assert_eq!(told.code, code::INTERNAL_ERROR, "{error}");
    assert!(told.message.contains("`far`") && told.message.contains(words), "{error}");
    let failure: UpstreamFailure = told.parse_data().unwrap_or_else(|| panic!("{error}"));
    assert_eq!((failure.server.as_str(), failure.may_have_run), ("far", true), "{error}");
}

/// Every fault, in every pair of eras. A call that hangs is cancelled at the server; each other one
/// ends at once, and the server hears no more of it.
#[tokio::test(flavor = "multi_thread")]
async fn each_call_ends_once_and_in_time_whatever_a_server_over_http_does() {
    let mut cells = JoinSet::new();
    for caller in BOTH {
        for upstream in BOTH {
            cells.spawn(async move {
                let proxied = Proxied::start(upstream).await;
                let entry = json!({ "url": proxied.url });
                let gateway = Gateway::of(&json!({ "mcpServers": { "far": entry } }));
                let client = gateway.client(caller).await;
                for fault in FAULTS {
                    let nonce = format!("{fault:?} {caller} {upstream}");
                    let error = failed(&client, "far__run", json!({ "nonce": nonce })).await;
                    match fault {
                        Fault::Hang => assert!(error.is_timeout(), "{nonce}: {error}"),
                        Fault::WrongId | Fault::Garbage => {
                            says(&error, "gave an answer that cannot be passed on");
                        }
                        Fault::ResetBefore | Fault::ResetAfter | Fault::Half => {
                            says(&error, "was asked, but gave no answer");
                        }
                    }
                    let well = client.call("far__run", json!({ "nonce": "well" })).await;
                    assert_eq!(well.unwrap().text(), "well", "after {nonce}");
                    let runs = usize::from(!matches!(fault, Fault::Hang | Fault::ResetBefore));
                    assert_eq!(proxied.runs(&nonce), runs, "{nonce}");
                    assert_eq!(proxied.calls(&nonce), 1, "{nonce}");
                }
                let hung = format!("{:?} {caller} {upstream}", Fault::Hang);
                eventually("the hanging call is cancelled", || proxied.cancellations(&hung) == 1);
                let told = proxied.requests().into_iter().filter(|it| it.contains("/cancelled"));
                assert_eq!(told.count(), usize::from(upstream == BOTH[0]), "{caller} {upstream}");
            });
        }
    }
    while let Some(ended) = cells.join_next().await {
        ended.unwrap();
    }
}

/// A program that writes what it reads to a file, and breaks the answers that name a fault.
fn breaking(folder: &Path) -> String {
    let script = format!(
        r#"#!/bin/sh
tee -a {folder}/read | {BOWLINE} "$@" | sed -u \
    -e '/"text":"hang"/d' \
    -e '/"text":"half"/s/.\{{20\}}$//' \
    -e '/"text":"wrong id"/s/"id":[0-9]*/"id":999999/' \
    -e '/"text":"garbage"/s/.*/]garbage/'
"#,
        folder = folder.display(),
    );
    let path = folder.join("breaking");
    fs::write(&path, script).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

/// How often each call with a message was cancelled, by what the program read.
fn cancellations(read: &Path, text: &str) -> Vec<usize> {
    let read = fs::read_to_string(read).unwrap();
    // The last line may be incomplete.
    let messages = read.lines().filter_map(|line| serde_json::from_str(line).ok());
    let messages: Vec<Value> = messages.collect();
    let calls = messages.iter().filter(|it| it["params"]["arguments"]["message"] == text);
    let about = |id: &Value| {
        let cancels = |it: &&Value| it["method"] == "notifications/cancelled";
        messages.iter().filter(cancels).filter(|it| it["params"]["requestId"] == *id).count()
    };
    calls.map(|call| about(&call["id"])).collect()
}

/// A line of stdio that cannot be read names no call, so the call waits for its answer.
#[tokio::test(flavor = "multi_thread")]
async fn each_call_ends_once_and_in_time_whatever_a_server_over_stdio_does() {
    const FAULTS: [&str; 4] = ["hang", "half", "wrong id", "garbage"];
    let mut cells = JoinSet::new();
    for upstream in BOTH {
        let folder = tempfile::tempdir().unwrap();
        let program = breaking(folder.path());
        let entry = match upstream == BOTH[0] {
            true => json!({ "command": "/bin/sh", "args": ["-c", REFUSING_THE_PROBE, program] }),
            false => json!({ "command": program, "args": ["demo", "--stdio"] }),
        };
        cells.spawn(async move {
            let gateway = Gateway::of(&json!({ "mcpServers": { "far": entry } }));
            for caller in BOTH {
                let client = gateway.client(caller).await;
                for fault in FAULTS {
                    let message = json!({ "message": fault });
                    let error = failed(&client, "far__echo", message).await;
                    assert!(error.is_timeout(), "{fault} {caller} {upstream}: {error}");
                    let well = client.call("far__echo", json!({ "message": "well" })).await;
                    assert_eq!(well.unwrap().text(), "well", "after {fault}");
                }
            }
            let read = folder.path().join("read");
            for fault in FAULTS {
                let once_each = || cancellations(&read, fault) == [1; BOTH.len()];
                eventually(&format!("each call of {fault} is cancelled once"), once_each);
            }
        });
    }
    while let Some(ended) = cells.join_next().await {
        ended.unwrap();
    }
}
