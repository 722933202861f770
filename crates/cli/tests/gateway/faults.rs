//! Servers that hang, break off, or answer something else.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use crate::proxy::{FAULTS, Fault, Proxied};
use crate::support::{BOTH, BOWLINE, Gateway};

/// How long callers wait.
const DEADLINE: Duration = Duration::from_secs(2);
/// How much later than that a call may end.
const GRACE: Duration = Duration::from_secs(1);

/// Every fault, in every pair of eras: the call ends in time, with an error, and no call runs
/// twice.
#[tokio::test(flavor = "multi_thread")]
async fn each_call_ends_in_time_and_none_runs_twice_whatever_a_server_over_http_does() {
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
                    let started = Instant::now();
                    let call = client.call("far__run", json!({ "nonce": nonce }));
                    let outcome = call.timeout(DEADLINE).await;
                    let took = started.elapsed();
                    assert!(outcome.is_err(), "{nonce}: {outcome:?}");
                    assert!(took < DEADLINE + GRACE, "{nonce} took {took:?}");
                    let runs = usize::from(!matches!(fault, Fault::Hang | Fault::ResetBefore));
                    assert_eq!(proxied.runs(&nonce), runs, "{nonce}");
                    let well = client.call("far__run", json!({ "nonce": "well" })).await;
                    assert_eq!(well.unwrap().text(), "well", "after {nonce}");
                }
            });
        }
    }
    while let Some(ended) = cells.join_next().await {
        ended.unwrap();
    }
}

/// Breaks answers of a server over stdio that name the fault.
const BREAKING: &str = r#""$0" demo --stdio | sed -u \
    -e '/"text":"hang"/d' \
    -e '/"text":"half"/s/.\{20\}$//' \
    -e '/"text":"wrong id"/s/"id":[0-9]*/"id":999999/' \
    -e '/"text":"garbage"/s/.*/]garbage/'"#;

#[tokio::test(flavor = "multi_thread")]
async fn each_call_ends_in_time_whatever_a_server_over_stdio_does() {
    let entry = json!({ "command": "/bin/sh", "args": ["-c", BREAKING, BOWLINE] });
    let gateway = Gateway::of(&json!({ "mcpServers": { "far": entry } }));
    let mut clients = JoinSet::new();
    for revision in BOTH {
        let client = gateway.client(revision).await;
        clients.spawn(async move {
            for fault in ["hang", "half", "wrong id", "garbage"] {
                let started = Instant::now();
                let call = client.call("far__echo", json!({ "message": fault }));
                let outcome = call.timeout(DEADLINE).await;
                assert!(outcome.is_err(), "{fault}: {outcome:?}");
                let took = started.elapsed();
                assert!(took < DEADLINE + GRACE, "{fault} in {revision} took {took:?}");
                let well = client.call("far__echo", json!({ "message": "well" })).await.unwrap();
                assert_eq!(well.text(), "well", "after {fault}");
            }
        });
    }
    while let Some(ended) = clients.join_next().await {
        ended.unwrap();
    }
}
