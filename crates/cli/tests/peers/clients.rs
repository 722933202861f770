//! Clients of other SDKs run one scenario against the built-in server of `bowline demo`, with the
//! era of the connection behind the bridge fixed.

use std::process::Stdio;

use serde_json::Value;

use crate::{BOTH, BOWLINE, Serving, at_home, peer};

/// The revisions that a bridge speaks to its server: one era, or both.
const UPSTREAMS: [&[&str]; 3] = [&["--revision", BOTH[0]], &["--revision", BOTH[1]], &[]];

/// Runs a client of another SDK against a command, and returns its report.
fn report(client: &str, options: &[&str], command: &[&str]) -> Value {
    let [interpreter, script] = peer(client);
    let mut run = at_home(&interpreter);
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
