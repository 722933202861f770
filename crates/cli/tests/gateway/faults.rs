//! Servers that hang, break off, or answer something else.
//!
//! Callers wait longer than these tests, so a call that ends has been ended by the gateway.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use bowline::types::revision::Revision;
use bowline::{Client, client::Error};
use bowline_gateway::UpstreamFailure;
use serde_json::json;
use tokio::task::JoinSet;

use crate::proxy::{FAULTS, Fault, Proxied};
use crate::support::{BOTH, BOWLINE, Gateway};

/// How long callers wait.
const PATIENCE: Duration = Duration::from_secs(60);
/// How long the gateway may take to answer a call that a fault has ended.
const SOON: Duration = Duration::from_secs(2);
/// The time-out of a caller whose call nothing else ends.
const OWN: Duration = Duration::from_secs(1);

/// A client of a gateway, and what it found odd: a second answer to a call, for example.
async fn observed(gateway: &Gateway, revision: Revision) -> (Client, Arc<Mutex<Vec<String>>>) {
    let odd: Arc<Mutex<Vec<String>>> = Arc::default();
    let noted = odd.clone();
    let builder = Client::builder("caller", "1.0.0").revisions([revision]);
    let builder = builder.on_odd(move |text: &str| noted.lock().unwrap().push(text.to_owned()));
    (builder.http(&gateway.url).connect().await.unwrap(), odd)
}

/// What the gateway says about a call that failed.
fn failure(error: &Error) -> UpstreamFailure {
    let error = error.rpc().unwrap_or_else(|| panic!("no error of the gateway: {error}"));
    error.parse_data().unwrap_or_else(|| panic!("it names no server: {error}"))
}

/// Every fault, in every pair of eras: the gateway ends the call, once, and no call runs twice. A call
/// that the server never answers is not ended.
#[tokio::test(flavor = "multi_thread")]
async fn each_call_ends_once_and_none_runs_twice_whatever_a_server_over_http_does() {
    let mut cells = JoinSet::new();
    for caller in BOTH {
        for upstream in BOTH {
            cells.spawn(async move {
                let proxied = Proxied::start(upstream).await;
                let entry = json!({ "url": proxied.url });
                let gateway = Gateway::of(&json!({ "mcpServers": { "far": entry } }));
                let (client, odd) = observed(&gateway, caller).await;
                for fault in FAULTS {
                    let nonce = format!("{fault:?} {caller} {upstream}");
                    let started = Instant::now();
                    let call = client.call("far__run", json!({ "nonce": nonce }));
                    if matches!(fault, Fault::Hang | Fault::WrongId) {
                        let error = call.timeout(OWN).await.unwrap_err();
                        assert!(error.rpc().is_none(), "{nonce}: {error}");
                    } else {
                        let failure = failure(&call.timeout(PATIENCE).await.unwrap_err());
                        assert_eq!(failure.server, "far", "{nonce}");
                        assert!(failure.may_have_run, "{nonce}");
                    }
                    let took = started.elapsed();
                    assert!(took < SOON, "{nonce} took {took:?}");
                    let runs = usize::from(!matches!(fault, Fault::Hang | Fault::ResetBefore));
                    assert_eq!(proxied.runs(&nonce), runs, "{nonce}");
                    let well = client.call("far__run", json!({ "nonce": "well" })).await;
                    assert_eq!(well.unwrap().text(), "well", "after {nonce}");
                    assert_eq!(*odd.lock().unwrap(), [""; 0], "after {nonce}");
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
    -e '/"text":"garbage"/s/.*/]garbage/' \
    -e '/"text":"end"/q'"#;

/// A line that is no answer names no call, so it ends none. The end of the server ends all.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_ends_once_whatever_a_server_over_stdio_does() {
    let entry = json!({ "command": "/bin/sh", "args": ["-c", BREAKING, BOWLINE] });
    let mut clients = JoinSet::new();
    for revision in BOTH {
        let entry = entry.clone();
        clients.spawn(async move {
            let gateway = Gateway::of(&json!({ "mcpServers": { "far": entry } }));
            let (client, odd) = observed(&gateway, revision).await;
            for fault in ["hang", "half", "wrong id", "garbage"] {
                let started = Instant::now();
                let call = client.call("far__echo", json!({ "message": fault }));
                let error = call.timeout(OWN).await.unwrap_err();
                assert!(error.rpc().is_none(), "{fault}: {error}");
                assert!(started.elapsed() < SOON, "{fault} in {revision}");
                let well = client.call("far__echo", json!({ "message": "well" })).await.unwrap();
                assert_eq!(well.text(), "well", "after {fault}");
            }
            let (hanging, ending) = (
                client.call("far__echo", json!({ "message": "hang" })).timeout(PATIENCE),
                client.call("far__echo", json!({ "message": "end" })).timeout(PATIENCE),
            );
            let started = Instant::now();
            let (hanging, ending) = tokio::join!(hanging, ending);
            // `sed` prints the answer that it ends after.
            assert_eq!(ending.unwrap().text(), "end", "{revision}");
            assert!(failure(&hanging.unwrap_err()).may_have_run, "{revision}");
            assert!(started.elapsed() < SOON, "{revision} took {:?}", started.elapsed());
            let well = client.call("far__echo", json!({ "message": "well" })).await.unwrap();
            assert_eq!(well.text(), "well", "in {revision}, after the end of the server");
            assert_eq!(*odd.lock().unwrap(), [""; 0], "{revision}");
        });
    }
    while let Some(ended) = clients.join_next().await {
        ended.unwrap();
    }
}
